"""Templates as rule files write them: the one printer, the pieces of templates, and for which URLs a rule is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.template import BRACES, Capture, Piece, Template, parse_template

STAR = "p"  # the name of the capture that takes any number of segments
_UNSAYABLE = re.compile(r"[{}/?#\s]")
_ENDS_A_VALUE = re.compile(r"[&;]")
# One value each for what had several. Fifteen mirrors, seeds 3 and 4: recall .4811 at .9968 safe.
LONGEST = 200  # characters of a literal; longer ones are nobody's pattern. 100 and 400: the same rules
LONGEST_WORD = 32  # characters of a word that a rule names. 16: .4813; 64: .4811
DEEP = (
    4  # segments that are looked at one by one, from either end. .4887 at .9969; 3: .4811 at .9968; 6: .4888 at .9969
)
MOST_ARGS = 8  # arguments that are told apart. 4: .4810; 16: .4811


def literal(text: str) -> Piece:
    return Piece((text,), ())


def capture(name: str = "", kind: str = "", words: Iterable[str] = ()) -> Capture:
    """Braces: of a name, a kind ("digits", "token") or words; at least two words."""
    if words:
        return Capture(name, words=frozenset(words))
    return _read(f"{{{name}:{kind}}}" if kind else f"{{{name}}}").captures[0]


def whole(name: str = "", kind: str = "", words: Iterable[str] = ()) -> Piece:
    return Piece(("", ""), (capture(name, kind, words),))


def star(name: str = STAR) -> Piece:
    return Piece(("", ""), (Capture(name, star=True),))


def _read(segment: str) -> Piece:
    path = parse_template(f"/{segment}").path
    assert path is not None
    return path[0]


def pattern(text: str) -> Piece:
    """The piece of a deep pattern such as `Special:{}/{}`."""
    literals = tuple(text.split("{}"))
    return Piece(literals, (Capture(),) * (len(literals) - 1))


def is_expressible(text: str) -> bool:
    """True for what a template can hold as a literal, in a segment."""
    return len(text) <= LONGEST and _UNSAYABLE.search(text) is None


def is_value(text: str) -> bool:
    """The same in the value of an argument."""
    return is_expressible(text) and _ENDS_A_VALUE.search(text) is None


def is_name(text: str) -> bool:
    """True when a rule can name an argument of this name, and means no other."""
    return text != "" and text[-1] != "*" and "=" not in text and is_value(text)


def is_expressible_path(segments: Sequence[str]) -> bool:
    """True when a template can have these segments: // at the front is the beginning of a host."""
    return not BRACES.search("".join(segments)) and not (len(segments) > 1 and not segments[0])


def written(template: Template | None) -> str:
    """A template as text; `parse_template` reads it back.

    >>> written(parse_template("/w/{title}?id={:digits}&x"))
    '/w/{title}?id={:digits}&x'
    """
    if template is None:
        return ""
    if template.whole is not None:
        return written_piece(template.whole)
    host = written_piece(template.host) if template.host else ""
    front = f"{template.scheme}://{host}" if template.scheme else f"//{host}" if host else ""
    args = [name if form is None else f"{name}={written_piece(form)}" for name, form in template.args]
    return front + written_path(template.path or ()) + ("?" + "&".join(args) if args else "")


def written_path(path: Sequence[Piece]) -> str:
    return "".join(f"/{written_piece(piece)}" for piece in path)


def written_piece(piece: Piece) -> str:
    parts = [piece.literals[0]]
    for one, text in zip(piece.captures, piece.literals[1:], strict=True):
        parts += (_written_capture(one), text)
    return "".join(parts)


def _written_capture(one: Capture) -> str:
    if one.words:
        return f"{{{one.name}:{'|'.join(sorted(one.words))}}}"
    if one.conversions:
        return f"{{{one.name}|{'|'.join(one.conversions)}}}"
    kind = _kind_of(one)
    return f"{{{one.name}{'*' if one.star else ''}{':' + kind if kind else ''}}}"


def _kind_of(one: Capture) -> str:
    if not one.characters:
        return ""
    for kind in ("digits", "token", "hex", "letters", "alnum"):
        like = capture("x", kind)
        if (like.characters, like.least) == (one.characters, one.least):
            return kind
    raise ValueError(f"no kind takes {sorted(one.characters)}")


def with_forms(template: Template, forms: Mapping[str, Piece]) -> Template:
    """The template with captures of these names replaced by these forms."""
    if template.whole is not None:
        return template
    path = tuple(_spliced(piece, forms) for piece in template.path) if template.path is not None else None
    args = tuple((name, None if form is None else _spliced(form, forms)) for name, form in template.args)
    return structs.replace(template, path=path, args=args)


def _spliced(piece: Piece, forms: Mapping[str, Piece]) -> Piece:
    literals, captures = [piece.literals[0]], []
    for one, text in zip(piece.captures, piece.literals[1:], strict=True):
        form = forms.get(one.name)
        if form is None or (form.is_literal and one.conversions):
            captures.append(one)
            literals.append(text)
            continue
        literals[-1] += form.literals[0]
        for inner, behind in zip(form.captures, form.literals[1:], strict=True):
            captures.append(inner)
            literals.append(behind)
        literals[-1] += text
    return Piece(tuple(literals), tuple(captures))


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
