"""Keyed digests: what a plain implementation of their definition computes, and no two alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.digests import Secret, digest_of
from dedupcrawl.core.hashing import keyed_digest

PRIME, MASK = (1 << 61) - 1, (1 << 64) - 1
POINTS = st.integers(0, (1 << 60) - 1) | st.sampled_from([0, 1, (1 << 60) - 1])


def mixed(value: int) -> int:
    """The finalizer of MurmurHash3."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor & MASK
    return value ^ value >> 33


def value_at(point: int, data: bytes) -> bytes:
    """The polynomial of some data at a point, mixed."""
    parts = [int.from_bytes(data[at : at + 7], "little") for at in range(0, len(data), 7)]
    total = 1
    for coefficient in (*parts, *[0] * (len(parts) % 2), len(data)):
        total = (total * point + coefficient) % PRIME
    return mixed(total).to_bytes(8, "little")


@given(st.binary(max_size=100) | st.integers(0, 100).map(lambda size: b"\xff" * size), POINTS, POINTS)
def test_a_digest_is_what_its_definition_says(data: bytes, one: int, other: int) -> None:
    assert keyed_digest(data, one, other) == value_at(one, data) + value_at(other, data)


@pytest.mark.parametrize("secret", [Secret(bytes(32)), Secret(bytes(range(32)))])
def test_data_that_differ_in_zeros_length_or_order_have_different_digests(secret: Secret) -> None:
    zeros = [bytes(size) for size in range(200)]
    ones = [bytes(place) + b"\1" + bytes(60 - place) for place in range(61)]
    swapped = [b"".join(parts) for parts in ((b"1234567", b"7654321"), (b"7654321", b"1234567"))]
    data = {*zeros, *ones, *swapped}
    digests = {digest_of(one, secret) for one in data}
    assert len(digests) == len({digest[:8] for digest in digests}) == len(data)
