# cython: language_level=3
"""Forms: the templates of rules, compiled to be matched with the tokens of URLs and to be filled in.

`dedupcrawl.urls.template` says what a form matches, and which of several captures takes how much. Matching takes time
linear in the length of the URL: there is no backtracking to exploit.
"""

import cython
from cython.cimports.dedupcrawl.core.url_parts import UrlParts, name_of

IRRELEVANT = "*"
"""Stands in an identity for a value that does not matter."""

_BARE = ("", "")  # the literals of a form that is a single capture
_NO_PATH = [""]
_ANY_LENGTH: cython.Py_ssize_t = 1 << 30  # segments; more than any URL has


class Slot:
    """The values that one capture takes; see `dedupcrawl.urls.template.Capture`."""

    def __cinit__(self, capture: object):
        self.name, self.words, self.conversions = capture.name, capture.words, capture.conversions
        self.is_parameter, self.least = capture.is_parameter, capture.least
        self.has_characters = bool(capture.characters)
        self.characters[0] = self.characters[1] = 0
        for character in capture.characters:
            place: cython.int = ord(character)
            if place >= 128:
                raise ValueError(f"captures take only kinds of ASCII characters, not {character!r}")
            self.characters[place >> 6] |= cython.cast(uint64_t, 1) << (place & 63)
        self.is_any = not (self.words or self.has_characters or self.is_parameter)

    def takes(self, value: str):
        """Whether the capture takes a value, whatever another capture of its name has taken."""
        if self.is_any:
            return True
        if self.words:
            return value in self.words
        if not self.has_characters:
            return ";" not in value
        if len(value) < self.least:
            return False
        character: cython.Py_UCS4
        for character in value:
            place: cython.int = character
            if place >= 128 or not (self.characters[place >> 6] >> (place & 63)) & 1:
                return False
        return True

    def take(self, value: str, values: dict):
        """Take a value into `values`; False if it does not fit the capture or differs from another one of its name."""
        if not self.takes(value):
            return False
        return not self.name or values.setdefault(self.name, value) == value


class ValueForm:
    """The form of a segment, host or argument value: `literals[0] captures[0] literals[1] …`."""

    def __init__(self, literals: tuple, captures: tuple):
        self.literals, self.slots = literals, tuple([Slot(capture) for capture in captures])
        self.first, self.last = literals[0], literals[-1]
        self.is_bare = literals == _BARE

    def match(self, text: str, values: dict):
        """Whether `text` has this form; puts captured values into `values`, perhaps some of them even if it has not.

        A name that was captured before must have the same value again.
        """
        count: cython.Py_ssize_t = len(self.slots)
        if not count:
            return text == self.first
        final: Slot = self.slots[count - 1]
        if self.is_bare:
            return len(text) > 0 and final.take(text, values)
        start: cython.Py_ssize_t = len(self.first)
        stop: cython.Py_ssize_t = len(text) - len(self.last)
        if stop <= start or not (text.startswith(self.first) and text.endswith(self.last)):
            return False
        i: cython.Py_ssize_t
        for i in range(count - 1):
            slot: Slot = self.slots[i]
            literal: str = self.literals[i + 1]
            after: cython.Py_ssize_t
            if slot.words or (final.words and i == count - 2):
                after = self.beside_word(text, i, start, stop)
            else:
                after = text.find(literal, start + 1, stop)
                if after >= 0 and i == count - 2 and not final.takes(text[after + len(literal) : stop]):
                    after = text.rfind(literal, start + 1, stop)
            if after < 0 or not slot.take(text[start:after], values):
                return False
            start = after + len(literal)
        return start < stop and final.take(text[start:stop], values)

    def beside_word(self, text: str, i: cython.Py_ssize_t, start: cython.Py_ssize_t, stop: cython.Py_ssize_t):
        """The position of the literal after capture `i`, −1 if it is not there.

        For captures that take words, if the capture or the last one does: a word may contain the literal.
        """
        slot: Slot = self.slots[i]
        final: Slot = self.slots[len(self.slots) - 1]
        literal: str = self.literals[i + 1]
        if slot.words:
            words = [word for word in slot.words if word and text.startswith(word + literal, start, stop)]
            ends = [start + len(word) for word in words]
        else:
            words = [word for word in final.words if text.endswith(literal + word, start + 1, stop)]
            ends = [stop - len(word) - len(literal) for word in words]
        for end in sorted(ends):
            if i < len(self.slots) - 2 or final.takes(text[end + len(literal) : stop]):
                return end
        return -1

    def build(self, values: dict, conversions: dict):
        """The text of this form with the captured values put in, converted by functions from `conversions`."""
        parts: list = [self.first]
        i: cython.Py_ssize_t
        for i in range(len(self.slots)):
            slot: Slot = self.slots[i]
            value: str = values.get(slot.name, IRRELEVANT)
            for name in slot.conversions:
                value = conversions[name](value)
            if self.is_bare:
                return value
            parts.append(value)
            parts.append(self.literals[i + 1])
        return "".join(parts)


