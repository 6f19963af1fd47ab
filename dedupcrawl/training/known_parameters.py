"""What others know of URLs: lists of parameters that say nothing of the page, as prior belief.

Read as it is: ClearURLs' `data.min.json` (https://docs.clearurls.xyz), whose providers each have a pattern of URLs and
patterns of parameter names. A site's own evidence overrules the list: see `urls.learning.learn`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import msgspec

from dedupcrawl.crawl_logs.tally import LogError

_LONGEST_NAME = 64  # characters; the patterns of a list are matched against nothing longer
_LONGEST_URL = 1024
_MOST_ASKED = 2000  # names of a site, the most frequent ones
_MOST_NAMES = 50  # of a site, the most frequent ones


class _Row(msgspec.Struct, frozen=True):
    urlPattern: str
    rules: list[str] = []
    exceptions: list[str] = []


class _File(msgspec.Struct, frozen=True):
    providers: dict[str, _Row]


@dataclass(frozen=True, slots=True)
class Provider:
    """Parameters of some URLs."""

    urls: re.Pattern[str]  # pattern of the URLs (searched)
    names: re.Pattern[str]  # pattern of the names (the whole name)
    exceptions: tuple[re.Pattern[str], ...]  # patterns of URLs that need all their parameters (searched)


def read_clearurls(path: Path) -> tuple[Provider, ...]:
    """Read a ClearURLs rule file. Parameters that pay a referrer (`referralMarketing`) are left alone.

    Raises:
        LogError: It is not such a file.
    """
    try:
        rows = msgspec.json.decode(path.read_bytes(), type=_File).providers
        return tuple(
            Provider(
                re.compile(row.urlPattern, re.I),
                re.compile("|".join(f"(?:{rule})" for rule in row.rules), re.I),
                tuple(re.compile(exception, re.I) for exception in row.exceptions),
            )
            for row in rows.values()
            if row.rules
        )
    except RecursionError as error:
        raise LogError(f"{path}: not a ClearURLs data.min.json: values or patterns in it lie too deep") from error
    except (OSError, msgspec.DecodeError, re.error, OverflowError, UnicodeDecodeError) as error:
        raise LogError(f"{path}: not a ClearURLs data.min.json: {error}") from error


def known_parameters(urls: Iterable[str], providers: Sequence[Provider]) -> list[str]:
    """Names of arguments of these URLs of one site that say nothing of the page, the most frequent ones first.

    A name that came once can bring nothing together; to ask for one takes a tenth of a millisecond and more. A name
    with "*" is none for a rule: there it stands for others.
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
        provider.names.fullmatch(unquote(name)) is not None
        and all(provider.urls.search(url) for url in urls)
        and not any(exception.search(url) for exception in provider.exceptions for url in urls)
    )
