"""Lists of other projects: parameters that do not change the page, as prior evidence.

ClearURLs' `data.min.json` (https://docs.clearurls.xyz) is read as it is; its providers each have a pattern of URLs and
patterns of parameter names. A site's own evidence overrules the list: see `urls.learning.learn`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import msgspec

from dedupcrawl.crawl_logs.tally import LogError

_LONGEST_NAME = 64  # characters; the patterns of a list are matched against nothing longer
_LONGEST_URL = 1024  # characters of a URL whose parameters are counted; set by hand, to bound time
_MOST_ASKED = 2000  # names of a site, the most frequent ones
_MOST_NAMES = 50  # of a site, the most frequent ones


class Provider(msgspec.Struct, frozen=True):
    """Parameters of some URLs, as the file has them."""

    urlPattern: re.Pattern[str]  # of the URLs (searched)
    rules: tuple[re.Pattern[str], ...] = ()  # of the names (the whole name)
    exceptions: tuple[re.Pattern[str], ...] = ()  # of URLs that need all their parameters (searched)


class _File(msgspec.Struct, frozen=True):
    providers: dict[str, Provider]


def _pattern(_: type, text: str) -> re.Pattern[str]:
    return re.compile(text, re.I)


def read_clearurls(path: Path) -> tuple[Provider, ...]:
    """Read a ClearURLs rule file. Parameters that pay a referrer (`referralMarketing`) are left alone.

    Raises:
        LogError: It is not such a file.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_File, dec_hook=_pattern).providers
    except RecursionError as error:
        raise LogError(f"{path}: not a ClearURLs data.min.json: values or patterns in it lie too deep") from error
    except (OSError, msgspec.DecodeError, re.error, OverflowError, UnicodeDecodeError) as error:
        raise LogError(f"{path}: not a ClearURLs data.min.json: {error}") from error
    return tuple(provider for provider in found.values() if provider.rules)


def known_parameters(urls: Iterable[str], providers: Sequence[Provider]) -> list[str]:
    """Names of arguments of these URLs of one site that do not change the page, the most frequent ones first.

    A name that occurred once can merge nothing, and to look one up takes a tenth of a millisecond or more. A name with
    "*" cannot stand in a rule, where "*" stands for other names.
    """
    examples: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    for url in urls:
        query = url.partition("#")[0].partition("?")[2]
        if query and len(url) <= _LONGEST_URL:
            for arg in query.replace(";", "&").split("&"):
                name = arg.partition("=")[0]
                if 0 < len(name) <= _LONGEST_NAME and "*" not in name:
                    counts[name] = counts.get(name, 0) + 1
                    if counts[name] <= 3:
                        examples.setdefault(name, []).append(url)
    asked = sorted((name for name in counts if counts[name] > 1), key=lambda name: (-counts[name], name))[:_MOST_ASKED]
    known = (name for name in asked if any(_knows(p, name, examples[name]) for p in providers))
    return list(islice(known, _MOST_NAMES))


def _knows(provider: Provider, name: str, urls: Sequence[str]) -> bool:
    return (
        any(rule.fullmatch(unquote(name)) for rule in provider.rules)
        and all(provider.urlPattern.search(url) for url in urls)
        and not any(exception.search(url) for exception in provider.exceptions for url in urls)
    )
