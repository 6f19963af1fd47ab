"""What rules put together, taken apart again: a value that was decoded may hold delimiters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedupcrawl.urls.compiled_rule import LONGEST_URL
from dedupcrawl.urls.conversions import VALUE_CONVERSIONS
from dedupcrawl.urls.learning.token_texts import Ints
from dedupcrawl.urls.learning.url_columns import NO_COLUMNS, Made, UrlColumns
from dedupcrawl.urls.url_parts import UrlParts, split_url

_MOST_GROWN = 2  # times its length, that a converted value is put in its place without a look at the URL


def split_again(urls: UrlColumns, rows: Ints, made: Made) -> None:
    """Tokenize URLs that rules have put together; those that are none any more are marked as not plain.

    Only a token with a delimiter in it makes a difference.

    Args:
        urls: All URLs.
        rows: Those that are meant; of plain ones.
        made: As of `UrlColumns.replace`.
    """
    owner, _, numbers = urls.segments.flat(rows)
    found = owner[urls.texts.which(splits_path, numbers)]
    owner, _, numbers = urls.args.flat(rows)
    found = np.concatenate([found, owner[urls.arg_texts.which(_splits_query, numbers)]])
    urls.replace(rows[np.unique(found)], _split_again, made)


def splits_path(text: str) -> bool:
    """True for a segment with a delimiter in it."""
    return "/" in text or "?" in text or "#" in text


def _splits_query(text: str) -> bool:
    return "&" in text or ";" in text or "#" in text


def _split_again(parts: UrlParts) -> UrlParts:
    """The tokens of the URL that these parts make; `NO_COLUMNS` if it is none."""
    text = parts.join()
    again = split_url(text) if len(text) <= LONGEST_URL else None
    return NO_COLUMNS if again is None else again


def is_no_segment(conversions: Sequence[str], value: str) -> bool:
    """True when a value is more than one segment after these conversions, or none, or one that is much longer."""
    after = _converted(conversions, value)
    return not after or len(after) > _MOST_GROWN * len(value) or splits_path(after)


def is_no_end_of_path(conversions: Sequence[str], value: str) -> bool:
    """True when a value after these conversions is not just what a path ends with, or that and a query of its own.

    Of what was base64 the query is one at once; in other values a "?" waits for the other rules to be applied.
    """
    after = _converted(conversions, value)
    _, asks, query = after.partition("?")
    is_late = asks != "" and ("base64" not in conversions or ";" in query)
    return not after or len(after) > _MOST_GROWN * len(value) or "#" in after or is_late


def opens_query(conversions: Sequence[str], value: str) -> bool:
    """True when a value has a query after these conversions."""
    return "?" in _converted(conversions, value)


def _converted(conversions: Sequence[str], value: str) -> str:
    for conversion in conversions:
        value = VALUE_CONVERSIONS[conversion](value)
    return value
