"""Opens an index that is there already, to be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dedupcrawl.commands.errors import BadInputError, FailureError
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.open import check_spec, folder_of, open_index
from dedupcrawl.project import data_folder

DEFAULT_INDEX_HELP = "As in DEDUP_INDEX; a bare path is an LMDB index.  [default: the project's]"


def index_folder(spec: str | None) -> Path:
    """Where the LMDB index that `spec` names lies, or would, if it is on a server instead.

    A crawl writes its log beside that unless told otherwise.
    """
    return folder_of(spec or "", data_folder() / "index")


def _nothing_at(path: Path) -> BadInputError:
    below = next((below for below in (path / "dedup" / "index", path / "index") if below.is_dir()), None)
    if below is not None:
        return BadInputError(f"there is no index at {path}, but at {below}: name that with --index.")
    return BadInputError(
        f"there is no index at {path}: crawl first, or name one with --index (JOBDIR/dedup/index, if with JOBDIR)."
    )


def _open(spec: str, path: Path) -> Index:
    """To be read; a damaged segment is made anew first, where the index was made with the settings by default."""
    try:
        return open_index(spec, [], default_path=path)
    except IndexDamagedError:
        with suppress(IndexMismatchError, IndexDamagedError):
            open_index(spec, make_checks(CHECK_NAMES, {}), default_path=path).close()
        return open_index(spec, [], default_path=path)


@contextmanager
def open_existing(spec: str | None) -> Iterator[Index]:
    """The index that `spec` names, else that of the project of the working directory; closed at the end.

    Raises:
        BadInputError: there is none, or it cannot be used.
        FailureError: it is damaged, or cannot be read, now or while it is in use.
    """
    spec = spec or "lmdb:"
    path = index_folder(spec)
    if spec.startswith("memory:"):
        raise BadInputError("memory: is an index that ends with its crawl; name one that was kept.")
    try:
        check_spec(spec)
    except ValueError as error:
        raise BadInputError(str(error)) from error
    if "://" not in spec and not path.is_dir():
        raise _nothing_at(path)
    try:
        index = _open(spec, path)
    except FileNotFoundError:
        raise _nothing_at(path) from None
    except (IndexMismatchError, ValueError) as error:
        raise BadInputError(str(error)) from error
    except (IndexDamagedError, OSError) as error:
        raise FailureError(str(error)) from error
    try:
        yield index
    except BrokenPipeError:  # of who reads what is printed
        raise
    except (IndexDamagedError, OSError) as error:
        raise FailureError(str(error)) from error
    finally:
        index.close()
