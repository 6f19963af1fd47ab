from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import warm

LOG = '{"url": "http://a.com/", "text_digest": "1"}\n'


def run(log: str, folder: Path, engine: str, **environment: str) -> tuple[int, str]:
    command = ["dedupcrawl", "train", log, "--rules", str(folder / "rules"), "--engine", engine]
    done = warm.run(command, cwd=folder, env={**os.environ, **environment})
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_without_pyspark(tmp_path: Path) -> None:
    (tmp_path / "pyspark.py").write_text("raise ModuleNotFoundError(name='pyspark')\n")  # found before the real one
    log = tmp_path / "log"
    log.write_text(LOG)
    assert run(str(log), tmp_path, "spark") == (
        1,
        "dedupcrawl train: this needs pyspark: pip install 'dedupcrawl[spark]'.\n",
    )


def test_without_java(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    log = tmp_path / "log"
    log.write_text(LOG)
    status, said = run(str(log), tmp_path, "spark", JAVA_HOME=str(tmp_path))
    assert status == 1
    assert said == (
        f"dedupcrawl train: Spark needs Java 17 or newer, which is not in JAVA_HOME ({tmp_path}): "
        "install it, or set JAVA_HOME.\n"
    )


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_path_that_is_not_there(tmp_path: Path, engine: str) -> None:
    status, said = run("nowhere.jsonl", tmp_path, engine)
    assert status == 2
    assert "'nowhere.jsonl' does not exist" in said


def test_only_spark_reads_folders_and_uris(tmp_path: Path) -> None:
    assert "is a directory" in run(str(tmp_path), tmp_path, "local")[1]
    assert "'s3a://bucket/log' does not exist" in run("s3a://bucket/log", tmp_path, "local")[1]


@pytest.mark.parametrize("head", ["name\tdigest", "url\tdigest"])
def test_a_log_that_cannot_be_read_is_told_before_spark_starts(tmp_path: Path, head: str) -> None:
    pytest.importorskip("pyspark")
    (tmp_path / "good").write_text(LOG)
    (tmp_path / "bad").write_text(f"{head}\nhttp://a.com/\t1\n")
    command = ["dedupcrawl", "train", "good", "bad", "--rules", "rules", "--engine"]
    without_java = {**os.environ, "JAVA_HOME": str(tmp_path)}
    spark, local = (warm.run([*command, engine], cwd=tmp_path, env=without_java) for engine in ("spark", "local"))
    assert (spark.returncode, spark.stdout) == (2, "")
    assert "bad is TSV, which Spark cannot split" in spark.stderr if head[0] == "u" else spark.stderr == local.stderr
