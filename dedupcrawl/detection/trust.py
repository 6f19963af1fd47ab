"""Trust: whose pages may replace similar pages of others in the output.

Anybody can publish a page that holds another's text, changed a little or with much around it, and arrange that a crawl
meets it first. By being similar it would replace the page from which it was copied. Sites that the user named are
trusted not to do so. Of all others only the identical text replaces a page, because then nothing is lost but a URL.
"""

from __future__ import annotations

from collections.abc import Iterable

from dedupcrawl.sites import host_of, owner_of, tenancy_of


class Trust:
    """Hosts and domains that are trusted, with all that lies below them; of a URL its host, but for its other owners.

    None: everybody.
    """

    def __init__(self, named: Iterable[str] | None) -> None:
        self._everybody = named is None
        self._named = {name for given in named or () if (name := _name_of(given))}

    def add(self, url_or_host: str) -> None:
        """Trust the host's owner too."""
        owner = owner_of(url_or_host)
        if owner:
            self._named.add(owner)

    def may_replace(self, kept_url: str, new_url: str) -> bool:
        """Whether the page at `kept_url` may be the reason to drop the one at `new_url` because they are alike."""
        return self._everybody or owner_of(kept_url) == owner_of(new_url) or self._is_named(kept_url)

    def _is_named(self, url: str) -> bool:
        host, tenancy = host_of(url), tenancy_of(url)
        while host:
            if f"{host}{tenancy}" in self._named or f"*{host}" in self._named:
                return True
            host = host.partition(".")[2]
        return False


def _name_of(given: str) -> str:
    """A host or domain with whoever has a part of it, "*a.example"; of a URL the owner of that, as far as its host."""
    host = host_of(given)
    is_host = "/" not in given and ":" not in given
    return f"*{host}" if host and is_host else f"{host}{tenancy_of(given)}"


EVERYBODY = Trust(None)
