from __future__ import annotations

import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from dedupcrawl.crawl_logs import blocks
from dedupcrawl.crawl_logs.blocks import head_of, open_log
from dedupcrawl.crawl_logs.tally import LogError, Tally
from tests.crawl_logs.rows import COMPRESSORS, compressed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DATA = b"some text that is long enough to be cut in two\n" * 500


@pytest.mark.parametrize("compress", [bytes, *COMPRESSORS.values()], ids=["plain", *COMPRESSORS])
def test_reads_what_was_compressed_whatever_the_name(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(compress(DATA))
    tally = Tally(bytes_read=10)
    with open_log(path, tally) as content:
        assert content.read() == DATA
        assert content.damage is None
    assert tally.bytes_read == 10 + path.stat().st_size
    assert head_of(path, 9) == b"some text"


@compressed
def test_files_written_in_pieces_are_read_whole(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log"
    path.write_bytes(compress(DATA) + compress(b"more\n"))
    with open_log(path, Tally()) as content:
        assert content.read() == DATA + b"more\n"


@compressed
def test_a_cut_file_is_read_up_to_there(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log"
    path.write_bytes(compress(DATA)[:-20])
    tally = Tally()
    with open_log(path, tally) as content:
        assert DATA.startswith(content.read())
        content.tell(path, 7)
        assert "log: nothing was read from about line 7 on: the file was cut off there; copy" in str(tally.unread[0])
    path.write_bytes(compress(DATA)[:15])
    with pytest.raises(LogError, match=r"log cannot be decompressed .*: copy or compress the file again\."):
        head_of(path)


@pytest.mark.parametrize("magic", [b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"], ids=["gzip", "xz", "zstd"])
def test_garbage_behind_a_magic_number_is_an_error(tmp_path: Path, magic: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(magic + b"garbage" * 20)
    with pytest.raises(LogError, match="cannot be decompressed"):
        head_of(path)


def test_xz_streams_and_their_padding_are_read_through(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(lzma.compress(b"a" * 3_000_000) + b"\0" * 8 + lzma.compress(b"b") + b"\0" * 4)
    with open_log(path, Tally()) as content:
        assert content.read(10) == b"a" * 10
        assert content.read() == b"a" * 2_999_990 + b"b"
        assert content.read(5) == b""


def read_through(path: Path) -> None:
    with open_log(path, Tally()) as content:
        while content.read(100_000):
            pass


@compressed
def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]) -> None:
    monkeypatch.setattr(blocks, "_ALLOWED", 1_000_000)
    monkeypatch.setattr(blocks, "_RATIO", 100)
    path = tmp_path / "bomb"
    path.write_bytes(compress(bytes(20_000_000)))
    with pytest.raises(LogError, match=r"bomb cannot be decompressed .*more than 100 times as large"):
        read_through(path)
    path.write_bytes(compress(DATA * 10))
    with open_log(path, Tally()) as content:
        assert content.read() == DATA * 10


def test_what_would_take_much_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.xz"
    packer = lzma.LZMACompressor(filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 20}])
    small = packer.compress(DATA) + packer.flush()
    # The dictionary's size is one byte of the block header, 2 bytes after the filter's id; the header has a checksum.
    header = bytearray(small[12 : 12 + (small[12] + 1) * 4])
    place = header.index(b"\x21\x01") + 2
    header[place] = 33  # 768 MiB
    header[-4:] = zlib.crc32(header[:-4]).to_bytes(4, "little")
    path.write_bytes(small[:12] + header + small[12 + len(header) :])
    with pytest.raises(LogError, match="cannot be decompressed"):
        head_of(path)
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 28}
    with zstd.open(path, "wb", options=options) as file:
        file.write(DATA * 10)
    with pytest.raises(LogError, match="cannot be decompressed"):
        head_of(path)
