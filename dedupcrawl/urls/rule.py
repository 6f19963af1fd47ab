"""Rule: one statement about the URLs of a site. Its `to_dict` and `from_dict` are the file format.

A rule (Definition 2 of Koppula et al., WSDM 2010) is a context, which says to which URLs it applies, and a
transformation. The context is `hosts`, `within`, `match` and `unless`; the transformation is exactly one of `to`,
`drop` and `convert`:

    {"id": "sid", "kind": "rewrite", "drop": ["sid", "utm_*"]}
    {"id": "task", "kind": "equivalence", "match": "/bugs?task={}", "drop": ["*"]}
    {"id": "index", "kind": "rewrite", "match": "/{folders*}/index.html", "to": "/{folders}/"}
    {"id": "print", "kind": "rewrite", "match": "/print/{page*}", "to": "/{page}"}
    {"id": "title", "kind": "rewrite", "match": "/?title={x}", "to": "/wiki/{x}"}
    {"id": "friends", "kind": "equivalence", "match": "/friends-{}", "to": "/friends-{}"}
    {"id": "order", "kind": "rewrite", "convert": "sort-query"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

import msgspec

from dedupcrawl.printable import counted, printable
from dedupcrawl.urls.bounds import lower_bound
from dedupcrawl.urls.conversions import URL_CONVERSIONS
from dedupcrawl.urls.spelling import as_sent
from dedupcrawl.urls.template import Piece, Template, TemplateError, parse_template

Kind = Literal["rewrite", "equivalence"]
State = Literal["active", "probation", "doubted", "disabled"]
Count = Annotated[int, msgspec.Meta(ge=0)]
Texts = tuple[Annotated[str, msgspec.Meta(min_length=1)], ...]
Pairs = tuple[tuple[str, str], ...]
Source = Literal["hand", "learned", "prior", "imported", "software", "alias"]


class RuleError(ValueError):
    """A rule or a rule file that cannot be read; the message says which one, why, and what it takes."""


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a log says of a rule. All counts but `support` and `collisions` are of the clusters held out for its test.

    A rule of known software was not learned from the log: its counts are of the whole log, and of merges.

    Attributes:
        support: Duplicate clusters from which the rule was learned; 0, and not written, for one that was known before.
        coverage: URLs that the rule applies to (Sect. 5, r_cov).
        correct: URLs that it takes to the form of another URL of the same cluster.
        wrong: URLs that it takes to a form that only URLs of other clusters have (Sect. 5, f).
        collisions: Forms at which it merges URLs of different clusters, in the whole log: in most of these merges one
            cluster was held out and the other was not.
    """

    support: Count = 0
    coverage: Count = 0
    correct: Count = 0
    wrong: Count = 0
    collisions: Count = 0

    @property
    def precision(self) -> float:
        """(coverage - wrong) / coverage, as in Sect. 5; 1.0 for a rule without coverage."""
        return (self.coverage - self.wrong) / self.coverage if self.coverage else 1.0


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of one site.

    Attributes:
        id: Unique within the site.
        kind: "rewrite" when the result can be fetched, "equivalence" when it only tells pages apart.
        hosts: Hosts to which it applies ("www.example.com", with ":8080" if there is a port), and, after "!", hosts to
            which it does not; empty for the whole site. Both spellings of an international name are one host.
        within: Templates of URLs to which it applies ("/wiki/{*}", "/list.php?sort={}", "?title=Special:{}"), one of
            which must fit, and, after "!", of URLs to which it does not; empty for any URL.
        match: Template that a URL must fit; empty for any URL.
        unless: Arguments that a URL must not have: names, forms of one ("title=Special:{}"), or "*" for any that
            `match` does not name.
        to: Template of the result. Parts that it does not mention stay; arguments that only `match` names are removed.
        drop: Names of arguments to take out, with "*" for any end of a name, and "*" alone for all that `match` does
            not name; it is enough that one of them is there.
        convert: Name in `URL_CONVERSIONS`.
        state: "disabled" rules are kept but not applied; "probation" ones are applied and tested, see `urls.probation`;
            "doubted" ones only by crawls: a log speaks against them, but does not refute them.
        tried: How often crawls fetched a URL and what the rule makes of it, and compared the two pages.
        failed: ... and found two different pages.
        evidence: Counts of the last training run that made any.
        examples: Pairs of a URL and what the rule makes of it.
        counterexamples: Pairs that crawls found to be two pages, one for each part of the site where the rule is not
            used for it (`urls.sections`).
    """

    id: str
    kind: Kind
    hosts: Texts = ()
    within: Texts = ()
    match: str = ""
    unless: Texts = ()
    to: str = ""
    drop: Texts = ()
    convert: str = ""
    state: State = "active"
    tried: Count = 0
    failed: Count = 0
    source: Source = "hand"
    learned: date | None = None
    evidence: Evidence = field(default=Evidence())
    examples: Pairs = ()
    counterexamples: Pairs = ()
    note: str = ""

    @property
    def effect(self) -> tuple[object, ...]:
        """What the rule does, without its metadata: equal for two rules that do the same."""
        return self.hosts, self.within, self.match, self.unless, self.to, self.drop, self.convert

    @property
    def is_off(self) -> bool:
        """Whether it changes no URL, unless a crawl tries it."""
        return self.state in {"doubted", "disabled"}

    @property
    def is_lossless(self) -> bool:
        """Whether it only decodes what URLs carry: it brings no two URLs of its context together.

        All else stays as it was, but for a final slash: what is decoded may end in a query, behind which there is none.
        """
        if self.kind != "equivalence" or "|base64}" not in self.to:
            return False
        match, to = self.templates()
        if match is None or to is None or match.has_irrelevant():
            return False
        is_decoded = all(capture.conversions in ((), ("base64",)) for capture in to.captures())
        return is_decoded and _shape(match) == _shape(to)

    def on_trial(self) -> Rule:
        """The rule in the form in which crawls and logs test it.

        A learned rule that sorts arguments is an equivalence there: the sorted URL, which the site may not have, need
        not be requested, and other rules are not blamed if it does not exist.
        """
        kind = "equivalence" if self.convert == "sort-query" and not self.is_by_people else self.kind
        state = "probation" if self.state == "doubted" else self.state
        return self if (kind, state) == (self.kind, self.state) else replace(self, kind=kind, state=state)

    @property
    def is_by_people(self) -> bool:
        """True when a person wrote or brought it, and no training run."""
        return self.source in {"hand", "imported"}

    @property
    def rests_on_others(self) -> bool:
        """Whether what speaks for it is known of other sites: of their software, or of such URLs; no log has told."""
        return self.source == "software" or (self.source == "prior" and not self.evidence.coverage)

    def is_given(self) -> bool:
        """True for what no log was needed to think of."""
        return self.source not in {"learned", "prior"}

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values, without what has its default."""
        out: dict[str, Any] = {"id": self.id, "kind": self.kind}
        for name, default in _WRITTEN.items():
            value = getattr(self, name)
            if value != default:
                out[name] = list(value) if isinstance(value, tuple) else value
        if self.evidence != Evidence():
            counts = msgspec.structs.asdict(self.evidence)
            out["evidence"] = {name: count for name, count in counts.items() if count or name != "support"}
        for name, pairs in (("examples", self.examples), ("counterexamples", self.counterexamples)):
            if pairs:
                out[name] = [list(pair) for pair in pairs]
        return out

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Rule:
        """Read what `to_dict` wrote, or what a person wrote.

        Raises:
            RuleError: When a name or a value is not one of a rule.
        """
        where = f"rule {row.get('id')!r}"
        given = {"id": "", **row}
        given.pop("names_at", None)  # what earlier versions wrote of the parts of a site
        if unknown := sorted(given.keys() - _TAKES.keys()):
            raise RuleError(f"{where}: unknown key {unknown[0]!r}; a rule has {', '.join(_TAKES)}")
        if "kind" not in given:
            raise RuleError(f"{where} has no kind, which {_TAKES['kind']}")
        try:
            rule = msgspec.convert(given, cls, builtin_types=(date,))
        except msgspec.ValidationError as error:
            name = str(error).rpartition("$.")[2].strip("`").partition(".")[0].partition("[")[0]
            raise RuleError(f"{where}: {name} {_TAKES[name]}, not {given[name]!r}") from error
        if rule.failed > rule.tried:
            raise RuleError(f"{where}: failed is of tried, so {rule.failed} of {rule.tried} cannot be")
        evidence = rule.evidence
        if evidence.wrong > evidence.coverage:
            raise RuleError(f"{where}: wrong is of coverage, so {evidence.wrong} of {evidence.coverage} cannot be")
        rule.templates()
        rule.scopes()
        if unfit := next(_unfit(rule), ""):
            raise RuleError(f"{where}: {unfit}")
        return rule

    def templates(self) -> tuple[Template | None, Template | None]:
        """`match` and `to`, parsed; None for one that is empty.

        Raises:
            RuleError: When the rule has not exactly one transformation, or one that does not fit its context or kind.
        """
        where = f"rule {self.id!r}"
        if not self.id:
            raise RuleError("a rule has no id")
        if sum(map(bool, (self.to, self.drop, self.convert))) != 1:
            raise RuleError(f"{where} needs exactly one of to, drop and convert")
        if self.convert and self.convert not in URL_CONVERSIONS:
            raise RuleError(f"{where}: convert is one of {', '.join(URL_CONVERSIONS)}, not {self.convert!r}")
        if self.unless:
            self.exceptions()
        try:
            return _templates(self.match, self.to, self.kind == "rewrite")
        except (RuleError, TemplateError) as error:
            raise RuleError(f"{where}: {error}") from error

    def exceptions(self) -> list[tuple[str, Piece]]:
        """The forms in `unless`, parsed: name and form of the value.

        Raises:
            RuleError: When one cannot be read.
        """
        parsed = [self._parsed(f"?{form}").args for form in self.unless if "=" in form]
        if not all(len(args) == 1 for args in parsed):
            raise RuleError(f"rule {self.id!r}: unless takes one argument a text, such as title=Special:{{}}")
        return [(name, form) for ((name, form),) in parsed if form is not None]

    def scopes(self) -> tuple[list[Template], list[Template]]:
        """`within`, parsed: URLs that the rule is for, and URLs that it is not for.

        Raises:
            RuleError: When one is neither a path nor arguments.
        """
        scopes: tuple[list[Template], list[Template]] = ([], [])
        for text in self.within:
            scope = self._parsed(text.removeprefix("!"))
            if not (scope.path or scope.args) or scope.host or scope.scheme:
                raise RuleError(f"rule {self.id!r}: within takes paths and arguments such as /wiki/{{*}}, not {text!r}")
            scopes[text.startswith("!")].append(scope)
        return scopes

    def _parsed(self, text: str) -> Template:
        try:
            return parse_template(text)
        except TemplateError as error:
            raise RuleError(f"rule {self.id!r}: {error}") from error


