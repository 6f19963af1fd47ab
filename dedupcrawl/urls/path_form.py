"""The form of a path, ready to be compared with the segments of URLs."""

from __future__ import annotations

import sys

from dedupcrawl.urls.template import Piece


class PathForm:
    """Segments of a template: what is literal is compared first, then captures are taken.

    Attributes:
        literals: Index and text of each literal segment; negative indices for those after `{name*}`.
    """

    __slots__ = ("_after", "_least", "_most", "_pieces", "_star", "_star_name", "literals")

    def __init__(self, path: tuple[Piece, ...]) -> None:
        star = next((i for i, piece in enumerate(path) if piece.is_star), None)
        places = [i if star is None or i < star else i - len(path) for i in range(len(path))]
        self.literals = tuple((i, p.literals[0]) for i, p in zip(places, path, strict=True) if p.is_literal)
        self._pieces = tuple((i, p) for i, p in zip(places, path, strict=True) if p.captures and not p.is_star)
        self._star = star
        self._star_name = "" if star is None else path[star].captures[0].name
        self._after = 0 if star is None else len(path) - star - 1
        self._least = len(path) if star is None else len(path) - 1
        self._most = len(path) if star is None else sys.maxsize

    def texts(self) -> list[str]:
        """Texts that a URL of this form has."""
        texts = [f"/{text}" for _, text in self.literals]
        for _, piece in self._pieces:
            texts += [f"/{piece.literals[0]}", *piece.literals[1:]]
        return texts

    def fits(self, segments: list[str], values: dict[str, str]) -> bool:
        """True when a path is of this form; puts what was captured into `values`, which then may be half filled."""
        length = len(segments)
        if length < self._least or length > self._most:
            return False
        for i, literal in self.literals:
            if segments[i] != literal:
                return False
        for i, piece in self._pieces:
            if not piece.match(segments[i], values):
                return False
        if not self._star_name:
            return True
        value = "/".join(segments[self._star : length - self._after])
        return values.setdefault(self._star_name, value) == value
