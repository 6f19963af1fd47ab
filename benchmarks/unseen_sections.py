"""What learned URL rules do to sections of a site that the log did not have.

    python -m benchmarks.unseen_sections [--pages 40] [--stale 0.02] [--seeds 0 1 2]

Random halves of one log do not show it. Each made-up site has pages with second URLs and pages of their own, of which
one half is learned from, and a section that is not in the log, in which what made no difference elsewhere tells pages
apart: all of its URLs are different pages. Printed are, of the half that was kept out, the redundant URLs that were
found and those wrongly brought together, and those of the unseen section.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule_files import SiteRules

HOST = "http://a.example"


@dataclass(frozen=True, slots=True)
class Site:
    """Forms of URLs: {n} is a number and {w} some words that name a page, {t} a token, {v} a small number, by visit.

    Attributes:
        name: What it resembles.
        same: Forms of one page.
        apart: Forms of which each URL is a page of its own.
        unseen: The same, of a section that is not in the log.
    """

    name: str
    same: tuple[str, ...]
    apart: tuple[str, ...]
    unseen: tuple[str, ...]


SITES = (
    Site(
        "phpBB 2",
        ("/viewtopic.php?t={n}", "/viewtopic.php?t={n}&sid={t}", "/viewtopic.php?sid={t}&t={n}"),
        ("/viewforum.php?f={n}",),
        ("/attach.php?t=1&id={n}", "/rss.php?t={v}&n={n}"),
    ),
    Site(
        "phpBB 3",
        ("/viewtopic.php?f=2&t={n}", "/viewtopic.php?t={n}", "/viewtopic.php?t={n}&start=0"),
        ("/viewtopic.php?t={n}&start=15",),
        ("/viewtopic.php?t=7&start={v}", "/memberlist.php?start={v}"),
    ),
    Site(
        "SMF",
        ("/index.php?topic={n}.0", "/index.php?topic={n}.0&prev_next=prev", "/index.php?topic={n}"),
        ("/index.php?board={n}.0",),
        ("/index.php?action=profile;u={n}", "/index.php?topic=5.{n}"),
    ),
    Site(
        "vBulletin",
        ("/showthread.php?t={n}", "/showthread.php?t={n}&s={t}", "/threads/{n}-{w}"),
        ("/forumdisplay.php?f={n}",),
        ("/members/{n}-{w}", "/showthread.php?p={n}"),
    ),
    Site(
        "XenForo",
        ("/threads/{w}.{n}/", "/threads/{n}/", "/threads/{w}.{n}/latest"),
        ("/members/{w}.{n}/",),
        ("/media/{w}.{n}/", "/threads/{n}/page-2"),
    ),
    Site("Discourse", ("/t/{w}/{n}", "/t/{n}", "/t/{w}/{n}?u=joe"), ("/u/{w}",), ("/g/{w}/{n}", "/t/x/7/{n}")),
    Site(
        "MediaWiki",
        ("/wiki/{w}", "/index.php?title={w}", "/index.php?title={w}&printable=yes"),
        ("/index.php?title={w}&action=history",),
        ("/index.php?title={w}&diff={n}", "/wiki/Special:Log?page={w}"),
    ),
    Site(
        "DokuWiki",
        ("/{w}", "/{w}?do=show", "/{w}?rev="),
        ("/{w}?do=revisions",),
        ("/media/{w}?id={n}", "/{w}?do=diff&rev={n}"),
    ),
    Site(
        "MoinMoin",
        ("/{w}", "/{w}?action=show", "/{w}?action=print"),
        ("/{w}?action=info",),
        ("/files/{w}?action=get&n={n}", "/{w}?action=recall&rev={n}"),
    ),
    Site(
        "TWiki",
        ("/bin/view/Main/{w}", "/bin/view/Main/{w}?skin=print", "/bin/view/Main/{w}?sortcol={v}"),
        ("/bin/edit/Main/{w}?t={n}",),
        ("/bin/rdiff/Main/{w}?r={n}", "/bin/view/Web/{w}?raw={n}"),
    ),
    Site(
        "WordPress",
        ("/{n}/{w}/", "/{n}/{w}/?replytocom={v}", "/?p={n}"),
        ("/category/{w}/",),
        ("/author/{w}/?p={n}", "/shop/{n}/{w}/?variation={v}"),
    ),
    Site(
        "WordPress, amp",
        ("/blog/{w}/", "/blog/{w}/amp/", "/blog/{w}/?share=x"),
        ("/tag/{w}/",),
        ("/lamps/{w}/amp/", "/lamps/{w}/?share={n}"),
    ),
    Site(
        "Drupal",
        ("/node/{n}", "/?q=node/{n}", "/node/{n}/print"),
        ("/taxonomy/term/{n}",),
        ("/quiz/{n}/print", "/?q=user/{n}"),
    ),
    Site(
        "Joomla",
        (
            "/index.php?option=content&id={n}",
            "/index.php?option=content&id={n}&tmpl=component",
            "/index.php?option=content&id={n}&print=1",
        ),
        ("/index.php?option=contact&id={n}",),
        ("/index.php?option=gallery&id=1&tmpl={n}", "/index.php?option=poll&print={n}"),
    ),
    Site(
        "TYPO3",
        ("/index.php?id={n}", "/index.php?id={n}&no_cache=1", "/index.php?id={n}&type=98"),
        ("/index.php?id={n}&news={v}",),
        ("/index.php?eID=x&type={n}", "/list.php?id=4&no_cache={n}"),
    ),
    Site(
        "Plone",
        ("/docs/{w}", "/docs/{w}/view", "/docs/{w}/document_view"),
        ("/news/{w}",),
        ("/files/{w}/view", "/folder/{w}/document_view?b={n}"),
    ),
    Site(
        "Magento",
        ("/{w}.html", "/lamps/{w}.html", "/{w}.html?SID={t}"),
        ("/lamps.html?p={n}",),
        ("/chairs.html?p={n}", "/wishlist/{w}.html?id={n}"),
    ),
    Site(
        "OpenCart",
        (
            "/index.php?route=product/product&product_id={n}",
            "/index.php?route=product/product&path=7&product_id={n}",
            "/index.php?route=product/product&product_id={n}&sort=x",
        ),
        ("/index.php?route=product/category&path={n}",),
        ("/index.php?route=product/search&sort={n}", "/index.php?route=product/special&path={n}"),
    ),
    Site(
        "osCommerce",
        (
            "/product_info.php?products_id={n}",
            "/product_info.php?products_id={n}&osCsid={t}",
            "/product_info.php?cPath=3&products_id={n}",
        ),
        ("/index.php?cPath={n}",),
        ("/reviews.php?cPath={n}", "/product_reviews.php?products_id=4&reviews_id={n}"),
    ),
    Site(
        "Shopify",
        ("/products/{w}", "/collections/all/products/{w}", "/products/{w}?variant={n}"),
        ("/collections/{w}",),
        ("/pages/{w}?variant={n}", "/blogs/{w}?page={n}"),
    ),
    Site(
        "Trac",
        ("/ticket/{n}", "/ticket/{n}?cversion=0", "/ticket/{n}?order={v}"),
        ("/query?order={n}",),
        ("/report/{n}?order={v}", "/browser/{w}?order={v}"),
    ),
    Site(
        "Bugzilla",
        ("/show_bug.cgi?id={n}", "/show_bug.cgi?id={n}&x={t}", "/{n}"),
        ("/show_activity.cgi?id={n}",),
        ("/attachment.cgi?id={n}", "/buglist.cgi?x={n}"),
    ),
    Site(
        "Redmine",
        ("/issues/{n}", "/issues/{n}?tab=notes", "/issues/{n}?tab=history"),
        ("/projects/{w}",),
        ("/users/{n}?tab={v}", "/projects/{w}/issues?tab={n}"),
    ),
    Site(
        "cgit",
        ("/tree/src/{w}", "/tree/src/{w}?h=master", "/plain/src/{w}"),
        ("/log/src/{w}?ofs={n}",),
        ("/tree/src/{w}?h=v{n}", "/plain/doc/{w}?id={n}"),
    ),
    Site(
        "ViewVC",
        ("/repo/{w}?view=log", "/repo/{w}?view=log&pathrev=1", "/repo/{w}?pathrev=1&view=log"),
        ("/repo/{w}?view=diff&r1={n}",),
        ("/repo/{w}?view=markup&pathrev={n}", "/attic/{w}?pathrev={n}"),
    ),
    Site(
        "DSpace",
        ("/handle/1/{n}", "/handle/1/{n}?show=full", "/handle/1/{n}?locale=en"),
        ("/browse?value={w}",),
        ("/bitstream/1/{n}?sequence={v}", "/search?locale={n}"),
    ),
    Site(
        "OJS",
        ("/article/view/{n}", "/article/viewArticle/{n}", "/article/view/{n}/0"),
        ("/issue/view/{n}",),
        ("/article/view/{n}/{v}", "/issue/viewArticle/{n}"),
    ),
    Site(
        "listing",
        ("/dir{n}/", "/dir{n}/?C=N;O=A", "/dir{n}/?C=M;O=A"),
        ("/dir{n}/{w}",),
        ("/files.cgi?C={n}", "/pub/{n}/?C=S;O={v}"),
    ),
    Site(
        "Java",
        ("/app/{w}.do", "/app/{w}.do;jsessionid={t}", "/app/{w}.do?x={t}"),
        ("/app/list.do?page={n}",),
        ("/app/show.do?x={n}", "/rest/{w};v={n}"),
    ),
    Site(
        "ASP.NET",
        ("/{w}.aspx", "/(S({t}))/{w}.aspx", "/{w}.aspx?print=1"),
        ("/list.aspx?id={n}",),
        ("/de/{w}.aspx", "/{n}/{w}.aspx"),
    ),
    Site("languages", ("/{w}", "/en/{w}", "/en-us/{w}"), ("/fr/{w}",), ("/de/{w}", "/jobs/{w}")),
    Site("days", ("/2024/05/{v}/{w}", "/2024/05/{w}"), ("/2024/05/{v}/",), ("/2023/{v}/", "/archive/2024/{v}/{w}")),
    Site(
        "loops",
        ("/help/{w}/", "/help/{w}/contact/", "/help/{w}/contact/contact/"),
        ("/help/{w}/faq/",),
        ("/bora/{n}/{n}/", "/shop/{w}/contact/"),
    ),
    Site("case", ("/Wiki/{w}", "/wiki/{w}", "/WIKI/{w}"), ("/s/{t}",), ("/S/{w}", "/s/{w}")),
)


def filled(form: str, chance: random.Random, number: int, words: str) -> str:
    """A URL of this form; token and small number are new each time."""
    token = "".join(chance.choice("0123456789abcdef") for _ in range(16))
    return HOST + form.format(n=number, w=words, t=token, v=chance.randrange(2, 60))


def pages_of(site: Site, chance: random.Random, count: int) -> Iterator[list[str]]:
    """Clusters: of pages with several URLs two or three of them, then single pages."""
    for form in (site.same, site.apart):
        for _ in range(count):
            number, words = chance.randrange(100, 10**6), slug(chance)
            if form is site.same:
                forms = chance.sample(form, min(len(form), chance.randrange(2, 4)))
                yield list(dict.fromkeys(filled(one, chance, number, words) for one in forms))
            else:
                yield [filled(chance.choice(form), chance, number, words)]


def slug(chance: random.Random) -> str:
    """Two words."""
    return "-".join("".join(chance.choice("abcdefghij") for _ in range(5)) for _ in range(2))


def unseen_urls(site: Site, chance: random.Random) -> set[str]:
    """A few numbers, words and tokens in all combinations: many of these URLs differ in one thing only."""
    numbers, words = chance.sample(range(100, 10**6), 5), [slug(chance) for _ in range(4)]
    tokens, small = ["0123456789abcdef", "fedcba9876543210"], (2, 3, 4)
    return {
        HOST + form.format(n=n, w=w, t=t, v=v)
        for form in site.unseen
        for n, w, t, v in product(numbers, words, tokens, small)
    }


def wrongly_merged(rules: SiteRules, pages: Sequence[Sequence[str]]) -> int:
    """URLs that come to a form that a URL of another page came to first."""
    normalize = SiteNormalizer(rules).normalize
    first: dict[str, int] = {}
    return sum(
        first.setdefault(normalize(url).canonical, label) != label for label, urls in enumerate(pages) for url in urls
    )


def measured(site: Site, pages: int, seed: int, stale: float = 0.0) -> tuple[int, int, int, int, int]:
    """Of the half kept out: redundant URLs, found, wrongly merged ones; of the unseen section: URLs, merged ones."""
    chance = random.Random(f"{site.name}{seed}")
    clusters = list(dict.fromkeys(tuple(urls) for urls in pages_of(site, chance, 2 * pages)))
    log, kept = clusters[::2], clusters[1::2]
    urls = {url: label for label, own in enumerate(log) for url in own}
    for label, own in enumerate(log):
        if len(own) > 1 and chance.random() < stale:
            urls[own[-1]] = len(log) + label
    rules = learn_site("a.example", list(urls), list(urls.values()))
    normalize = SiteNormalizer(rules).normalize
    redundant = sum(len(own) - 1 for own in kept)
    found = sum(len(own) - len({normalize(url).canonical for url in own}) for own in kept)
    wrong = wrongly_merged(rules, kept)
    unseen = unseen_urls(site, chance)
    forms = {normalize(url).canonical for url in unseen}
    return redundant, found, wrong, len(unseen), len(unseen) - len(forms)


def main() -> None:
    """Print a line for each site, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--stale", type=float, default=0.0, help="share of second URLs whose page was another by then")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    given = parser.parse_args()
    sums = [0] * 5
    print(f"{'site':18}{'redundant':>10}{'found':>7}{'wrong':>7}{'unseen':>8}{'wrong':>7}")
    for site in SITES:
        counts = [
            sum(column)
            for column in zip(*(measured(site, given.pages, s, given.stale) for s in given.seeds), strict=True)
        ]
        sums = [a + b for a, b in zip(sums, counts, strict=True)]
        print(f"{site.name:18}{counts[0]:>10}{counts[1]:>7}{counts[2]:>7}{counts[3]:>8}{counts[4]:>7}")
    print(f"{len(SITES)} sites".ljust(18) + f"{sums[0]:>10}{sums[1]:>7}{sums[2]:>7}{sums[3]:>8}{sums[4]:>7}")


if __name__ == "__main__":
    main()
