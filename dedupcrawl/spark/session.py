"""A Spark session, and an error message for each way in which it fails.

Spark's own configuration decides where and how it runs: spark-defaults.conf, SPARK_CONF_DIR or PYSPARK_SUBMIT_ARGS. By
default it is this machine, `local[*]`.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]  # it ships no types
from pyspark import SparkConf
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dedupcrawl.crawl_logs.tally import LogError
from dedupcrawl.workers import WorkFailedError

_UNLESS_SAID = {
    "spark.log.level": "FATAL",  # we report a failure in one sentence, which every task would repeat
    "spark.ui.showConsoleProgress": "true" if sys.stderr.isatty() else "false",
}
_ROWS_A_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BYTES_A_BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
_PYTHON = "PYSPARK_PYTHON"
_UNREAD = "[FAILED_READ_FILE"  # Spark's messages about unreadable files begin like this


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """The existing session, or else a new one that ends with the context.

    Raises:
        WorkFailedError: There is no Java, the cluster cannot be reached, or a job inside the context failed.
        LogError: A file that Spark should read inside the context is missing or unreadable.
    """
    there = SparkSession.getActiveSession()
    session = there or _started()
    try:
        yield session
    except (PySparkException, Py4JError) as error:
        raise _told(error) from error
    finally:
        if there is None:
            session.stop()


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Restore the handler of interrupts: PySpark's handler calls the JVM during another call, and prints the errors.

    Jobs need no handler: they end with the session, which ends with its context.
    """
    logging.getLogger().addFilter(_is_news)
    before = signal.getsignal(signal.SIGINT)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)


def _is_news(record: logging.LogRecord) -> bool:
    """False for Py4J's messages, from the root logger, about calls that an interrupt or error ends; we raise both."""
    return "while sending command" not in record.getMessage()


def _started() -> SparkSession:
    java_home = os.environ.get("JAVA_HOME")
    if not shutil.which(str(Path(java_home, "bin", "java")) if java_home else "java"):
        where = f"not in JAVA_HOME ({java_home})" if java_home else "not on the PATH"
        raise WorkFailedError(f"Spark needs Java 17 or newer, which is {where}: install it, or set JAVA_HOME.")
    os.environ.setdefault(_PYTHON, sys.executable)  # the Python on the PATH may not have this package
    try:
        conf = SparkConf()
        for name, value in _UNLESS_SAID.items():
            conf.setIfMissing(name, value)
        conf.set("spark.sql.session.timeZone", "UTC")
        with _own_interrupts():
            session = SparkSession.builder.appName("dedupcrawl").config(conf=conf).getOrCreate()
    except (PySparkException, Py4JError) as error:
        raise WorkFailedError(f"Spark does not start ({_first_line(error)}): what it said stands above.") from error
    # A whole batch is held in memory, and rows may have any length.
    session.conf.set(_ROWS_A_BATCH, 50_000)
    session.conf.set(_BYTES_A_BATCH, 32 << 20)
    return session


def _told(error: Exception) -> Exception:
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    line = _first_line(error)
    if condition == "PATH_NOT_FOUND":
        return LogError(f"{line.removeprefix('[PATH_NOT_FOUND] ').partition(' SQLSTATE')[0]}")
    unread = next((text for text in str(error).splitlines() if _UNREAD in text), None)  # Spark 4.0: in a nested cause
    if unread is not None:
        return LogError(f"Spark cannot read a log: {unread[unread.index(_UNREAD) :].strip()}")
    return WorkFailedError(f"Spark failed: {line}")


def _first_line(error: Exception) -> str:
    """The first line of an error's message; the last line if it is the traceback of a Python worker."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception.toString()).partition("\n")[0]
    return lines[-1] if "Traceback" in str(error) else lines[0]
