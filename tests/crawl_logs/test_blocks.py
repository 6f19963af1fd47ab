"""Blocks of a log, plain and compressed."""

from __future__ import annotations

import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl_logs import blocks
from dedupcrawl.crawl_logs.blocks import LineBlock, head_of, line_blocks, open_log, utf8
from dedupcrawl.crawl_logs.tally import LogError, Tally, Unread
from tests.crawl_logs.rows import COMPRESSORS, compressed


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def lines_with_numbers(found: list[LineBlock]) -> list[tuple[int, bytes]]:
    return [
        (number, line)
        for block in found
        for number, line in enumerate(block.data.split(b"\n")[:-1], block.first_line)
        if line.strip()
    ]


@given(lines=st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line)), size=st.integers(1, 40))
def test_any_block_size_gives_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int
) -> None:
    lines = [b"first", *lines]  # no magic number of a compression, no byte order mark
    path = write(tmp_path_factory.mktemp("log") / "log", b"".join(line + b"\n" for line in lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_BLOCK_BYTES", size)
        found = lines_with_numbers(list(line_blocks(path, Tally())))
        patch.setattr(blocks, "_BLOCK_LINES", 3)
        patch.setattr(blocks, "_PIECE_BYTES", 7)
        in_pieces = list(line_blocks(path, Tally()))
    sound = map(utf8, lines)
    assert found == [(number, line) for number, line in enumerate(sound, 1) if line.strip()]
    assert lines_with_numbers(in_pieces) == found
    assert [text for block in in_pieces for text in block.texts()] == [(n, line.lstrip()) for n, line in found]
    assert all(block.data.count(b"\n") <= 7 for block in in_pieces)


@given(st.binary(), st.binary())
def test_what_differs_still_differs_as_utf8(one: bytes, other: bytes) -> None:
    one, other = one.replace(b"%", b""), other.replace(b"%", b"")
    assert utf8(one).decode().encode() == utf8(one)
    assert (utf8(one) == utf8(other)) == (one == other)


@pytest.mark.parametrize("size", [16, 64, 1000])
def test_overlong_lines_inside_a_block_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", size)
    monkeypatch.setattr(blocks, "LINE_LIMIT", 50)
    lengths = [50, 51, 3, 52, 200, 1, 49, 50, 100, 51]
    path = write(tmp_path / "log", b"".join(b"x" * length + b"\n" for length in lengths))
    tally = Tally()
    found = lines_with_numbers(list(line_blocks(path, tally)))
    assert [(number, len(line)) for number, line in found] == [(1, 50), (3, 3), (6, 1), (7, 49), (8, 50)]
    assert [row.line for row in tally.broken] == [2, 4, 5, 9, 10]
    assert {row.reason for row in tally.broken} == {"line longer than 50 bytes"}
    assert tally.rows == 5


@pytest.mark.parametrize("blanks", [b"\n" * (1 << 24), b" " * 1_000 + b"\n" * (1 << 24), b"\n" * (1 << 22) + b"x\n"])
def test_blank_lines_by_the_million_are_passed_over(tmp_path: Path, blanks: bytes) -> None:
    path = write(tmp_path / "log", b'{"url": "http://a/"}\n' + blanks + b'{"url": "http://b/"}')
    found = list(line_blocks(path, Tally()))
    texts = [text for block in found for text in block.texts()]
    assert texts[0] == (1, b'{"url": "http://a/"}')
    assert texts[-1] == (2 + blanks.count(b"\n"), b'{"url": "http://b/"}')
    assert sum(len(block.data) for block in found) < 5 << 20, "what is nothing but blank is left out"


def test_a_tally_counts_all_and_names_the_first_few_of_each_file() -> None:
    tally = Tally()
    tally.skip("a", "bad", 100, range(1, 101))
    tally.skip("b", "worse", 1, [7])
    tally.skip("a", "bad", 0)
    assert tally.skipped == {"bad": 100, "worse": 1}
    assert tally.broken == [*(Unread("a", line, "bad") for line in range(1, 6)), Unread("b", 7, "worse")]


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
