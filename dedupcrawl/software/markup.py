"""What a page's markup shows of the program that made it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from urllib.parse import urljoin

from parsel import Selector
from w3lib.url import safe_url_string

from dedupcrawl.software.recognition import Sight

_MOST_HTML = 200_000  # characters of a page that are looked at
_MOST_LINKS = 500
_LONGEST = 2_000  # characters of a link
_LINKS = " | ".join(f"//@{name}" for name in ("href", "src", "action", "data-href", "data-src"))
_UNSENT = re.compile(r"[^!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]")  # what is sent in percent-encoding
_GENERATORS = "//meta[re:test(@name, '^generator', 'i')]/@content"


def sight_of(url: str, html: str, cookies: Iterable[str] = (), encoding: str = "utf-8") -> Sight:
    """What there is to see of a page, in the first `_MOST_HTML` characters of its HTML and the names of its cookies.

    Links send their arguments in the encoding of the page, and their paths in UTF-8.
    """
    page = Selector(html[:_MOST_HTML])
    links: dict[str, None] = {}
    for link in islice(dict.fromkeys(page.xpath(_LINKS).getall()), _MOST_LINKS):
        written = link.strip()
        if written and written[0] != "#" and len(written) <= _LONGEST:
            with suppress(ValueError):  # http://[
                whole = urljoin(url, written)
                links[safe_url_string(whole, encoding) if _UNSENT.search(whole) else whole] = None
    generators = map(str.strip, page.xpath(_GENERATORS).getall())
    return Sight(url, tuple(links), tuple(generators), tuple(cookies), html[:_MOST_HTML])
