"""What Spark costs where one machine is enough: `train` by both engines on one log, and whether the rules are the same.

    python -m benchmarks.spark_overhead [--rows 500000] [--data ../shared/data]

The log is that of benchmarks.training_speed. Both engines have two cores: two worker processes, or local[2].
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.training_speed import measured, write_log

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


def rules_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


if __name__ == "__main__":
    main()
