# cython: language_level=3
"""Basic tokenization: split a URL into scheme, host, path segments and query arguments, and join it byte for byte.

Section 3.1.1 of Koppula et al., "Learning URL Patterns for Webpage De-duplication" (WSDM 2010). The paper leaves some
things open; for real logs an empty last segment stands for a final slash, arguments keep their order and may repeat, an
argument without "=" differs from one with an empty value, and ";" separates arguments as "&" does.
"""

import cython

DEFAULT_PORTS = {"http": ":80", "https": ":443"}
"""Scheme → its default port, as it ends an authority."""

WEB_SCHEMES = frozenset(DEFAULT_PORTS)


def without_default_port(scheme: str, authority: str) -> str:
    """Host and port in lower case, without the default port of the scheme (RFC 3986, 6.2.3)."""
    return authority.lower().removesuffix(DEFAULT_PORTS.get(scheme.lower(), ""))


class UrlParts:
    """The tokens of one http or https URL. Rules return new ones and do not change those that they are given.

    Attributes:
        scheme: As written, e.g. "http".
        authority: Host and port, as written.
        segments: The path split at "/", without the empty string before its first slash; empty when there is no path.
        args: The query split at "&" and ";", each as written ("a=1", "a=", "a"); empty when there is no query.
        separators: The characters between `args`, one less than there are arguments; empty when all of them are "&".
        fragment: From "#" on, else empty.
    """

    __hash__ = None

    def __init__(self, scheme: str, authority: str, segments: list, args: list, separators: str, fragment: str):
        self.scheme, self.authority, self.segments = scheme, authority, segments
        self.args, self.separators, self.fragment = args, separators, fragment

    def __eq__(self, other: object):
        if not isinstance(other, UrlParts):
            return NotImplemented
        parts: UrlParts = other
        return (
            self.segments == parts.segments
            and self.args == parts.args
            and self.authority == parts.authority
            and self.scheme == parts.scheme
            and self.separators == parts.separators
            and self.fragment == parts.fragment
        )

    def __repr__(self):
        fields = (self.scheme, self.authority, self.segments, self.args, self.separators, self.fragment)
        return f"UrlParts({', '.join(map(repr, fields))})"

    def with_args(self, args: list, separators: str = "") -> UrlParts:
        """The same URL with other arguments."""
        return UrlParts(self.scheme, self.authority, self.segments, args, separators, self.fragment)

    def with_segments(self, segments: list) -> UrlParts:
        """The same URL with another path."""
        return UrlParts(self.scheme, self.authority, segments, self.args, self.separators, self.fragment)

    def join(self) -> str:
        """The URL as a string; of parts that came from `split_url`, exactly that URL."""
        path: str = "/" + "/".join(self.segments) if self.segments else ""
        query: str = ""
        if self.args and self.separators:
            query = "?" + self.args[0] + "".join(map("".join, zip(self.separators, self.args[1:], strict=True)))
        elif self.args:
            query = "?" + "&".join(self.args)
        return f"{self.scheme}://{self.authority}{path}{query}{self.fragment}"

    def names(self) -> list:
        """The name of each argument, in order."""
        return [name_of(arg) for arg in self.args]

    def is_sorted(self):
        """Whether the arguments stand in the order of their names, between "&", and none has a "+"."""
        arg: str
        before: str = ""
        for arg in self.args:
            name: str = name_of(arg)
            if name < before or "+" in arg:
                return False
            before = name
        return not self.separators

    def repeats_names(self):
        """Whether several arguments have one name."""
        return len(self.args) > 1 and len({name_of(arg) for arg in self.args}) < len(self.args)

    def without_args(self, gone: object):
        """The same URL without the arguments at these indices, and without their separators; None if there are none."""
        if not gone:
            return None
        kept: list = [i for i in range(len(self.args)) if i not in gone]
        separators: str = "".join([self.separators[i - 1] for i in kept[1:]]) if self.separators else ""
        return self.with_args([self.args[i] for i in kept], separators if ";" in separators else "")

    def without_names(self, names: object, starts: tuple, kept: object):
        """The same URL without arguments of these names; None if it has none.

        Args:
            names: Names of arguments to remove.
            starts: Prefixes of more names of arguments to remove, except `kept` ones.
            kept: Names of arguments to keep although they have such a prefix.
        """
        gone: set = set()
        i: cython.Py_ssize_t
        for i in range(len(self.args)):
            name: str = name_of(self.args[i])
            if name in names or (starts and name.startswith(starts) and name not in kept):
                gone.add(i)
        return self.without_args(gone)


@cython.cfunc
def name_of(arg: str) -> str:
    """The name of an argument."""
    end: cython.Py_ssize_t = arg.find("=")
    return arg if end < 0 else arg[:end]


def split_url(url: str):
    """Tokenize a URL; None unless it is an http or https URL with a plain host (no javascript:, data:, user@host, …).

    >>> parts = split_url("http://www.example.com/a/b/?x=1&y")
    >>> parts.segments, parts.args
    (['a', 'b', ''], ['x=1', 'y'])
    """
    end: cython.Py_ssize_t = url.find("://")
    if end < 0:
        return None
    scheme: str = url[:end]
    if scheme not in WEB_SCHEMES and scheme.lower() not in WEB_SCHEMES:
        return None
    rest: str = url[end + 3 :]
    fragment: str = ""
    separators: str = ""
    args: list = []
    end = rest.find("#")
    if end >= 0:
        rest, fragment = rest[:end], rest[end:]
    end = rest.find("?")
    if end >= 0:
        query: str = rest[end + 1 :]
        rest = rest[:end]
        if ";" in query:
            separators = "".join([c for c in query if c in "&;"])
            query = query.replace(";", "&")
        args = query.split("&")
    segments: list = rest.split("/")
    authority: str = segments.pop(0)
    if not authority or "@" in authority or "\\" in authority:
        return None
    return UrlParts(scheme, authority, segments, args, separators, fragment)
