from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPTIONS = (
    "--master local[2] --driver-memory 1g --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2"
    " --conf spark.default.parallelism=2 --conf spark.sql.adaptive.enabled=false"  # what is small is only slowed by it
    " --conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN"  # it compiles longer
    " --conf spark.driver.host=localhost --conf spark.driver.bindAddress=127.0.0.1"
    " --driver-java-options "
    + shlex.quote(  # thousands of classes are loaded for a minute's use
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:InitialHeapSize=700m -XX:NewSize=400m"
        " -XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    )
)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session for all tests; commands that run in this process use it, too."""
    pytest.importorskip("pyspark", reason="needs PySpark: pip install 'dedupcrawl[spark]'")
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        pytest.skip("needs Java: neither on the PATH nor in JAVA_HOME")
    from dedupcrawl.spark.session import spark_session

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_SUBMIT_ARGS", f"{OPTIONS} pyspark-shell")
        environment.setenv("SPARK_LOCAL_DIRS", str(tmp_path_factory.mktemp("spark")))
        with spark_session() as session:
            yield session