class PathForm:
    """The form of a path: literal segments are compared first, then the captures take their values.

    Args:
        path: The pieces of a template.

    Attributes:
        literals: Index and text of each literal segment; negative indices for those after `{name*}`.
    """

    def __init__(self, path: tuple):
        stars: list = [i for i, piece in enumerate(path) if piece.is_star]
        count: cython.Py_ssize_t = len(path)
        self.has_star = bool(stars)
        self.star = stars[0] if stars else count
        self.star_name = path[self.star].captures[0].name if stars else ""
        self.after = count - self.star - 1
        self.least, self.most = (count - 1, _ANY_LENGTH) if stars else (count, count)
        placed: list = [(i if i < self.star else i - count, piece) for i, piece in enumerate(path)]
        self.literals = tuple([(i, piece.literals[0]) for i, piece in placed if piece.is_literal])
        captured: list = [(i, piece) for i, piece in placed if piece.captures and not piece.is_star]
        self.wholes = tuple([(i, piece.captures[0].name) for i, piece in captured if piece.is_whole])
        self.forms = tuple([(i, piece.form) for i, piece in captured if not piece.is_whole])

    def starts(self, segments: list, most: cython.Py_ssize_t) -> list:
        """Where in the path, below `most`, a rest begins that has this form's length and its literals."""
        length: cython.Py_ssize_t = len(segments)
        start: cython.Py_ssize_t
        i: cython.Py_ssize_t
        texts: list = []
        for start in range(max(0, length - self.most), min(most, length - self.least + 1)):
            for i, literal in self.literals:
                if segments[start + i if i >= 0 else i] != literal:
                    break
            else:
                texts.append(start)
        return texts

    def fits(self, segments: list, values: dict):
        """Whether a path has this form; puts captured values into `values`, perhaps some of them even if it has not."""
        length: cython.Py_ssize_t = len(segments)
        i: cython.Py_ssize_t
        text: str
        form: ValueForm
        if length < self.least or length > self.most:
            return False
        for i, text in self.literals:
            if segments[i] != text:
                return False
        for i, name in self.wholes:
            text = segments[i]
            if not text or (name and values.setdefault(name, text) != text):
                return False
        for i, form in self.forms:
            if not form.match(segments[i], values):
                return False
        if not self.star_name:
            return True
        text = "/".join(segments[self.star : length - self.after])
        return values.setdefault(self.star_name, text) == text


def build_path(path: tuple, values: dict, conversions: dict) -> list:
    """The segments with the values put in; a segment that is one empty value is left out, one with slashes is split.

    Args:
        path: The form of each segment.
        values: The captured values.
        conversions: Functions by name.
    """
    segments: list = []
    form: ValueForm
    for form in path:
        segment: str = form.build(values, conversions)
        if "/" in segment:
            segments += segment.split("/")
        elif segment or not form.is_bare:
            segments.append(segment)
    return segments or [""]


class Scope:
    """The path and the arguments of a template.

    Args:
        path: None if any path fits.
        args: The name of each argument and the form of its value; None if it has no "=".
    """

    def __init__(self, path: PathForm | None, args: tuple):
        self.path = path
        self.args = tuple([(name, f"{name}=", form) for name, form in args])

    def fits(self, parts: UrlParts, values: dict):
        """Whether a URL fits the template; puts captured values into `values`, perhaps some even if it does not.

        If an argument occurs several times, each must have the form, with the same captured values, because servers
        differ in which of them they use.
        """
        name: str
        start: str
        arg: str
        form: ValueForm
        for name, start, form in self.args:
            is_there: cython.bint = False
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
        return self.path is None or self.path.fits(parts.segments or _NO_PATH, values)


