"""Does a crawl under random circumstances lose a text that Scrapy alone stores?

    python -m benchmarks.random_webs --seeds FROM TO [--keep FOLDER]

Each seed makes a little web (`web`): owners of pages who may lie of their own and of each other's, redirects, canonical
links, permalinks, error pages of status 200, forms, session ids, circles; rules for it, right and wrong; and a few
crawls of it with one index: some are killed, or stopped and resumed, lose items in a pipeline, or find rules switched
off and on. After each crawl that has come to its end undisturbed, and after the last, which does, every text that
Scrapy alone stores must be in an output of one of the crawls so far.

Prints a line for each web that loses a text, and as its last line "lost: N texts in M webs". With --keep the folders of
these webs are left there: feeds, logs, rules, index.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.random_webs.crawling import FINISHED, STOPPED, Circumstances, crawl, in_process, tell, texts_in, warm_up
from benchmarks.random_webs.server import start
from benchmarks.random_webs.web import Web
from dedupcrawl.cli import run as run_command
from dedupcrawl.urls.rule_files import SiteRules, read_rules, replace_rules, write_rules


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs=2, type=int, required=True, metavar=("FROM", "TO"), help="TO is left out")
    parser.add_argument("--keep", type=Path, help="where the folders of webs that lose a text are left")
    arguments = parser.parse_args()
    port, server = start()
    lost = webs = 0
    try:
        tell(port, seed=0)
        with tempfile.TemporaryDirectory() as folder:
            warm_up(port, Path(folder))
        for seed in range(*arguments.seeds):
            place = Path(tempfile.mkdtemp(prefix=f"web-{seed}-"))
            found = _Trial(seed, port, place, arguments.keep is not None).run()
            if found:
                lost, webs = lost + len(found), webs + 1
                print(f"{seed}: {len(found)} of {found[0]}", flush=True)
                if arguments.keep:
                    shutil.copytree(place, arguments.keep / str(seed), dirs_exist_ok=True)
            shutil.rmtree(place)
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
    print(f"lost: {lost} texts in {webs} webs")
    return int(lost > 0)


@dataclass
class _Trial:
    """The crawls of one web."""

    seed: int
    port: int
    folder: Path
    has_logs: bool = False

    def run(self) -> list[str]:
        """The texts that are lost, each with the crawl that should have stored it; or what went wrong."""
        web, random, stored = Web(self.seed), Random(-1 - self.seed), set[str]()
        tell(self.port, seed=self.seed)
        rules = self.folder / "rules"
        rules.mkdir()
        for site, those in web.rules.items():
            write_rules(rules, SiteRules(site, tuple(those)))
        settings = self._settings(web, random)
        count = random.randint(2, 4)
        for number in range(1, count + 1):
            is_last = number == count
            wanted = self._alone(number)
            kind = "whole" if is_last else random.choice(["whole", "whole", "killed", "stopped", "failing", "both"])
            ended = self._disturbed(kind, number, settings, random, len(wanted))
            for feed in self.folder.glob("out-*.jsonl"):
                stored |= texts_in(feed)
            if ended != FINISHED and (is_last or kind not in ("killed", "both")):
                return [f"crawl {number} ({kind}) ended with {ended}: {self._last_words()}"]
            if ended == FINISHED and kind in ("whole", "stopped") and not wanted <= stored:
                return [f"crawl {number} of {count}, {kind}: {text[:60]}" for text in sorted(wanted - stored)]
            self._switch(rules, random)
            if random.random() < 0.4:
                self._train(rules)
        return []

    def _alone(self, number: int) -> set[str]:
        """What Scrapy alone stores."""
        feed = self.folder / f"alone-{number}.jsonl"
        if self._crawl(Circumstances(number, {}), feed) != FINISHED or not (wanted := texts_in(feed)):
            raise RuntimeError(f"Scrapy alone stores nothing of web {self.seed}: {self._last_words()}")
        return wanted

    def _last_words(self) -> str:
        """The end of the log that was written last."""
        logs = sorted(self.folder.glob("*.log"), key=lambda path: path.stat().st_mtime)
        return logs[-1].read_text(errors="replace")[-2_000:] if logs else "it has no log"

    def _settings(self, web: Web, random: Random) -> dict[str, Any]:
        return {
            "ADDONS": {"dedupcrawl.Addon": 500},
            "DEDUP_INDEX": f"lmdb:{self.folder / 'index'}",
            "DEDUP_CRAWL_LOG": str(self.folder / "log.jsonl"),
            "DEDUP_RULES": str(self.folder / "rules"),
            "DEDUP_SCOPE": random.choice(["run", "spider", "site", "all"]),
            "DEDUP_KEEP": random.choice(["first", "first", "canonical"]),
            "DEDUP_CONFIRM": random.choice(["feed", "feed", "item"]),
            "DEDUP_TRIAL_SHARE": 1.0 if web.is_mixed else 0.02,
            "DEDUP_GC_FREEZE": False,
            "CONCURRENT_REQUESTS_PER_DOMAIN": random.choice([1, 2, 8]),
            "DEPTH_PRIORITY": random.choice([0, 1]),
        }

    def _disturbed(self, kind: str, number: int, settings: dict[str, Any], random: Random, size: int) -> int:
        """One crawl, from its beginning to its end, however often it is interrupted."""
        of = Circumstances(number, settings)
        if kind in ("failing", "both"):
            of = replace(of, settings={**settings, "WEB_FAILING": random.choice([0.1, 0.5]), "WEB_SALT": number})
        if kind in ("killed", "both"):
            of = replace(of, kill_after=random.randint(1, size))
        if kind == "stopped":
            job = {"JOBDIR": str(self.folder / f"job-{number}")}
            after = {"CLOSESPIDER_PAGECOUNT": random.randint(1, size)}
            if (
                ended := self._crawl(replace(of, settings={**settings, **job, **after}), self._feed(number))
            ) != STOPPED:
                return ended
            return self._crawl(replace(of, settings={**settings, **job}), self._feed(f"{number}b"))
        return self._crawl(of, self._feed(number))

    def _feed(self, number: int | str) -> Path:
        return self.folder / f"out-{number}.jsonl"

    def _crawl(self, of: Circumstances, feed: Path) -> int:
        logs = {"LOG_ENABLED": True, "LOG_LEVEL": "DEBUG"} if self.has_logs else {}
        return crawl(self.port, self.folder, replace(of, settings={**of.settings, **logs}), feed)

    def _train(self, rules: Path) -> None:
        """It fails where nothing was logged."""
        in_process(lambda: run_command(["train", str(self.folder / "log.jsonl"), "--rules", str(rules)]), self.folder)

    def _switch(self, folder: Path, random: Random) -> None:
        """Somebody looks at the rules, and switches a few off, or on."""
        for path in sorted(folder.glob("*.toml")):
            rules = read_rules(path).rules
            states = {rule.id: random.choice(["active", "disabled"]) for rule in rules if random.random() < 0.15}
            replace_rules(path, [replace(rule, state=states.get(rule.id, rule.state)) for rule in rules])  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main())