@lru_cache(maxsize=16_384)  # of a rule they are asked for when it is read, checked and compiled
def _templates(match_text: str, to_text: str, is_rewrite: bool) -> tuple[Template | None, Template | None]:
    match = parse_template(match_text) if match_text else None
    captured = match.captures() if match else []
    if match and (match.whole or any(capture.conversions for capture in captured)):
        raise RuleError("match takes a part of a URL, and no conversions")
    if not to_text:
        return match, None
    to = parse_template(to_text)
    uses = to.captures()
    if any(capture.words or capture.characters for capture in uses):
        raise RuleError("to takes {name} or {}: of which kind a value is, match says")
    if missing := sorted({use.name for use in uses} - {capture.name for capture in captured} - {""}):
        raise RuleError(f"{missing[0]!r} is used in to but not captured in match")
    if not all(use.name for use in uses):
        if is_rewrite:
            raise RuleError("a target with {} cannot be fetched: its kind is equivalence")
        if to.whole or (to.host and not all(capture.name for capture in to.host.captures)):
            raise RuleError("{} stands for a segment or an argument, not for a host or a whole URL")
    return match, to


def _unfit(rule: Rule) -> Iterator[str]:
    """What is said of values that no URL can have: the rule would never apply, or its exception never hold."""
    match = rule.templates()[0] if rule.unless else None
    asked = dict(match.args) if match else {}
    for name in rule.unless:
        if as_sent(name) in asked:
            yield f"match asks for the argument {as_sent(name)!r}, which a URL must not have by unless"
        if name.startswith("=") or ("=" not in name and "*" in name and name != "*"):
            yield f"unless has names, forms such as title=Special:{{}}, or *, not {name!r}"
    for name in rule.drop:
        if not _MARKS.isdisjoint(name) or "*" in name[:-1]:
            yield f"drop has names of arguments, or what they begin with and *, not {name!r}"
    for host in rule.hosts:
        bare = host.removeprefix("!")
        if not _NOT_OF_HOSTS.isdisjoint(bare) or bare.endswith("."):
            yield f"hosts has hosts such as www.example.com or example.com:8080, not {host!r}"