class Conditions:
    """Which URLs a rule applies to, apart from what its template says of their scheme and host.

    Args:
        hosts: Scheme and host of the URLs that it is for ("http://a.com"); empty if they may have any.
        not_hosts: Those of URLs that it is not for.
        match: The template that captures values for the rule.
        within: A URL must fit one of these, if there are any.
        without: It must fit none of these.
        unless: Names of arguments that it must not have.
        unless_forms: Arguments that it must not have: how each begins, and the form of the rest.
        only: The names of the only arguments that it may have; None if it may have others.
    """

    def __init__(
        self,
        hosts: object,
        not_hosts: object,
        match: Scope,
        within: tuple,
        without: tuple,
        unless: object,
        unless_forms: tuple,
        only: object,
    ):
        self.hosts, self.not_hosts, self.has_hosts = hosts, not_hosts, bool(hosts or not_hosts)
        self.match, self.within, self.without = match, within, without
        self.unless, self.unless_forms = unless, unless_forms
        self.takes_no_others, self.known = only is not None, only
        self.has_unless = bool(unless or unless_forms) or self.takes_no_others

    def fits(self, parts: UrlParts, values: dict):
        """Whether the rule applies to a URL; puts captured values into `values`, perhaps some even if it does not."""
        if self.has_hosts:
            front: str = f"{parts.scheme}://{parts.authority}"
            if (self.hosts and front not in self.hosts) or front in self.not_hosts:
                return False
        if self.takes_no_others and len(parts.args) > len(self.match.args) and self.is_excepted(parts):
            return False
        if not self.match.fits(parts, values):
            return False
        scope: Scope
        for scope in self.without:
            if scope.fits(parts, {}):
                return False
        for scope in self.within:
            if scope.fits(parts, {}):
                break
        else:
            if self.within:
                return False
        return not (self.has_unless and parts.args) or not self.is_excepted(parts)

    def next(self, rows: list, place: cython.Py_ssize_t, parts: list):
        """The first of the rows of a list of URLs, from a place among `rows` on, to which the rule applies.

        Returns its place and what it captures; None if it applies to none.
        """
        values: dict = {}
        at: cython.Py_ssize_t
        for at in range(place, len(rows)):
            if self.fits(parts[rows[at]], values):
                return at, values
            if values:
                values.clear()
        return None

    def is_excepted(self, parts: UrlParts):
        arg: str
        start: str
        form: ValueForm
        for arg in parts.args:
            for start, form in self.unless_forms:
                if arg.startswith(start) and form.match(arg[len(start) :], {}):
                    return True
            name: str = name_of(arg)
            if name not in self.known if self.takes_no_others else name in self.unless:
                return True
        return False


class TokenIndex:
    """Finds the numbered rules that may apply to a URL: most rules need a token or a text in it.

    Args:
        requirements: For each rule, the tokens (segments, arguments, names of arguments, "//" and a host) and the texts
            of which a URL must have at least one, and whether the rule may apply to any URL with arguments.
        conditions: The conditions of each rule.
    """

    def __init__(self, requirements: list, conditions: tuple):
        self.by_token = {}
        self.conditions = conditions
        texts: list = []
        with_args: list = []
        for i, (tokens, parts_of, needs_args) in enumerate(requirements):
            for token in tokens:
                self.by_token[token] = (*self.by_token.get(token, ()), i)
            texts += [(text, i) for text in parts_of]
            if needs_args:
                with_args.append(i)
        self.texts, self.with_args = tuple(texts), tuple(with_args)

    def hits(self, url: str, parts: UrlParts) -> list:
        """The numbers of the rules that may apply to a URL, given with its tokens, ascending."""
        hits: list = []
        text: str
        for text, i in self.texts:
            if text in url:
                hits.append(i)
        hits += self.by_token.get("//" + parts.authority, ())
        for text in parts.segments:
            rows = self.by_token.get(text)
            if rows is not None:
                hits += rows
        if parts.args:
            hits += self.with_args
            for text in parts.args:
                rows = self.by_token.get(text)
                if rows is not None:
                    hits += rows
                rows = self.by_token.get(name_of(text))
                if rows is not None:
                    hits += rows
        return sorted(set(hits)) if len(hits) > 1 else hits

    def next(self, hits: list, place: cython.Py_ssize_t, parts: UrlParts):
        """The first of the rules `hits`, from a place in this list on, that applies to a URL.

        Returns its place and what it captures; None if none applies.
        """
        values: dict = {}
        conditions: Conditions
        at: cython.Py_ssize_t
        for at in range(place, len(hits)):
            conditions = self.conditions[hits[at]]
            if conditions.fits(parts, values):
                return at, values
            if values:
                values.clear()
        return None
