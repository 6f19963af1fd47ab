from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.reading_speed import WAYS, Html, timed
from tests.crawls.site import prose

ROOT = Path(__file__).parents[2]
MENU = "<ul><li>Home and all that <li>Contact the editors</ul>"


def pages(count: int) -> list[Html]:
    return [
        Html(
            f"http://a.example/{number}",
            f"<title>{number}</title><body>{MENU}<article><p>{prose(number, 80)}</article>",
        )
        for number in range(count)
    ]


@pytest.mark.slow
def test_two_checkouts_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))
    monkeypatch.chdir(ROOT)
    found = timed(pages(30), ["", str(ROOT)])
    assert list(found) == list(WAYS)
    for cost in found.values():
        assert len(cost.each) == 2
        assert min(cost.each) > 0
        assert cost.ratio > 0


@pytest.mark.slow
def test_a_checkout_without_the_package_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the worker ended without an answer
        timed(pages(2), [str(tmp_path)])
    assert "dedupcrawl/__init__.py" in capfd.readouterr().err