def _shape(template: Template) -> list[object]:
    """What a template says, without kinds of values, conversions and a final slash."""
    path, args = list(template.path or ()), dict(template.args)
    if len(path) > 1 and path[-1].literals == ("",):
        path.pop()
    pieces = [template.whole, template.host, *path, *(args[name] for name in sorted(args))]
    shape = [piece and (piece.literals, [capture.name for capture in piece.captures]) for piece in pieces]
    return [template.scheme, len(path), sorted(args), *shape]


def described(rule: Rule) -> str:
    """What a rule does, in one line.

    >>> described(Rule("sid", "rewrite", drop=("sid",), hosts=("www.example.com",)))
    'drop sid on www.example.com'
    """
    if rule.source == "alias":  # its template fits no URL
        return f"ask for the URL that {rule.id} leads to"
    does = f"drop {', '.join(rule.drop)}" if rule.drop else f"convert {rule.convert}" if rule.convert else ""
    if rule.to:
        does = f"{rule.match or 'any'} → {rule.to}"
    elif rule.match:
        does += f" of {rule.match}"
    for word, values in (("within", rule.within), ("on", rule.hosts), ("unless", rule.unless)):
        if values:
            does += f" {word} {', '.join(values)}"
    return does


def rule_facts(site: str, rule: Rule) -> dict[str, Any]:
    """The facts about a rule of a site, for rows; its precision is None where nothing was rewritten."""
    evidence = rule.evidence
    return {
        "site": site,
        **{name: getattr(rule, name) for name in ("id", "kind", "state", "source")},
        "does": described(rule),
        **msgspec.structs.asdict(evidence),
        "precision": round(evidence.precision, 4) if evidence.coverage else None,
        "precision_at_least": round(lower_bound(evidence.coverage - evidence.wrong, evidence.wrong), 4),
        "tried": rule.tried,
        "failed": rule.failed,
        "learned": rule.learned.isoformat() if rule.learned is not None else "",
        "note": rule.note,
    }


