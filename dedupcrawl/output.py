"""Where results go: stdout, or a file that appears when it is complete; and their JSON."""

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
"""What the system says of a file that takes no more."""

UNPRINTED = (*FULL, errno.EBADF)
"""What it says of stdin or stdout, which have no names: they take no more, or were closed before the command began."""

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")  # as a range of all others it would take milliseconds to compile


def to_json(value: Any, *, indent: int = 0) -> bytes:
    r"""JSON in UTF-8 without anything that a terminal would obey: it escapes whatever `printable` would change.

    A JSON reader gets the same strings. Lone surrogates, of bytes that were not UTF-8, are escapes as well.

    >>> to_json({"title": "\x9b31m\u202eé"})
    b'{"title":"\\u009b31m\\u202e\xc3\xa9"}'
    """
    try:
        raw = msgspec.json.encode(value)
        if indent:
            raw = msgspec.json.format(raw, indent=indent)
    except UnicodeEncodeError:  # by msgspec, which reads no lone surrogates either
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
    """A file to write to, which replaces a file of its name when the context ends without an error.

    After an error nothing is left of it. What is not a regular file (a pipe, a device) is written directly; None is
    stdout.

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
    place = path.resolve()  # where a link leads
    try:
        with replacing(place) as file:
            yield file
    except OSError as error:
        if error.filename == str(place) or (error.errno in FULL and error.filename is None):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


PRIVATE = 0o600
"""Who may read what is stored of pages and requests: nobody but the user."""


def private_folder(path: Path) -> Path:
    """Make a folder that only the user can read, unless it exists; returns it.

    Raises:
        OSError: It cannot be made.
    """
    path.mkdir(0o700, parents=True, exist_ok=True)
    return path


def open_private(path: str | Path, flags: int) -> int:
    """As `os.open`, also as an `opener`; only the user can read a new file."""
    return os.open(path, flags, PRIVATE)


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A file that replaces `path` when the context ends without an error; after an error nothing is left of it.

    Who may read the file stays as it is; a new one has this mode, as the user's umask has it. `path` is no link. While
    it is being written the file is called `.NAME.tmp` after that of `path`, so that what a killed process has left is
    written over; while another process writes there, a random name.

    Raises:
        OSError: It cannot be written; `filename` is `path` where the file cannot be made.
    """
    named = path.with_name(f".{path.name}.tmp")
    lock = _locked(named, mode)
    # Either name is known before the file is made: an interrupt in between leaves nothing that nobody would remove.
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
    """The lock on a file, which is made where there is none: who holds it may write, move and remove the file.

    None where another process holds it, or none can be had: the name may be too long, the file that of another user.
    """
    with suppress(OSError), ExitStack() as stack:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, mode)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), path.lstat()):  # it was not moved meanwhile by who had the lock
            stack.pop_all()
            return lock
    return None


def check_place(path: Path) -> None:
    """See whether `results` could write a file here, before there is anything to write.

    Raises:
        OSError: It could not; `strerror` says why, and names what is in the way.
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
