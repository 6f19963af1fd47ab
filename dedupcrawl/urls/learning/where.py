"""Which URLs a rule of the learner is for: paths, of which one must fit, and arguments, all of which must be there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dedupcrawl.urls.learning.written import written
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import Piece, Template

Path = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """What the templates of `Rule.within` say that are no exceptions.

    Attributes:
        paths: Empty for any path.
        args: Forms of arguments by name, None for one without "=".
    """

    paths: tuple[Path, ...] = ()
    args: tuple[tuple[str, Piece | None], ...] = ()

    def asking(self, name: str, form: Piece | None) -> Where:
        """The same for URLs with an argument of this form, too, which is narrower than one that was asked for."""
        return replace(self, args=tuple({**dict(self.args), name: form}.items()))


def where_of(rule: Rule) -> Where:
    """Which URLs a rule is for; of several templates all ask for the same arguments."""
    scopes, _ = rule.scopes()
    return Where(tuple(scope.path for scope in scopes if scope.path), scopes[0].args if scopes else ())


def only(rule: Rule, where: Where) -> Rule:
    """The rule for these URLs, with its exceptions."""
    paths: Sequence[Path | None] = where.paths or ([None] if where.args else [])
    within = dict.fromkeys(written(Template(path=path, args=where.args)) for path in paths)
    return replace(rule, within=(*within, *(scope for scope in rule.within if scope.startswith("!"))))
