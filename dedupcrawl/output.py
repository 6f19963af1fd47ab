"""Output: results go to stdout, or to a file that replaces the old one once it is complete; and their JSON."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Error numbers for a file that cannot take more data."""

UNPRINTED = (*FULL, errno.EBADF)
"""Error numbers for stdin and stdout, which have no names: they take no more data, or were closed from the start."""

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")  # the equivalent positive range would take milliseconds to compile


def to_json(value: Any, *, indent: int = 0) -> bytes:
    r"""JSON in UTF-8 that escapes all control characters (whatever `printable` would change), so it is safe to print.

    A JSON reader gets the same strings. Lone surrogates, which stand for bytes that were not UTF-8, are escaped too.

    >>> to_json({"title": "\x9b31m\u202eé"})
    b'{"title":"\\u009b31m\\u202e\xc3\xa9"}'
    """
    try:
        raw = msgspec.json.encode(value)
        if indent:
            raw = msgspec.json.format(raw, indent=indent)
    except UnicodeEncodeError:  # msgspec does not encode lone surrogates
        shape: dict[str, Any] = {"indent": indent} if indent else {"separators": (",", ":")}
        raw = json.dumps(msgspec.to_builtins(value), **shape).encode()
    if raw.isascii() and b"\x7f" not in raw:
        return raw
    text = raw.decode("utf-8", "replace")
    return raw if text.isprintable() else _NOT_ASCII.sub(_escaped, text).encode()


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable():
        return character
    return json.dumps(character)[1:-1] if ord(character) > 0x7F else "\\u007f"


@contextmanager
def results(path: Path | None) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` when the context ends without an error; after an error it leaves nothing.

    A path that is not a regular file (a pipe, a device) is written directly; None is stdout.

    Raises:
        OSError: The file cannot be written.
    """
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = path.resolve()  # replace the target of a link, not the link
    try:
        with replacing(place) as file:
            yield file
    except OSError as error:
        if error.filename == str(place) or (error.errno in FULL and error.filename is None):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


PRIVATE = 0o600
"""Mode of the files that store pages and requests: only the user may read them."""


def private_folder(path: Path) -> Path:
    """Make a folder that only the user can read, unless it exists; returns it.

    Raises:
        OSError: The folder cannot be made.
    """
    path.mkdir(0o700, parents=True, exist_ok=True)
    return path


def open_private(path: str | Path, flags: int) -> int:
    """Like `os.open`, and usable as an `opener`; a new file can be read by the user only."""
    return os.open(path, flags, PRIVATE)


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` when the context ends without an error; after an error it leaves nothing.

    An existing file keeps its permissions; a new one gets `mode` less the user's umask. `path` must not be a link. The
    temporary file is called `.NAME.tmp`, so that a later process overwrites what a killed one has left, or has a random
    name while another process holds that one.

    Raises:
        OSError: The file cannot be written; `filename` is `path` if it cannot be made.
    """
    named = path.with_name(f".{path.name}.tmp")
    lock = _locked(named, mode)
    # The name is known before the file is made, so even after an interrupt in between the file is removed.
    temporary = named if lock is not None else path.with_name(f".{secrets.token_hex(8)}{path.suffix}.tmp")
    try:
        with open(temporary, "xb" if lock is None else "wb", opener=partial(os.open, mode=mode)) as file:
            yield file
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _locked(path: Path, mode: int) -> int | None:
    """The lock on a file, which is made if it is missing; only its holder may write, move and remove the file.

    None if another process holds it, or the file cannot be locked, such as for a name that is too long.
    """
    with suppress(OSError), ExitStack() as stack:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, mode)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), path.lstat()):  # the last holder has not moved it meanwhile
            stack.pop_all()
            return lock
    return None


def check_place(path: Path) -> None:
    """Check, before there are any results, that `results` can write a file here.

    Raises:
        OSError: It cannot; `strerror` names the obstacle.
    """
    place = path.resolve()
    folder = place.parent
    if path.exists() and not (place.is_file() or place.is_dir()):  # a pipe, a device
        return
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "that is a folder", str(path))
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {path.parent}", str(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, f"nothing may be written in {path.parent}", str(path))
