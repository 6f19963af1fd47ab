"""What Spark costs where one machine is enough: `train` by both engines on one log, and whether the rules are the same.

    python -m benchmarks.spark_overhead [--rows 500000] [--data ../shared/data]

The log is that of benchmarks.training_speed. Both engines have two cores: two worker processes, or local[2]. CPU and
memory are those of all processes, Spark's JVM and its Python workers among them, looked up in /proc while they run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.training_speed import write_log

POLL_SECONDS = 0.2
SUBMIT = "--master local[2] --driver-memory 2g --conf spark.ui.enabled=false pyspark-shell"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    given = parser.parse_args()
    sites = sorted((given.data / "mirrors").glob("*.tsv.gz"))
    if not sites:
        sys.exit(f"{given.data} has no mirrors/*.tsv.gz: name the folder that has with --data.")
    os.environ["PYSPARK_SUBMIT_ARGS"] = SUBMIT
    with tempfile.TemporaryDirectory() as folder:
        log, one_row = Path(folder, "log.jsonl"), Path(folder, "one.jsonl")
        rows = write_log(log, sites, given.rows)
        write_log(one_row, sites, 1)
        print(f"{rows:,} rows, {log.stat().st_size / 1e6:,.0f} MB\n", flush=True)
        print("| engine | rows | wall s | CPU s | URLs a CPU second | peak MB | sites | rules |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for engine in ("local", "spark"):
            for read, count in ((one_row, 1), (log, rows)):
                rules = Path(folder, f"{engine}-{count}")
                train = [sys.executable, "-m", "dedupcrawl.cli", "train", str(read), "--json"]
                told, wall, cpu, peak = measured([*train, "--rules", str(rules), "--engine", engine])
                print(
                    f"| {engine} | {count:,} | {wall:.1f} | {cpu:.1f} | {count / cpu:,.0f} | {peak / 2**20:,.0f} "
                    f"| {told['sites']:,} | {told['rules']:,} |",
                    flush=True,
                )
        made = [rules_in(Path(folder, f"{engine}-{rows}")) for engine in ("local", "spark")]
    print(f"\nRule files: {len(made[0])} and {len(made[1])}, {'the same' if made[0] == made[1] else 'NOT the same'}.")


def measured(command: list[str]) -> tuple[dict[str, int], float, float, int]:
    """Run a command: its JSON, wall seconds, CPU seconds and peak RSS (bytes) of it and all that it started."""
    started, peak, ticks = time.perf_counter(), 0, dict[int, int]()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        while process.poll() is None:
            found = list(tree(process.pid))
            ticks |= {pid: used for pid, used, _ in found}
            peak = max(peak, sum(rss for _, _, rss in found))
            time.sleep(POLL_SECONDS)
        if process.returncode:
            sys.exit(f"train failed with {process.returncode}")
        wall = time.perf_counter() - started
        out.seek(0)
        told = json.load(out)
    return told, wall, sum(ticks.values()) / os.sysconf("SC_CLK_TCK"), peak


def tree(root: int) -> Iterator[tuple[int, int, int]]:
    """Of a process and all below it: id, clock ticks of CPU, bytes of memory."""
    below, known = defaultdict[int, list[int]](list), dict[int, tuple[int, int]]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        pid = int(path.parent.name)
        below[int(fields[1])].append(pid)
        known[pid] = sum(map(int, fields[11:13])), int(fields[21]) * resource.getpagesize()
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        waiting += below[pid]
        if pid in known:
            yield pid, *known[pid]


def rules_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


if __name__ == "__main__":
    main()
