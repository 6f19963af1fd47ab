"""Deep tokenization: what a segment or a value is made of on this site (Koppula et al., Sect. 3.1.2, Algorithms 1-2).

One program writes the tokens of one place of a site's URLs, so they share parts: `Special:WhatLinksHere/Main_Page`,
`ctattractions-17876002-Austria_Vienna-attractions.html`. From the pattern `{}`, which fits any token, finer ones are
split off as long as few anchors cover many tokens. The leaves of the tree are the patterns of the place. A token
belongs to every pattern that it fits, because a rule that names a pattern applies to all of these.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from math import log2
from typing import NamedTuple

from dedupcrawl.core.url_forms import ValueForm
from dedupcrawl.urls.learning.generalize import MOST_WORDS
from dedupcrawl.urls.learning.written import LONGEST, pattern
from dedupcrawl.urls.template import SPECIAL

_UNIT = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_RUN = re.compile(r"[A-Za-z0-9]+")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")  # one character, and neither a number nor a word
SCRIPT = re.compile(r"[A-Za-z_]+\.(?:php\d?|aspx?|jsp|cgi|pl|cfm|do)(?=[^A-Za-z0-9])")
# Of an alphanumeric run; one with more is a random token: an example of the paper's is lttU7d6kIuGq. 2 and 8: the same
# rules of fifteen mirrors, seeds 3 and 4.
MOST_UNITS = 4
_LEAST_TOKENS = 4  # of each anchor. The same seeds: recall .4811, with 2 .4811, with 8 .4810
_AS_GOOD = 0.5  # of the best cluster; 1.0: the same rules on ten mirrors, but not the tree of the paper's Figure 2


Cluster = tuple[str, str, bool]


class Anchor(NamedTuple):
    """A candidate anchor (Definition 3): text = token[start:stop].

    Attributes:
        cluster: What delimits it on both sides (an empty delimiter: a unit change), and whether it is numeric.
    """

    start: int
    stop: int
    text: str
    cluster: Cluster


@lru_cache(maxsize=4_096)
def candidate_anchors(token: str) -> tuple[Anchor, ...]:
    """Runs of one unit (letters, capitals, digits, a capitalized word) between delimiters or unit changes."""
    spans: list[tuple[int, int]] = []
    plain = _ESCAPE.sub("\0\0\0", token)
    script = SCRIPT.match(plain)
    if script:
        spans.append(script.span())
    for run in _RUN.finditer(plain, script.end() if script else 0):
        units = [unit.span() for unit in _UNIT.finditer(token, *run.span())]
        spans += units if len(units) <= MOST_UNITS else [run.span()]
    anchors = []
    for start, stop in spans:
        before = "^" if not start else "" if plain[start - 1].isalnum() else token[start - 1]
        after = "$" if stop == len(token) else "" if plain[stop].isalnum() else token[stop]
        if plain[start - 1 : start] == "\0":
            before = token[start - 3 : start]
        if after == "%":
            after = token[stop : stop + 3]
        anchors.append(Anchor(start, stop, token[start:stop], (before, after, token[start].isdigit())))
    return tuple(anchors)


Spans = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class PatternNode:
    """A pattern and its refinements.

    Attributes:
        template: The pattern as rules write it: `Special:WhatLinksHere/{}`.
        children: Finer patterns.
        fronts: At the root, what its refinements begin with, up to a delimiter, where that is none of them.
    """

    template: str
    children: list[PatternNode] = field(default_factory=list)
    fronts: list[PatternNode] = field(default_factory=list)
    _form: ValueForm = field(init=False, repr=False, compare=False)
    _templates: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._form = pattern(self.template).form

    def all_templates(self) -> Iterator[str]:
        yield self.template
        for child in self.children:
            yield from child.all_templates()

    def templates_of(self, token: str) -> list[str]:
        """The templates of all nodes whose pattern a token is of, each before its refinements; not to be edited."""
        templates = self._templates.get(token)
        if templates is None:
            finer = chain.from_iterable(node.templates_of(token) for node in (*self.fronts, *self.children))
            templates = [self.template, *finer] if self.template == "{}" or self._form.match(token, {}) else []
            self._templates[token] = templates
        return templates


def deep_patterns(tokens: Sequence[str]) -> PatternNode:
    """Algorithm 1 (DeepTokenize): the tree of patterns of some tokens, which are best distinct.

    Time is linear in the tokens, times the depth of the tree.
    """
    usable = [token for token in tokens if 0 < len(token) <= LONGEST and not SPECIAL.search(token.replace("/", ""))]
    return _tree(tuple(usable))


@lru_cache
def _tree(tokens: tuple[str, ...]) -> PatternNode:
    """Kept, as the next round of learning often asks for the same."""
    root = PatternNode(_template((), ""))
    _refine(root, [(token, ()) for token in tokens])
    all_templates = set(root.all_templates())
    fronts = {template.partition("{}")[0] + "{}" for template in all_templates} - all_templates
    root.fronts += [PatternNode(front) for front in sorted(fronts) if not front[-3].isalnum()]
    return root


def _template(spans: Spans, token: str) -> str:
    template, last = "", 0
    for start, stop in spans:
        template += ("{}" if start > last else "") + token[start:stop]
        last = stop
    return template + ("{}" if last < len(token) or not spans else "")


def _refine(node: PatternNode, tokens: list[tuple[str, Spans]]) -> None:
    """Split a node by the anchors that Algorithm 2 selects; the tokens that have none of them stay."""
    if len(tokens) < 2 * _LEAST_TOKENS:
        return
    anchors = [_open_anchors(token, spans) for token, spans in tokens]
    selected = select_anchors(anchors)
    if not selected:
        return
    groups: dict[str, list[tuple[str, Spans]]] = defaultdict(list)
    for (token, spans), its in zip(tokens, anchors, strict=True):
        more = [_with_delimiters(one) for one in its if one.text in selected.get(one.cluster, ())]
        if more:
            finer = _joined((*spans, *more))
            groups[_template(finer, token)].append((token, finer))
    for template, members in sorted(groups.items(), key=lambda item: (-len(item[0]), item[0])):
        if len(members) >= _LEAST_TOKENS and template != node.template:
            child = PatternNode(template)
            node.children.append(child)
            _refine(child, members)


def select_anchors(tokens: Sequence[Sequence[Anchor]]) -> dict[Cluster, set[str]]:
    """Algorithm 2 (SelectAnchors): clusters of anchors with high coverage and few anchors.

    The best clusters are taken: those that explain most tokens for each bit that says which of their anchors a token
    has. If a token has several anchors of one cluster, the first counts. The paper's bounds on coverage and on uneven
    frequencies made no rule different, so there are none.
    """
    first = [{anchor.cluster: anchor.text for anchor in reversed(anchors)} for anchors in tokens]
    clusters: dict[Cluster, dict[str, int]] = defaultdict(dict)
    for (cluster, text), count in Counter(chain.from_iterable(map(dict.items, first))).items():
        clusters[cluster][text] = count
    good: dict[Cluster, tuple[float, set[str]]] = {}
    for cluster, counts in clusters.items():
        frequent = {text: count for text, count in counts.items() if count >= _LEAST_TOKENS}
        if 0 < len(frequent) <= MOST_WORDS:
            good[cluster] = sum(frequent.values()) / log2(1 + len(frequent)), set(frequent)
    best = max((worth for worth, _ in good.values()), default=0.0)
    return {cluster: texts for cluster, (worth, texts) in good.items() if worth >= _AS_GOOD * best}


def _with_delimiters(anchor: Anchor) -> tuple[int, int]:
    before, after, _ = anchor.cluster
    return anchor.start - len(before.strip("^")), anchor.stop + len(after.strip("$"))


def _open_anchors(token: str, spans: Spans) -> Sequence[Anchor]:
    """The candidate anchors of a token that are not in its fixed spans."""
    anchors = candidate_anchors(token)
    if not spans:
        return anchors
    opened = []
    for anchor in anchors:
        for start, stop in spans:
            if start <= anchor.start and anchor.stop <= stop:
                break
        else:
            opened.append(anchor)
    return opened


def _joined(spans: Sequence[tuple[int, int]]) -> Spans:
    out: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(stop, out[-1][1]))
        else:
            out.append((start, stop))
    return tuple(out)
