from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl_logs.compressed import UntilDamage
from dedupcrawl.crawl_logs.warc_records import Found, records


def found(data: bytes) -> list[Found]:
    return list(records(UntilDamage(io.BytesIO(data))))


def record(block: bytes, promised: int | None = None) -> bytes:
    length = len(block) if promised is None else promised
    return b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (length, block)


blocks = st.lists(st.binary(max_size=300) | st.integers(60_000, 200_000).map(bytes) | st.just(record(b"in another")))


@given(blocks)
def test_whole_records_are_found_whatever_they_hold(given_blocks: list[bytes]) -> None:
    assert [one.data + b"\r\n\r\n" for one in found(b"".join(map(record, given_blocks)))] == list(
        map(record, given_blocks)
    )


@given(st.lists(st.binary(max_size=40) | st.integers(0, 10**9).map(lambda length: record(b"x", length))))
def test_of_any_bytes_each_is_looked_at_once(parts: list[bytes]) -> None:
    data = b"".join(parts)
    taken = found(data)
    assert sum(len(one.data) for one in taken) <= len(data)
    whole = [one.data for one in taken if not one.problem]
    assert all(one.startswith(b"WARC/") and one in data for one in whole)


def test_claims_of_large_records_take_no_time_each() -> None:
    claims = record(b"x", 60 << 20) * 20_000
    assert len(found(claims)) == 20_000
    assert len(found(b"WARC/1.0\r\nx" * 100_000)) == 100_000
