"""Bytes as UTF-8, whatever they are."""

from __future__ import annotations

import re

_STRAY_BYTES = re.compile("[\udc80-\udcff]+")  # as "surrogateescape" has them


def utf8(data: bytes) -> bytes:
    r"""The same bytes, each that is no UTF-8 percent-encoded: two URLs that differ stay two.

    >>> utf8(b"http://a.com/caf\xe9"), utf8("café".encode()).decode()
    (b'http://a.com/caf%E9', 'café')
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return _STRAY_BYTES.sub(_escaped, data.decode("utf-8", "surrogateescape")).encode()
    return data


def _escaped(stray: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in stray[0].encode("utf-8", "surrogateescape"))
