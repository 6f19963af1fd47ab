"""Whether a URL has the path and the arguments of a template: the contexts of rules."""

from __future__ import annotations

from dedupcrawl.urls.template import PathForm, Piece, Template
from dedupcrawl.urls.url_parts import UrlParts

Args = tuple[tuple[str, str, Piece | None], ...]  # name, "name=" and form of the value


def args_of(template: Template) -> Args:
    """The arguments of a template, made ready to be compared."""
    return tuple((name, f"{name}=", form) for name, form in template.args)


def args_fit(args: Args, parts: UrlParts, values: dict[str, str]) -> bool:
    """True when a URL has these arguments; puts captured values into `values`.

    If an argument occurs several times, each must have the form, with the same captured values, because servers differ
    in which of them they use.
    """
    for name, start, form in args:
        is_there = False
        for arg in parts.args:
            if arg.startswith(start):
                if form is None or not form.match(arg[len(start) :], values):
                    return False
                is_there = True
            elif arg == name:
                if form is not None:
                    return False
                is_there = True
        if not is_there:
            return False
    return True


class Scope:
    """One template of `Rule.within`."""

    __slots__ = ("_args", "path")

    def __init__(self, template: Template) -> None:
        self.path = PathForm(template.path) if template.path else None
        self._args = args_of(template)

    def fits(self, parts: UrlParts) -> bool:
        """True when a URL is of the template."""
        if self.path is not None and not self.path.fits(parts.segments or [""], {}):
            return False
        return not self._args or args_fit(self._args, parts, {})
