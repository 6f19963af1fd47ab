"""`dedupcrawl calibrate`: a user's labels make a model that does better on them, or one sentence says why not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from dedupcrawl.content.model import load, packaged
from tests.commands.invoked import check_refused, checked, rows, run, told, write
from tests.crawls.site import prose

TARGET = ("--set", "TARGET_PRECISION=0.9")


def calibrate(folder: Path, labels: Iterable[Mapping[str, Any]], *options: object) -> Result:
    """Learn a model from labels: `model.json` in this folder."""
    return run("calibrate", write(folder / "labels.jsonl", *labels), "--output", folder / "model.json", *options)


def label(number: int, *, same: bool) -> dict[str, Any]:
    """A text with three numbers exchanged, which this user takes for the same page, unless a passage differs, too."""
    words = prose(number, 120).split()
    edited = [*words]
    for place in (30, 60, 90):
        edited[place], words[place] = f"{number}{place}", f"{number + 1}{place}"
    if not same:
        edited[10:18] = [f"other{number}{place}" for place in range(8)]
    url = f"http://a.example/{number}"
    return {
        "kept": {"url": url, "title": "T", "text": " ".join(words)},
        "new": {"url": f"{url}/new", "title": "T", "text": " ".join(edited)},
        "same": same,
    }


LABELS = [label(number, same=number % 2 == 0) for number in range(1, 41)]
EQUAL = [{**row, "new": {**row["kept"], "url": row["new"]["url"]}, "same": False} for row in LABELS[:6]]


def test_a_few_labels_make_a_model_that_crawls_and_commands_take(tmp_path: Path) -> None:
    found = told(calibrate(tmp_path, LABELS, "--json", *TARGET))
    assert (found["labels"], found["same"], found["target_precision"]) == (40, 20, 0.9)
    assert found["after"]["recall"] > found["before"]["recall"]
    assert found["after"]["precision"] >= 0.9
    read = load(tmp_path / "model.json")
    assert read.weights.keys() == packaged().weights.keys()
    assert [precision for precision, _ in read.thresholds] == [precision for precision, _ in packaged().thresholds]
    pairs = write(tmp_path / "pairs.jsonl", *({"kept": row["kept"], "new": row["new"]} for row in LABELS))
    before, after = (
        rows(run("compare", "--pairs", pairs, *TARGET, *more))
        for more in ((), ("--set", f"MODEL={tmp_path / 'model.json'}"))
    )
    right = [row["same"] for row in LABELS]
    hits = [
        sum((row["verdict"] == "duplicate") == same for row, same in zip(found, right, strict=True))
        for found in (before, after)
    ]
    assert hits[1] > hits[0]


def test_urls_are_looked_up_in_the_index_of_the_crawl(tmp_path: Path) -> None:
    """A dropped page is kept no more: what was recorded when it was dropped counts."""
    pages = [page for row in LABELS for page in (row["kept"], row["new"])]
    verdicts = checked(tmp_path, pages, "--set", "TARGET_PRECISION=0.5")
    assert {row["verdict"] for row in verdicts} == {"unique", "duplicate"}
    by_url = [{"new": row["new"]["url"], "kept": row["kept"]["url"], "same": row["same"]} for row in LABELS]
    found = [
        (told(calibrate(tmp_path, labels, "--index", tmp_path / "index", "--json")), load(tmp_path / "model.json"))
        for labels in (by_url, LABELS)
    ]
    assert found[0][0]["before"] == found[1][0]["before"]
    assert found[0][1].weights == pytest.approx(found[1][1].weights, abs=0.2)


@pytest.mark.parametrize(
    ("more", "said"), [(EQUAL, "\n6 more labels of equal pages"), (LABELS[:9], "\n")], ids=["equal pages", "twice"]
)
def test_labels_of_equal_pages_and_labels_given_twice_teach_nothing(
    tmp_path: Path, more: list[dict[str, Any]], said: str
) -> None:
    """Whatever a model says, equal pages are one: such labels would only turn it over."""
    calibrate(tmp_path, LABELS, *TARGET)
    alone = (tmp_path / "model.json").read_bytes()
    told = calibrate(tmp_path, [*more, *LABELS], *TARGET).stdout
    assert told.startswith(f"40 labels: 20 same page, 20 another page{said}")
    assert (tmp_path / "model.json").read_bytes() == alone


def test_a_model_that_does_worse_is_not_written(tmp_path: Path) -> None:
    """Where the package's drops are right, one label that says otherwise of the same makes it drop less."""
    labels = []
    for number in range(20):
        words = prose(number, 120).split()
        page = {"url": f"http://a.example/{number}", "title": "T", "text": " ".join(words)}
        new = {"url": f"http://a.example/{number}/new", "title": "T", "text": " ".join([*words, f"by{number}"])}
        labels.append({"kept": page, "new": new, "same": number > 0})
    result = calibrate(tmp_path, labels)
    assert (result.exit_code, "is not written" in result.stderr) == (1, True), result.output
    assert "uses it" not in result.stdout
    assert not (tmp_path / "model.json").exists()


def test_a_dash_is_stdin_and_a_pipe_is_read(tmp_path: Path) -> None:
    text = "".join(json.dumps(row) + "\n" for row in LABELS)
    options = ["--output", tmp_path / "m.json", *TARGET]
    result = run("calibrate", "-", *options, input=text)
    assert result.stdout.startswith("40 labels"), result.output
    check_refused(run("calibrate", "-", *options, input=text.replace("true", "1")), "stdin, line 2 does")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_text, text)
        assert run("calibrate", pipe, *options).stdout == result.stdout
