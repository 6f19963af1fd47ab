"""URLs that are remembered where there are many of them."""

from __future__ import annotations

from hashlib import blake2b


def key_of(url: str) -> int:
    """What a URL is remembered by where there are many: 60 bytes each in a set."""
    return int.from_bytes(blake2b(url.encode("utf-8", "replace"), digest_size=8).digest(), "big")


class UrlSet:
    """URLs, each remembered by its key."""

    def __init__(self) -> None:
        self._keys: set[int] = set()

    def __contains__(self, url: str) -> bool:
        return key_of(url) in self._keys

    def add(self, url: str) -> bool:
        """Put a URL in; False when it is there already."""
        before = len(self._keys)
        self._keys.add(key_of(url))
        return len(self._keys) > before

    def discard(self, url: str) -> None:
        """Take a URL out, if it is there."""
        self._keys.discard(key_of(url))
