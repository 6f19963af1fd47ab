from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl_logs import blocks
from dedupcrawl.crawl_logs.blocks import LineBlock, line_blocks, utf8
from dedupcrawl.crawl_logs.tally import BrokenRow, Tally


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
    assert tally.broken == [*(BrokenRow("a", line, "bad") for line in range(1, 6)), BrokenRow("b", 7, "worse")]
