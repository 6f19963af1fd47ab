"""What `--engine spark` cannot do is told before Spark starts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import warm

LOG = '{"url": "http://a.com/", "text_digest": "1"}\n'


def train(folder: Path, engine: str, *logs: str) -> tuple[int, str]:
    """Exit status and sentence of a training where there is no Java."""
    command = ["dedupcrawl", "train", *logs, "--rules", str(folder / "rules"), "--engine", engine]
    done = warm.run(command, cwd=folder, env={**os.environ, "JAVA_HOME": str(folder)})
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.fixture(autouse=True)
def logs(tmp_path: Path) -> None:
    for name, content in {"good": LOG, "digests": "name\tdigest\nhttp://a.com/\t1\n", "tsv": "url\tdigest\n"}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")


def test_without_java(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    assert train(tmp_path, "spark", "good") == (
        1,
        f"dedupcrawl train: Spark needs Java 17 or newer, which is not in JAVA_HOME ({tmp_path}): "
        "install it, or set JAVA_HOME.\n",
    )


def test_a_path_that_is_not_there_and_a_log_that_spark_cannot_read(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    for log, says in {"nowhere": "'nowhere' does not exist", "tsv": "tsv is TSV, which Spark cannot split"}.items():
        status, said = train(tmp_path, "spark", "good", log)
        assert (status, says in said) == (2, True), said
    assert train(tmp_path, "spark", "good", "digests") == train(tmp_path, "local", "good", "digests")


def test_only_spark_reads_folders_and_uris(tmp_path: Path) -> None:
    assert "is a directory" in train(tmp_path, "local", str(tmp_path))[1]
    assert "'s3a://bucket/log' does not exist" in train(tmp_path, "local", "s3a://bucket/log")[1]
