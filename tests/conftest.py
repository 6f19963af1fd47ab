"""Fixtures that several rooms share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("without deadline", deadline=None)  # no test is timed: machines are slow and busy
settings.load_profile("without deadline")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background job; some tests interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real crawls beside the checkout; tests that need it are skipped, by name, where it is absent."""
    data = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not data.is_dir():
        pytest.skip(f"needs the real crawls of {data}")
    return data
