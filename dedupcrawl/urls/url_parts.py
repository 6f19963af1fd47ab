"""Basic tokenization: a URL as scheme, host, path segments and query arguments, and back, byte for byte.

Section 3.1.1 of Koppula et al., "Learning URL Patterns for Webpage De-duplication" (WSDM 2010). The paper leaves some
things open; for real logs an empty last segment stands for a final slash, arguments keep their order and may repeat, an
argument without "=" differs from one with an empty value, and ";" separates arguments as "&" does.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

DEFAULT_PORTS = {"http": ":80", "https": ":443"}
"""Scheme → the end of an authority that says nothing."""

WEB_SCHEMES = frozenset(DEFAULT_PORTS)


def without_default_port(scheme: str, authority: str) -> str:
    """Host and port in lower case, without the port that the scheme stands for (RFC 3986, 6.2.3)."""
    return authority.lower().removesuffix(DEFAULT_PORTS.get(scheme.lower(), ""))


class UrlParts(msgspec.Struct):
    """The tokens of one http or https URL. Rules make new ones and leave those that they were given as they are.

    Attributes:
        scheme: As written, e.g. "http".
        authority: Host and port, as written.
        segments: The path split at "/", without the empty string before its first slash; empty when there is no path.
        args: The query split at "&" and ";", each as written ("a=1", "a=", "a"); empty when there is no query.
        separators: The characters between `args`, one less than there are arguments; empty when all of them are "&".
        fragment: From "#" on, else empty.
    """

    scheme: str
    authority: str
    segments: list[str]
    args: list[str]
    separators: str
    fragment: str

    def with_args(self, args: list[str], separators: str = "") -> UrlParts:
        """The same URL with other arguments."""
        return UrlParts(self.scheme, self.authority, self.segments, args, separators, self.fragment)

    def with_segments(self, segments: list[str]) -> UrlParts:
        """The same URL with another path."""
        return UrlParts(self.scheme, self.authority, segments, self.args, self.separators, self.fragment)

    def join(self) -> str:
        """The URL as a string; of parts that came from `split_url`, exactly that URL."""
        path = "/" + "/".join(self.segments) if self.segments else ""
        if not self.args:
            query = ""
        elif self.separators:
            query = "?" + self.args[0] + "".join(map("".join, zip(self.separators, self.args[1:], strict=True)))
        else:
            query = "?" + "&".join(self.args)
        return f"{self.scheme}://{self.authority}{path}{query}{self.fragment}"

    def size(self) -> int:
        """Characters of path and query."""
        return sum(map(len, self.segments)) + len(self.segments) + sum(map(len, self.args)) + len(self.args)

    def names(self) -> list[str]:
        """The name of each argument, in order."""
        return [arg.partition("=")[0] for arg in self.args]

    def without_args(self, gone: Collection[int]) -> UrlParts | None:
        """The same URL without these arguments and the separators before them (after the first); None if none go."""
        if not gone:
            return None
        kept = [i for i in range(len(self.args)) if i not in gone]
        separators = "".join([self.separators[i - 1] for i in kept[1:]]) if self.separators else ""
        return self.with_args([self.args[i] for i in kept], separators if ";" in separators else "")


def split_url(url: str) -> UrlParts | None:
    """Tokenize a URL; None for what is not an http or https URL with a plain host (javascript:, data:, user@host, …).

    >>> parts = split_url("http://www.example.com/a/b/?x=1&y")
    >>> parts.segments, parts.args
    (['a', 'b', ''], ['x=1', 'y'])
    """
    scheme, found, rest = url.partition("://")
    if not found or (scheme not in WEB_SCHEMES and scheme.lower() not in WEB_SCHEMES):
        return None
    fragment = separators = ""
    args: list[str] = []
    if "#" in rest:
        rest, hash_sign, fragment = rest.partition("#")
        fragment = hash_sign + fragment
    if "?" in rest:
        rest, _, query = rest.partition("?")
        if ";" in query:
            separators = "".join([c for c in query if c in "&;"])
            query = query.replace(";", "&")
        args = query.split("&")
    authority, *segments = rest.split("/")
    if not authority or "@" in authority or "\\" in authority:
        return None
    return UrlParts(scheme, authority, segments, args, separators, fragment)
