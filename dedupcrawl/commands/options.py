"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from dedupcrawl.commands.console import BadInputError, FailureError, check_there_are
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError, explained
from dedupcrawl.index.journal import Journal
from dedupcrawl.index.open import check_spec, folder_of, is_redis, log_beside, open_index
from dedupcrawl.index.seal import check_seal
from dedupcrawl.index.verify import table_problems
from dedupcrawl.printable import printable
from dedupcrawl.project import RULES, data_folder, rules_folder
from dedupcrawl.settings import DedupSettings, SettingError

Given = TypeVar("Given")
Result = TypeVar("Result")


def _named_or_usual(ctx: click.Context, parameter: click.Parameter, rules: Path | None) -> Path:
    """The rules that the user names, which must exist, or else the project's, which need not."""
    if rules is None:
        return rules_folder()
    check_there_are(rules)
    return rules


def no_file(ctx: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    """Refuse a path that exists and is not a folder."""
    if folder.exists() and not folder.is_dir():
        raise BadInputError(f"--rules takes a folder of rule files, and {printable(str(folder))} is a file.")
    return folder


class _File(click.Path):
    """A file to write; "-" means no file, as if the option were left out."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return None if value == "-" else super().convert(value, param, ctx)


FILE = _File(dir_okay=False, path_type=Path)
EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
INPUT_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
counts_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the counts as one JSON object (needs --output)."
)

json_anyway = click.option(
    "--json", is_flag=True, expose_value=False, help="The output is always JSON; accepted for consistency."
)

rules_option = click.option(
    "--rules",
    type=click.Path(path_type=Path),
    callback=_named_or_usual,
    help=f"Rule file, or folder of rule files.  [default: {RULES}/ of the project]",
)

folder_option = click.option(
    "--rules",
    "folder",
    default=rules_folder,
    type=click.Path(path_type=Path),
    callback=no_file,
    help=f"Folder of rule files.  [default: {RULES}/ of the project]",
)


def _software(_context: click.Context, _option: click.Parameter, given: str) -> bool | Path:
    """Read --software like DEDUP_SOFTWARE, because commands do not read the project's settings."""
    try:
        return DedupSettings.read({"DEDUP_SOFTWARE": given}).software
    except SettingError as error:
        raise click.BadParameter(str(error).removeprefix("DEDUP_SOFTWARE: ")) from error


software_option = click.option(
    "--software",
    metavar="FOLDER",
    default="True",
    callback=_software,
    help="As DEDUP_SOFTWARE, which commands do not read: a folder of files that describe programs of your own, in "
    "addition to the known ones; or False: use no known software.",
)

sets_option = click.option(
    "--set", "sets", multiple=True, metavar="NAME=VALUE", help="Any DEDUP_ setting, e.g. a threshold."
)


def read_settings(given: Mapping[str, str], sets: Sequence[str]) -> DedupSettings:
    """The settings of a command: those in `given`, overridden by those of --set, whose DEDUP_ prefix is optional."""
    values = dict(given)
    for pair in sets:
        name, equals, value = pair.partition("=")
        if not equals:
            raise click.UsageError(f"--set takes NAME=VALUE, not {pair!r}.")
        name = name.strip().upper()
        values[name if name.startswith("DEDUP_") else f"DEDUP_{name}"] = value
    return DedupSettings.read(values)


index_option = click.option(
    "--index", help="As in DEDUP_INDEX; a bare path is an LMDB index.  [default: the project's]"
)


def run_option(default: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option that chooses the crawls of an index to show: see `selection.chosen_run`."""
    about = "Name of a crawl, 'last', or 'all' for every crawl in the index."
    return click.option("--run", default=default, show_default=True, help=about)


rows_option = click.option("--output", type=FILE, help="Write the rows here.  [default: stdout]")


def index_folder(spec: str | None) -> Path:
    """The folder of the LMDB index that `spec` names; for an index on a server, the default folder of a local one."""
    return folder_of(spec or "") or data_folder() / "index"


def log_of(spec: str | None) -> Path:
    """Where a crawl with this index writes its log by default."""
    return log_beside(index_folder(spec))


def _nothing_at(path: Path) -> BadInputError:
    if path.exists() and not path.is_dir():
        return BadInputError(f"{path} is a file: --index takes the folder of an index, such as .scrapy/dedup/index.")
    below = next((below for below in (path / "dedup" / "index", path / "index") if below.is_dir()), None)
    if below is not None:
        return BadInputError(f"there is no index at {path}, but at {below}: name that with --index.")
    return BadInputError(
        f"there is no index at {path}: crawl first, or name one with --index (JOBDIR/dedup/index, if with JOBDIR)."
    )


def apart(work: Callable[[Given], Result], given: Given, where: str) -> Result:
    """Run `work` in its own process: LMDB has no checksums, and a damaged page may crash the process that reads it.

    Raises:
        FailureError: The process crashed; `where` names the index.
    """
    import multiprocessing  # imported here, so that commands import only what they need
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        try:
            return pool.submit(work, given).result()
        except BrokenProcessPool as error:
            raise FailureError(
                f"{where} is damaged: the process that read it was aborted. Take another path, or delete it and "
                "crawl again."
            ) from error


def _look_at(folder: Path) -> None:
    """Check that reading an index will not crash this process: it has a valid seal, or its tables can be read."""
    if not check_seal(folder) and (problems := apart(_table_problems, folder, str(folder))):
        raise explained(IndexDamagedError(problems[0]), folder)


def _table_problems(folder: Path) -> list[str]:
    with suppress(OSError), closing(Journal(folder, create=False)) as journal:  # the next to open it reports this
        return table_problems(journal)
    return []


def _open(spec: str, path: Path) -> Index:
    """Open an index for reading; rebuild a damaged segment first, if the default settings make the same keys."""
    try:
        return open_index(spec, [], default_path=path, is_looked_at=True)
    except IndexDamagedError:
        with suppress(IndexMismatchError, IndexDamagedError):
            open_index(spec, make_checks(CHECK_NAMES, {}, off=CHECK_NAMES), default_path=path).close()
        return open_index(spec, [], default_path=path, is_looked_at=True)


@contextmanager
def open_existing(spec: str | None, *, is_looked_at: bool = False) -> Iterator[Index]:
    """Open the index that `spec` names, or else the project's, and close it at the end.

    A local index is examined first, as a damaged one may crash the process, unless `is_looked_at` makes it unnecessary.

    Raises:
        BadInputError: There is no such index.
        IndexMismatchError, IndexDamagedError, OSError: The index cannot be used, now or later.
    """
    spec = spec or "lmdb:"
    path = index_folder(spec)
    if spec.startswith("memory:"):
        raise BadInputError(
            "memory: is an index that is deleted at the end of its crawl; name a folder or a Redis index."
        )
    try:
        check_spec(spec)
        if "://" not in spec and not path.is_dir():
            raise _nothing_at(path)
        if not is_looked_at and not is_redis(spec):
            _look_at(path)
        index = _open(spec, path)
    except FileNotFoundError:
        raise _nothing_at(path) from None
    except ValueError as error:
        raise BadInputError(str(error)) from error
    with closing(index):
        yield index
