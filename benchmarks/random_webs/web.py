"""A random little web: owners who may lie, and the kinds of URLs that lead to one page, to another or to none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from dedupcrawl.urls.rule import Evidence, Kind, Rule, Source, State

START = "http://start.example/"
_OWNERS = (
    "http://www.a.example",
    "http://news.a.example",
    "http://a.example:8001",
    "http://alice.github.io",
    "http://bob.github.io",
    "http://uni.example/~alice",
    "http://uni.example/~bob",
)
_SYLLABLES = (
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta", "ve", "wi", "xo",
    "zu",
)  # fmt: skip
_TAGS = (
    '<link rel="canonical" href="{}">',
    '<link rel="canonical" href="{}">',
    '<meta property="og:url" content="{}">',
    '<link rel="shortlink" href="{}">',
    '<link rel="alternate" media="print" href="{}">',
    '<meta http-equiv="refresh" content="0; url={}">',
)
_SPELLINGS = (("/index.html", "/"), (".html", ""), ("/", ""), ("?utm_source=feed", ""), ("/trackback/", "/"))
_WORDS = (70, 140)  # of a text
_NOTHING_HERE = "There is nothing here, perhaps there was once, or will be at some time or other."


class Answer(NamedTuple):
    """What a server says."""

    status: int
    headers: Mapping[str, str]
    body: str


@dataclass
class Page:
    """What lies at a URL.

    Attributes:
        text: Of its article.
        links: URLs that it links to, some with a fragment.
        head: Elements of its head, and headers, which may differ from crawl to crawl: a site learns to lie.
        posts: Numbers of elements that its links name.
        forms: Where it has forms that are sent by POST, and the value that they send.
        to: Where it redirects.
        since: The crawl from which on it is there, and linked.
        later: What its article says from some crawl on.
        fails_in: The number of a crawl in which the server fails here.
        is_plain: Whether it is a text file.
    """

    text: str = ""
    links: list[str] = field(default_factory=list)
    head: Callable[[int], str] = lambda run: ""
    posts: list[int] = field(default_factory=list)
    forms: list[tuple[str, str]] = field(default_factory=list)
    to: str = ""
    since: int = 1
    later: tuple[int, str] = (1_000, "")
    fails_in: int = 0
    is_plain: bool = False

    def text_in(self, run: int) -> str:
        """What its article says in a crawl."""
        return self.later[1] if run >= self.later[0] else self.text


class Web:
    """All that a seed makes: pages by URL, and rules for them, right and wrong ones; with each crawl it changes.

    Within one section of one owner a rule, and what pages say, is right everywhere or wrong everywhere, but where
    `is_mixed`: then only a crawl that tries all uses can do without a loss.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.is_mixed = self.random.random() < 0.3
        self.pages: dict[str, Page] = {}
        self.rules: dict[str, list[Rule]] = {}  # by site
        self._texts = 0
        self._seed = seed
        self.owners = self.random.sample(_OWNERS, self.random.randint(1, 3))
        self._is_soft = {urlsplit(owner).netloc: self.random.random() < 0.4 for owner in self.owners}
        roots = [f"{owner}/" for owner in self.owners]
        self._put(START, links=roots)
        sections = [self._plain, self._queries, self._sessions, self._prints, self._redirects, self._canonicals]
        sections += [self._threads, self._forms, self._spellings]
        for owner, root in zip(self.owners, roots, strict=True):
            entries: list[str] = []
            for number, section in enumerate(self.random.sample(sections, self.random.randint(2, 4))):
                at = f"{owner}/s{number}" if self.random.random() < 0.5 else f"{owner}/{number}/s"
                entries += self._led_to(at, section(at))
            self.random.shuffle(entries)
            self._put(root, links=[*entries, *self._strays(3)])
        self._age(roots)

    def answer(self, method: str, url: str, body: str, run: int) -> Answer:
        """What is said to a request of the crawl with this number."""
        url = url.partition("#")[0]
        page = self.pages.get(f"{method} {url} {body}" if method == "POST" else url)
        if page is None or run < page.since:
            is_soft = page is None and self._is_soft.get(urlsplit(url).netloc, False)
            return Answer(200 if is_soft else 404, {}, _html(_NOTHING_HERE, Page()))
        if page.fails_in == run:
            return Answer(503, {}, _html("Out of order.", Page()))
        if page.is_plain:
            return Answer(200, {"Content-Type": "text/plain; charset=utf-8"}, page.text_in(run))
        if page.to:
            return Answer(301, {"Location": page.to}, "")
        there = [link for link in page.links if self._since(link) <= run]
        return Answer(200, {}, _html(page.text_in(run), replace(page, links=there), page.head(run)))

    def _since(self, link: str) -> int:
        page = self.pages.get(link.partition("#")[0])
        return 1 if page is None else page.since

    # What there is

    def _age(self, roots: Sequence[str]) -> None:
        """Some pages come later, and some change, with all that are copies of them; or alone, where `is_mixed`.

        What comes later is linked from the front page: a new link on a page that a crawl does without, because an
        earlier one has found it to be a copy, is not seen.
        """
        changed = {text: self._later() for text in sorted({page.text for page in self.pages.values()})}
        texts = Counter(page.text for page in self.pages.values())
        for url, page in self.pages.items():
            is_new = texts[page.text] == 1 and url.startswith("http") and self.random.random() < 0.1
            if is_new and url not in (START, *roots):
                page.since = self.random.randint(2, 4)
                self.pages[self.random.choice(roots)].links.append(url)
            if url not in (START, *roots) and self.random.random() < 0.05:
                page.fails_in = self.random.randint(1, 4)
            page.later = changed[page.text]
            if self.is_mixed and self.random.random() < 0.1:
                page.later = self._later()

    def _later(self) -> tuple[int, str]:
        return (self.random.randint(2, 4) if self.random.random() < 0.2 else 1_000, self._text())

    def _put(self, url: str, **told: Any) -> str:
        told.setdefault("text", self._text())
        if self.random.random() < 0.3 and url.startswith("http"):
            told["links"] = [url, *told.get("links", ())]  # many pages link to themselves
        self.pages[url] = Page(**told)
        return url

    def _text(self) -> str:
        self._texts += 1
        return _text(self._seed, self._texts)

    def _strays(self, most: int) -> list[str]:
        """A few URLs of the web as it is by now, but for those that one page alone leads to."""
        known = [url for url in self.pages if url.startswith("http")]
        drawn = self.random.sample(known, min(len(known), self.random.randint(0, most)))
        return [url for url in drawn if "/only-" not in url]

    def _rule(self, of: str, match: str, *, drop: str = "", to: str = "", is_right: bool) -> None:
        """A rule for a section, of some source, of which something or nothing is known."""
        site = urlsplit(of).hostname or ""
        site = ".".join(site.split(".")[-2:])
        random = self.random
        if random.random() < 0.25:
            return
        source: Source = random.choice(["hand", "learned", "learned", "imported"])
        state: State = random.choice(["active", "probation", "probation", "doubted"])
        kind: Kind = "equivalence" if drop and random.random() < 0.3 else "rewrite"
        known = random.choice([0, 5, 30]) if is_right else random.choice([0, 0, 5])
        path = urlsplit(f"{of}{match}")
        number = len(self.rules.get(site, ()))
        rule = Rule(
            f"r{number}",
            kind,
            hosts=(path.netloc,) if random.random() < 0.5 else (),
            match=f"{path.path}?{path.query}" if path.query else path.path,
            drop=(drop,) if drop else (),
            to=f"{urlsplit(of).path}{to}" if to else "",
            state=state,
            source=source,
            evidence=Evidence(coverage=known, correct=known),
        )
        self.rules.setdefault(site, []).append(rule)

    def _led_to(self, at: str, urls: list[str]) -> list[str]:
        """Where a section is entered: at all its URLs, at pages of a list, or at one that leads to the next."""
        kind = self.random.choice(["all", "all", "list", "chain"])
        if kind == "all" or len(urls) < 2:
            return urls
        if kind == "list":
            return [self._put(f"{at}/list?page={page}", links=urls[page::2]) for page in range(2)]
        for url, after in pairwise(urls):
            page = self.pages[url.partition("#")[0]]
            if page.to:
                return urls
            page.links.append(after)
        return urls[:1]

    def _only(self, at: str, more: Sequence[str] = ()) -> str:
        """A page that one page alone leads to, and that may lead to others in the same way."""
        deeper = [self._only(at, more)] if self.random.random() < 0.3 else list(more)
        return self._put(f"{at}/only-{len(self.pages)}", links=deeper)

    def _is_liar(self) -> bool:
        return self.random.random() < 0.4

    def _plain(self, at: str) -> list[str]:
        """Pages, of which some lead to the next only; some have a copy elsewhere."""
        urls = [f"{at}/p{number}.html" for number in range(self.random.randint(3, 9))]
        for number, url in enumerate(urls):
            more = [urls[number + 1]] if number + 1 < len(urls) else []
            self._put(url, links=[*more, *self._strays(2)], is_plain=number > 2 and self.random.random() < 0.1)
            if self.random.random() < 0.3:
                copy = self._put(f"{at}/copy{number}.html", text=self.pages[url].text, links=self._strays(1))
                self.pages[url].links.append(copy)
        return urls[:1] if self.random.random() < 0.5 else urls

    def _queries(self, at: str) -> list[str]:
        """Pages that an argument names, and a rule that drops it."""
        urls = [f"{at}/view?id={number}" for number in range(self.random.randint(3, 12))]
        for url in urls:
            self._put(url, links=self._strays(2))
        if self.random.random() < 0.5:
            self._put(f"{at}/view")
        self._rule(at, "/view?id={}", drop="id", is_right=False)
        return urls

    def _sessions(self, at: str) -> list[str]:
        """Arguments that change nothing, or something after all."""
        lies, goes_on, urls = self._is_liar(), self.random.random() < 0.5, []
        for number in range(self.random.randint(3, 8)):
            bare = f"{at}/item?id={number}"
            text, links = self._text(), self._strays(1)
            if self.random.random() < 0.6:
                self._put(bare, text=text, links=links)
            for session in range(self.random.randint(1, 4)):
                lies_here = lies and not (self.is_mixed and self.random.random() < 0.5)
                own = self._text() if lies_here else text
                after = [f"{at}/item?id={number + 1}&sid={session}"] if goes_on else []
                urls.append(self._put(f"{bare}&sid={session}", text=own, links=[*links, *after]))
        self._rule(at, "/item?sid={}", drop="sid", is_right=not lies)
        return urls

    def _prints(self, at: str) -> list[str]:
        """Pages and their print views, and a rule that drops the argument."""
        lies = self._is_liar()
        urls = self._views(at, "?print=1", "", lies, 9)
        self._rule(at, "/{}?print=1", drop="print", is_right=not lies)
        return urls

    def _spellings(self, at: str) -> list[str]:
        """URLs that are spelled in two ways, which only the URLs tell where a site has no rules."""
        return self._views(at, *self.random.choice(_SPELLINGS), self._is_liar(), 30)

    def _views(self, at: str, end: str, other_end: str, lies: bool, most: int) -> list[str]:
        """Two views of a page, of which one may lead to more, or to the other, and may be another page."""
        urls: list[str] = []
        leads_on, redirects = self.random.random() < 0.4, self.random.random() < 0.2
        for number in range(self.random.randint(2, most)):
            url = self._put(f"{at}/a{number}{other_end}")
            view = f"{at}/a{number}{end}"
            more = [self._only(at)] if leads_on else []
            self._put(
                view, text=self._text() if lies else self.pages[url].text, links=more, to=url if redirects else ""
            )
            urls += [view, url] if self.random.random() < 0.5 else [url, view]
        return urls

    def _redirects(self, at: str) -> list[str]:
        """From old to new and back, in circles, and to what has gone; a rule follows them, or leads against them."""
        urls, kind = [], self.random.choice(["new", "old", "circle", "gone", "one"])
        one = self._put(f"{at}/one")
        for number in range(self.random.randint(2, 6)):
            new, old = f"{at}/new/n{number}", f"{at}/old/n{number}"
            ends = {"new": new, "old": new, "circle": old, "gone": f"{at}/gone/{number}", "one": one}
            self._put(old, to=new)
            self._put(new, **({"to": ends[kind]} if kind in ("circle", "gone", "one") else {}))
            urls += [old, new]
        if kind == "old":
            self._rule(at, "/new/{page}", to="/old/{page}", is_right=True)
        else:
            self._rule(at, "/old/{page}", to="/new/{page}", is_right=True)
        return urls

    def _canonicals(self, at: str) -> list[str]:
        """Pages that name another URL as theirs: one of the same text, another page, a stranger's, one that is not."""
        kind = self.random.choice(["same", "same", "other", "stranger", "gone", "redirect", "circle", "one"])
        learns = self.random.random() < 0.3  # it begins to in a later crawl
        tag = self.random.choice(_TAGS)
        urls = [f"{at}/c{number}" for number in range(self.random.randint(3, 14))]
        known = [url for url in self.pages if url.startswith("http")]
        for number, url in enumerate(urls):
            if kind == "same" or (self.is_mixed and self.random.random() < 0.3):
                text = self._text()
                target = self._put(f"{url}/full", text=text, links=self._strays(1))
                self._put(url, text=text, links=[target] if self.random.random() < 0.5 else [])
            else:
                targets = {
                    "other": f"{at}/d{number}",
                    "stranger": self.random.choice(known),
                    "gone": f"{at}/gone{number}",
                    "redirect": f"{at}/r{number}",
                    "circle": urls[(number + 1) % len(urls)],
                    "one": urls[0],
                }
                target = targets[kind] if kind != "same" else f"{at}/d{number}"
                links = [target] if target != url and self.random.random() < 0.7 else []
                self._put(url, links=[*links, *self._strays(1)])
                if target == f"{at}/d{number}":
                    self._put(target)
                if target == f"{at}/r{number}":
                    self._put(target, to=self.random.choice([url, f"{at}/c0"]))
            element = tag.format(target)
            self.pages[url].head = lambda run, element=element: "" if learns and run < 2 else element  # type: ignore[misc]
        return urls

    def _threads(self, at: str) -> list[str]:
        """A thread with permalinks of its posts, which show the thread, or only the post, or lead to more."""
        kind, urls, post = self.random.choice(["thread", "thread", "post", "leads on", "redirect"]), [], 0
        for number in range(self.random.randint(1, 4)):
            url = f"{at}/thread.php?t={number}"
            posts = list(range(post, post := post + self.random.randint(1, 5)))
            links = [f"{at}/thread.php?p={one}#p{one}" for one in posts]
            self._put(url, links=[*links, *self._strays(1)], posts=posts)
            for one in posts:
                more = [self._only(at)] if kind == "leads on" else []
                text, to = self._text() if kind == "post" else self.pages[url].text, url if kind == "redirect" else ""
                self._put(f"{at}/thread.php?p={one}", text=text, links=[*links, *more], posts=posts, to=to)
            urls.append(url)
            if self.random.random() < 0.5:
                urls.insert(0, links[-1])
        return urls

    def _forms(self, at: str) -> list[str]:
        """Forms that are sent by POST: each value has its page, or some have one together."""
        page = self._put(f"{at}/search")
        shared = self._text()
        for number in range(self.random.randint(2, 6)):
            action, value = f"{at}/found", f"v{number}"
            text = shared if self.random.random() < 0.3 else self._text()
            self._put(f"POST {action} q={value}", text=text, links=[self._only(at)])
            self.pages[page].forms.append((action, value))
        return [page]


@cache
def _text(seed: int, number: int) -> str:
    random = Random(seed * 100_003 + number)
    words = ("".join(random.choices(_SYLLABLES, k=random.randint(2, 4))) for _ in range(random.randint(*_WORDS)))
    return " ".join(words).capitalize() + "."


def _html(text: str, page: Page, head: str = "") -> str:
    links = "".join(
        f'<li><a href="{link.replace("&", "&amp;")}">to {number}</a></li>' for number, link in enumerate(page.links)
    )
    posts = "".join(f'<div id="p{number}"></div>' for number in page.posts)
    forms = "".join(
        f'<form method="post" action="{to}"><input name="q" value="{value}"></form>' for to, value in page.forms
    )
    title = " ".join(text.split()[:3])
    return (
        f"<html><head><title>{title}</title>{head}</head><body><article><p>{text}</p></article>{posts}"
        f"<ul>{links}</ul>{forms}</body></html>"
    )
