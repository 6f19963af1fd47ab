"""CDX, CDXJ and Heritrix's crawl.log: the real samples; made-up rows are in tests/fixtures/log_rows.json."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dedupcrawl.crawl_logs.registry import FORMATS, format_of
from dedupcrawl.crawl_logs.tally import LogError, Tally
from tests.crawl_logs.rows import read
from tests.fixtures import table_of


def test_cdx_of_an_unknown_width_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cdx"
    path.write_bytes(b"com,a)/ 20200102030405 http://a.com/ text/html 200 ABC\n")
    (cdx,) = (one for one in FORMATS if one.name == "CDX")
    with pytest.raises(LogError, match="CDX row of 6 fields: put its header line"):
        list(cdx.batches(path, Tally()))


HERITRIX = (
    b"2020-01-02T03:04:05.678Z   301        319 http://a.com/old RL http://a.com/ text/html #045 20200102030405344+19 "
    b"sha1:H73U5HIFUNXSLG4IAN2DBRG42U72CW2S - 3t\n"
    b"2020-01-02T03:04:06.678Z   200       1000 http://a.com/new RLR http://a.com/old text/html #045 "
    b"20200102030405344+19 sha1:CMDQ5CRPU6IEYSTTGFYSGS2QWA7W4ONV - -\n"
)


def test_rows_made_of_other_rows_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "crawl.log"
    path.write_bytes(HERITRIX)
    tally = Tally()
    assert len(read(path, tally)) == 3
    assert tally.rows == 2


@table_of("logs_and_training", "real_samples_are_read_whole")
def test_real_samples_are_read_whole(shared_data: Path, name: str, log_format: str, total: int, usable: int) -> None:
    path, tally = shared_data / "logs" / name, Tally()
    found = format_of(path)
    assert found is not None
    assert found.name == log_format
    assert len(read(path, tally)) == usable
    assert (tally.rows, tally.broken) == (total, [])


def test_cdx_and_cdxj_of_one_archive_say_the_same(shared_data: Path) -> None:
    folder = shared_data / "logs" / "pywb" / "sample_archive"
    one, other = (
        [msgspec.structs.replace(row, redirect_to=None, bytes=None, line=None) for row in read(folder / name)]
        for name in ("cdx/iana.cdx", "cdxj/iana.cdxj")
    )
    assert one == other
