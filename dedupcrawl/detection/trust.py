"""Trust: whose pages may replace similar pages of others in the output.

Anybody can publish another site's text, changed a little or with much around it, and arrange that a crawl meets this
copy first. By its similarity the copy would replace the original. Sites that the user names are trusted not to do this.
A page of any other site replaces a page of another owner only if the text is identical: then only a URL is lost.
"""

from __future__ import annotations

from collections.abc import Iterable

from dedupcrawl.sites import host_of, owner_of, tenancy_of


class Trust:
    """The trusted hosts and domains, with their subdomains; of a URL only its owner on the host is trusted.

    None: everybody is trusted.
    """

    def __init__(self, named: Iterable[str] | None) -> None:
        self._everybody = named is None
        self._named = {name for given in named or () if (name := _name_of(given))}

    def add(self, url_or_host: str) -> None:
        """Trust the owner of this URL or host as well."""
        owner = owner_of(url_or_host)
        if owner:
            self._named.add(owner)

    def may_replace(self, kept_url: str, new_url: str) -> bool:
        """Whether the page at `new_url` may be dropped because it is similar to the one at `kept_url`."""
        return self._everybody or owner_of(kept_url) == owner_of(new_url) or self._is_named(kept_url)

    def _is_named(self, url: str) -> bool:
        host, tenancy = host_of(url), tenancy_of(url)
        while host:
            if f"{host}{tenancy}" in self._named or f"*{host}" in self._named:
                return True
            host = host.partition(".")[2]
        return False


def _name_of(given: str) -> str:
    """The name to trust: "*a.example" for a host or domain with all its owners; for a URL, its host and tenancy."""
    host = host_of(given)
    is_host = "/" not in given and ":" not in given
    return f"*{host}" if host and is_host else f"{host}{tenancy_of(given)}"


EVERYBODY = Trust(None)