_WORDS = {
    "str": "is a text",
    "Texts": "is a list of texts",
    "Pairs": "are pairs of URLs",
    "Count": "is a count",
    "Evidence": f"is a table of counts named {', '.join(Evidence.__struct_fields__)}",
    "date | None": "is a day such as 2026-01-31",
    **{name: f"is one of {', '.join(get_args(kinds))}" for name, kinds in (("Kind", Kind), ("State", State))},
    "Source": f"is one of {', '.join(get_args(Source))}",
}
_MARKS = frozenset("&;=?#")  # no name of an argument has one
_NOT_OF_HOSTS = frozenset("/\\*?#@ ")
_TAKES = {f.name: _WORDS[f.type] for f in fields(Rule) if isinstance(f.type, str)}
"""What each value of a rule is, for people."""


_NOT_PLAIN = {"id", "kind", "evidence", "examples", "counterexamples"}
_WRITTEN = {f.name: f.default for f in fields(Rule) if f.name not in _NOT_PLAIN}


_STATES: Mapping[State, str] = {
    "active": "",
    "probation": "on probation",
    "doubted": "doubted: crawls try it, `normalize` does not use it",
    "disabled": "switched off",
}


def speaks_for(facts: Mapping[str, Any]) -> str:
    """The evidence for and against a rule, from its `rule_facts`."""
    parts = [_STATES[facts["state"]], f"learned {facts['learned']}" if facts["learned"] else facts["source"]]
    if facts["coverage"]:
        learned_from = f"from {counted(facts['support'], 'cluster')}; " if facts["support"] else ""
        parts.append(
            f"{learned_from}of {counted(facts['coverage'], 'URL')}{' in others' if learned_from else ''} "
            f"{facts['correct']:,} led to the same page and {facts['wrong']:,} to another one"
        )
    if facts["tried"]:
        parts.append(in_trials(facts["tried"], facts["failed"]))
    if facts["note"]:
        parts.append(printable(facts["note"]))
    return ", ".join(filter(None, parts))


def in_trials(tried: int, failed: int) -> str:
    """How its trials ended.

    >>> in_trials(50, 1)
    'tried 50 times in crawls, 1 failed'
    """
    return f"tried {counted(tried, 'time')} in crawls, {failed:,} failed"
