"""What small steps of the index in a folder take: to pack a page's record, to ask LMDB for its size, to read a cell.

    python -m benchmarks.replay uci nankai --pages 600 --profile --out FOLDER
    python -m benchmarks.index_steps FOLDER…

Reads the indexes that the crawls of replays left behind. Microseconds are CPU time, the least of seven rounds; "with
the dictionary, level 3" is what the index does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import lmdb
import msgspec

from benchmarks.markdown import table
from dedupcrawl.index import record
from dedupcrawl.index.open import open_index

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_ROUNDS = 7
_CALLS = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="as in --out of benchmarks.replay")
    given = parser.parse_args()
    found = [(folder, path) for folder in given.folders for path in sorted(folder.glob("*/*/.scrapy/dedup/index"))]
    if not found:
        sys.exit(f"no finished replay in {', '.join(map(str, given.folders))}: run benchmarks.replay with --out first")
    packed, asked = [], []
    for folder, path in found:
        site = path.relative_to(folder).parts[0]
        pages = list(_pages(path))
        for name, options in _ways().items():
            size, pack, unpack = _packing(pages, options)
            packed.append((site, f"{len(pages):,}", name, f"{size:.0f}", f"{pack:.1f}", f"{unpack:.1f}"))
        asked += [(site, name, f"{us:.2f}") for name, us in _asking(path).items()]
    print(table(("site", "pages", "record of a page", "bytes", "packed, µs", "unpacked, µs"), packed))
    print(table(("site", "asked of LMDB", "µs"), asked))


def _pages(path: Path) -> Iterator[bytes]:
    """What is packed of each kept page."""
    index = open_index(str(path), ())
    for entry in index.entries():
        yield msgspec.msgpack.encode(msgspec.structs.replace(entry, signatures={}))
    index.close()


def _ways() -> Mapping[str, Mapping[str, Any] | None]:
    """Name → arguments of a compressor; None: no compression."""
    level, checksum = int(zstd.CompressionParameter.compression_level), int(zstd.CompressionParameter.checksum_flag)
    dictionary = record._DICTIONARY
    return {
        "as it is": None,
        "level 3, no dictionary": {"options": {level: 3, checksum: 1}},
        **{
            f"with the dictionary, level {it}": {"options": {level: it, checksum: 1}, "zstd_dict": dictionary}
            for it in (1, 3, 9)
        },
    }


def _packing(pages: list[bytes], given: Mapping[str, Any] | None) -> tuple[float, float, float]:
    """Bytes a page, microseconds to pack it, and to unpack it."""
    if given is None:
        return sum(map(len, pages)) / len(pages), 0, 0
    compressor, flush = zstd.ZstdCompressor(**given), zstd.ZstdCompressor.FLUSH_FRAME
    dictionary = given.get("zstd_dict")
    packed = [compressor.compress(page, flush) for page in pages]

    def pack() -> None:
        for page in pages:
            compressor.compress(page, flush)

    def unpack() -> None:
        for one in packed:
            zstd.ZstdDecompressor(zstd_dict=dictionary).decompress(one)

    return sum(map(len, packed)) / len(pages), _least(pack) / len(pages), _least(unpack) / len(pages)


def _asking(path: Path) -> Mapping[str, float]:
    """Step → microseconds, in LMDB alone and with all that the index does around it."""
    with lmdb.open(str(path), max_dbs=64, readonly=True, lock=False) as env:

        def snapshot() -> None:
            with env.begin(buffers=True):
                pass

        found = {"`env.info()`": _each(env.info), "a snapshot, begun and ended": _each(snapshot)}
    index = open_index(str(path), ())
    found["a cell, as the index reads it"] = _each(lambda: index.is_restored("https://www.example.com/"))
    index.close()
    return found


def _each(step: Callable[[], object]) -> float:
    """Microseconds of CPU of one call."""

    def repeat() -> None:
        for _ in range(_CALLS):
            step()

    return _least(repeat) / _CALLS


def _least(work: Callable[[], object]) -> float:
    """Microseconds of CPU."""
    spent = []
    for _ in range(_ROUNDS):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return 1e6 * min(spent)


if __name__ == "__main__":
    main()
