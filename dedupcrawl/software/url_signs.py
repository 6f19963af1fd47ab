"""Signs of URLs: which of all programs' a URL may show, found by what is literal in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from dedupcrawl.software.program import Sign
from dedupcrawl.urls.template import Piece, Template
from dedupcrawl.urls.url_parts import UrlParts

DEEPEST = 4
"""Segments of the path at which a program is, at most."""

# Of a URL that are looked at. Those of fifteen crawled sites, 144,926, have 11 at most; one of 2,000 characters that is
# made to cost takes 1.4 ms with all of its arguments and 0.2 with these.
_MOST_ARGUMENTS = 32


class ReadableUrl:
    """Segments and arguments of a URL as people write them, without percent-encoding: signs are written so.

    Attributes:
        segments: Of its path; one at least.
        args: Name and value, or the name alone; the first few.
    """

    __slots__ = ("args", "segments")

    def __init__(self, parts: UrlParts, *, is_escaped: bool) -> None:
        segments, args = parts.segments or [""], parts.args[:_MOST_ARGUMENTS]
        if is_escaped:
            segments, args = [unquote(text) for text in segments], [unquote(text) for text in args]
        self.segments, self.args = segments, args


class UrlSigns:
    """Finds the signs that a URL may show.

    Args:
        signs: Those of URLs, with their numbers.
    """

    def __init__(self, signs: Iterable[tuple[int, Sign]]) -> None:
        self._by_segment: defaultdict[str, list[tuple[int, int, Template]]] = defaultdict(list)  # with its place
        self._by_argument: defaultdict[str, list[tuple[int, Template]]] = defaultdict(list)
        self._by_text: list[tuple[str, int, Template]] = []
        for number, sign in signs:
            template = sign.template()
            known = [(place, texts) for place, piece in enumerate(template.path or ()) if (texts := _texts(piece))]
            if known:
                place, texts = known[0]
                for text in texts:
                    self._by_segment[text].append((place, number, template))
            elif template.args:
                self._by_argument[template.args[0][0]].append((number, template))
            else:
                literals = [literal for piece in template.path or () for literal in piece.literals]
                self._by_text.append((max(literals, key=len), number, template))

    def candidates(self, url: ReadableUrl) -> Iterator[tuple[int, Template, int]]:
        """Number and form of each sign that the URL may show, and how many segments would lie above the program.

        What names no path has 0 of them. Each has yet to be compared, see `fits`.
        """
        segments = url.segments
        starts = range(min(len(segments), DEEPEST + 1))
        for at, segment in enumerate(segments):
            for place, number, template in self._by_segment.get(segment, ()):
                if at - place in starts:
                    yield number, template, at - place
        path = "/".join(segments)
        for text, number, template in self._by_text:
            if text in path:
                for start in starts:
                    yield number, template, start
        for name in dict.fromkeys([arg.partition("=")[0] for arg in url.args]):
            for number, template in self._by_argument.get(name, ()):
                for start in starts if template.path is not None else (0,):
                    yield number, template, start


def fits(template: Template, url: ReadableUrl, start: int) -> bool:
    """Whether what is left of a URL behind its first `start` segments is of a sign's form."""
    return _path_fits(template.path, url.segments[start:]) and _args_fit(template, url.args)


def _path_fits(pieces: tuple[Piece, ...] | None, segments: Sequence[str]) -> bool:
    if pieces is None:
        return True
    if pieces[-1].is_star:
        pieces = pieces[:-1]
    elif len(pieces) != len(segments):
        return False
    if len(segments) < len(pieces):
        return False
    return all(piece.match(segment, {}) for piece, segment in zip(pieces, segments, strict=False))


def _args_fit(template: Template, args: Sequence[str]) -> bool:
    for name, form in template.args:
        if form is None:
            if name not in args:
                return False
        elif not any(arg.startswith(f"{name}=") and form.match(arg[len(name) + 1 :], {}) for arg in args):
            return False
    return True


def _texts(piece: Piece) -> tuple[str, ...]:
    """All that a segment of this form can be; none where that is too much to say."""
    if piece.is_literal:
        return piece.literals if piece.literals[0] else ()
    is_word = len(piece.captures) == 1 and piece.literals == ("", "")
    return tuple(sorted(piece.captures[0].words)) if is_word else ()
