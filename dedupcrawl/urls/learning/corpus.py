"""The URLs of one site as the learner sees them: distinct forms, each with the cluster that it belongs to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from dedupcrawl.urls.compiled_rule import LONGEST_URL, CompiledRule
from dedupcrawl.urls.url_parts import UrlParts, split_url

Key = tuple[str, int, str]


class Form:
    """One form that URLs of the site have under the rules accepted so far."""

    __slots__ = ("label", "parts", "text")

    def __init__(self, text: str, parts: UrlParts, label: int) -> None:
        self.text = text
        self.parts = parts
        self.label = label


class Corpus:
    """All forms of one site, found by text, by cluster and by what is in them.

    Forms that a rule brings together become one. It keeps the label of the one that was there.
    """

    def __init__(self, site: str, urls: Sequence[str], labels: Sequence[int]) -> None:
        self.site = site
        self.forms: dict[str, Form] = {}
        for url, label in zip(urls, labels, strict=True):
            parts = split_url(url) if len(url) <= LONGEST_URL else None
            if parts is not None and label >= 0:
                parts.fragment = ""
                text = parts.join()
                self.forms.setdefault(text, Form(text, parts, label))
        self._index: dict[Key, list[Form]] | None = None

    def clusters(self) -> list[list[Form]]:
        """The clusters that still have more than one form."""
        by_label: dict[int, list[Form]] = defaultdict(list)
        for form in self.forms.values():
            by_label[form.label].append(form)
        return [forms for forms in by_label.values() if len(forms) > 1]

    def candidates(self, rule: CompiledRule) -> Iterable[Form]:
        """Forms that the rule might apply to; a few too many, never too few."""
        keys = rule.keys()
        if not keys:
            return self.forms.values()
        index = self._index or self._build_index()
        if len(keys) == 1:
            return index.get(keys[0], ())
        found = {form.text: form for key in keys for form in index.get(key, ())}
        return found.values()

    def apply(self, rule: CompiledRule) -> int:
        """Take all forms through an accepted rule; gives how many forms there are less."""
        before = len(self.forms)
        moved: list[tuple[Form, UrlParts]] = []
        for form in self.candidates(rule):
            after = rule.apply(form.parts, self.site)
            if after is not None:
                moved.append((form, after))
        for form, _ in moved:
            del self.forms[form.text]
        for form, after in moved:
            text = after.join()
            parts = split_url(text)
            if parts is None:
                self.forms[form.text] = form
            else:
                self.forms.setdefault(text, Form(text, parts, form.label))
        self._index = None
        return before - len(self.forms)

    def _build_index(self) -> dict[Key, list[Form]]:
        index: dict[Key, list[Form]] = defaultdict(list)
        for form in self.forms.values():
            parts = form.parts
            for name in set(parts.names()):
                index["arg", 0, name].append(form)
            segments = parts.segments or [""]
            for i, segment in enumerate(segments[:2]):
                index["seg", i, segment].append(form)
            for i, segment in enumerate(segments[:-4:-1]):
                index["seg", -i - 1, segment].append(form)
        self._index = index
        return index
