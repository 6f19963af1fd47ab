"""Which pages a command that removes or gives back is meant for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from dedupcrawl.commands.errors import BadInputError
from dedupcrawl.commands.url_forms import forms_of
from dedupcrawl.page import page_of_item
from dedupcrawl.printable import printable
from dedupcrawl.setting_values import read_age
from dedupcrawl.sites import host_of, site_of


@dataclass(frozen=True, slots=True)
class Selection:
    """All conditions that are set must hold.

    Attributes:
        urls: Any of these, in any form that a crawl may have written; empty: any.
        pages: Those of them of which the items that are known by their place on the page are meant too.
        site: Host or registrable domain.
        run: The crawl.
        before: Seconds since the epoch; only what is older.
    """

    urls: frozenset[str] = frozenset()
    pages: frozenset[str] = frozenset()
    site: str | None = None
    run: str | None = None
    before: float | None = None

    def takes(self, *urls: str, run: str, at: float) -> bool:
        """Whether a page is meant that is known under these URLs."""
        return (
            (not self.urls or not self.urls.isdisjoint(urls) or not self.pages.isdisjoint(map(page_of_item, urls)))
            and (self.site is None or any(self.site in (host_of(url), site_of(url)) for url in urls))
            and (self.run is None or run == self.run)
            and (self.before is None or at < self.before)
        )


def selection(
    urls: Sequence[str], site: str | None, run: str | None, older_than: str | None = None, *, now: float = 0.0
) -> Selection:
    """What the options of a command say.

    Raises:
        BadInputError: A URL, a site or an age is none.
    """
    forms: set[str] = set()
    pages: set[str] = set()
    for url in urls:
        known = forms_of(url)
        if not known:
            raise BadInputError(f"{printable(url)!r} is no URL: it takes one such as https://example.com/42.")
        forms |= {url, *known}
        if page_of_item(url) is None:
            pages |= {url, *known}
    if site is not None and (not site or host_of(site) != site.lower()):
        raise BadInputError(f"--site takes a host or registrable domain such as example.com, not {printable(site)!r}.")
    try:
        age = read_age(older_than)
    except ValueError:
        raise BadInputError(
            f"--older-than takes an age such as 30d or 12h, not {printable(older_than or '')!r}."
        ) from None
    return Selection(frozenset(forms), frozenset(pages), site and site.lower(), run, None if age is None else now - age)


def needs_one(*conditions: object) -> None:
    """Refuse to take everything when nothing was named.

    Raises:
        click.UsageError: No condition is set.
    """
    if not any(conditions):
        raise click.UsageError("say which pages: URLs, or one of the options.")
