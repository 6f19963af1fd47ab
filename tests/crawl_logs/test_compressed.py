from __future__ import annotations

import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dedupcrawl.crawl_logs.compressed import head_of, open_log
from dedupcrawl.crawl_logs.tally import LogError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DATA = b"some text that is long enough to be cut in two\n" * 500
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("compress", COMPRESSORS.values(), ids=COMPRESSORS)
def test_reads_what_was_compressed_whatever_the_name(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(compress(DATA))
    with open_log(path) as (content, file):
        assert content.read() == DATA
        assert file.tell() == path.stat().st_size
    assert head_of(path, 9) == b"some text"


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_files_written_in_pieces(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log"
    path.write_bytes(compress(DATA) + compress(b"more\n"))
    with open_log(path) as (content, _):
        assert content.read() == DATA + b"more\n"


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, zstd.compress], ids=["gzip", "xz", "zstd"])
def test_a_cut_file_is_an_error_that_names_it(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log"
    path.write_bytes(compress(DATA)[:-20])
    with (
        pytest.raises(LogError, match=r"log cannot be decompressed .*: copy or compress the file again\."),
        open_log(path) as (content, _),
    ):
        content.read()


@pytest.mark.parametrize("magic", [b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"], ids=["gzip", "xz", "zstd"])
def test_garbage_behind_a_magic_number(tmp_path: Path, magic: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(magic + b"garbage" * 20)
    with pytest.raises(LogError, match="cannot be decompressed"):
        head_of(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="none cannot be read: No such file"):
        head_of(tmp_path / "none")


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    assert head_of(path) == b""
