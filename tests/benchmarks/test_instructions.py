from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = """
import os, sys
from benchmarks.instructions import hand_back, handed_over, is_counting, per_page, start_again

def work(factor, pages):
    for _ in range(factor * pages * 1000):
        pass
    if factor == 9:
        raise ValueError("this work fails")

if is_counting():
    hand_back([per_page(lambda pages: work(factor, pages), 1, 5) for factor in handed_over()])
else:
    print(*start_again([int(factor) for factor in sys.argv[1:]]))
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = folder / "command.py"
    script.write_text(COMMAND)
    command = [sys.executable, str(script), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_twice_the_work_takes_twice_the_instructions_and_a_start_takes_none(tmp_path: Path) -> None:
    done = run(tmp_path, "1", "2", "4")
    assert done.returncode == 0, done.stderr
    once, twice, four_times = map(float, done.stdout.split())
    assert once > 1000
    assert twice == pytest.approx(2 * once, rel=0.05)
    assert four_times == pytest.approx(4 * once, rel=0.05)


def test_work_that_fails_is_said(tmp_path: Path) -> None:
    done = run(tmp_path, "9")
    assert done.returncode == 1
    assert "this work fails" in done.stderr
    assert "ended with status 1" in done.stderr
    assert not done.stdout
