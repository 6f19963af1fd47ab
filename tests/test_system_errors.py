from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from dedupcrawl.crawl.failures import in_words
from dedupcrawl.system_errors import cause, with_file


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 5_000)
    with pytest.raises(OSError, match="x") as caught:
        path.open("wb")
    assert with_file(caught.value) == f"{path}: File name too long; take a shorter name"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EMFILE, errno.EISDIR, errno.EDQUOT])
def test_what_the_system_says_comes_with_what_to_do(code: int) -> None:
    said, _, advice = cause(OSError(code, os.strerror(code))).partition("; ")
    assert said == os.strerror(code)
    assert advice
    assert in_words(OSError(code, said, "log")) == f"log: {said}; {advice}"


def test_what_says_already_what_to_do_stays_as_it_is() -> None:
    assert cause(OSError(errno.ENOSPC, "no room: delete something")) == "no room: delete something"
    assert cause(OSError("a sentence")) == "a sentence"
