"""`dedupcrawl index`: figures that are true, or left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dedupcrawl.commands.check import command as check
from dedupcrawl.commands.errors import FailureError
from dedupcrawl.commands.index import command
from dedupcrawl.commands.open_existing import open_existing
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.index.contract import IndexDamagedError
from dedupcrawl.index.open import open_index
from tests.crawls.site import prose


def test_info_of_an_index_that_is_opened_to_be_read(tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    rows = [{"url": f"http://a/{n}", "text": prose(n)} for n in range(3)]
    pages.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    index = str(tmp_path / "index")
    assert CliRunner().invoke(check, [str(pages), "--index", index, "--checks", "exact,simhash"]).exit_code == 0
    told = json.loads(CliRunner().invoke(command, ["info", "--index", index, "--json"]).stdout)
    assert (told["pages"], told["postings/url"]) == (3, 3)
    assert sorted(told["checks"].split(", ")) == sorted(CHECK_NAMES), "a place for all of them"
    assert not {"postings/exact", "postings/simhash"} & told.keys()
    assert "pages         3\n" in CliRunner().invoke(command, ["info", "--index", index]).stdout
    assert CliRunner().invoke(command, ["verify", "--index", index]).stdout == "3 pages, all sound\n"


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), IndexDamagedError("page 7 is torn")])
def test_what_goes_wrong_while_an_index_is_read_is_one_sentence(tmp_path: Path, error: Exception) -> None:
    index = str(tmp_path / "index")
    open_index(index, make_checks(CHECK_NAMES, {}), default_path=tmp_path / "index").close()
    with pytest.raises(FailureError, match=r"error|torn"), open_existing(index):
        raise error
    with pytest.raises(BrokenPipeError), open_existing(index):
        raise BrokenPipeError
