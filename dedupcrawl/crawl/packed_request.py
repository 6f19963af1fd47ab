"""Requests as bytes, so that they outlive the process."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

_USUAL = Request("data:,").to_dict()  # what a request has unless it is said otherwise


def pack_request(request: Request, spider: Spider) -> bytes:
    """MessagePack of all that is not as usual about the request.

    Raises:
        ValueError: its meta would come back as something else, or its callback is not a method of the spider.
    """
    fields = request.to_dict(spider=spider)
    if "_class" not in fields:  # others may have other defaults
        fields = {name: value for name, value in fields.items() if name == "url" or value != _USUAL.get(name, ...)}
    try:
        packed = msgspec.msgpack.encode(fields, enc_hook=_plain)
        same = msgspec.msgpack.decode(packed) == fields  # not so for sets, tuples, dates and objects
    except (TypeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error
    if not same:
        raise ValueError("its meta has a value that is not a number, text, list or dict of these")
    return packed


def _plain(value: object) -> str:
    """What lxml and parsel give for text is text: a link extractor puts it into meta."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{type(value).__name__}, which is not text, number, list or dict")


def unpack_request(packed: bytes, spider: Spider) -> Request:
    """What `pack_request` was given.

    Raises:
        ValueError: the spider has no such method any more, its class is gone or has changed, or these are other bytes.
    """
    try:
        fields: dict[str, Any] = msgspec.msgpack.decode(packed)
        return request_from_dict(fields, spider=spider)
    except Exception as error:  # to find its class, modules are imported, which may do anything
        raise ValueError(f"{type(error).__name__}: {error}") from error


def restored(packed: bytes, spider: Spider, url: str, **meta: object) -> Request:
    """What `pack_request` was given; where that cannot be read a request for its URL, with this meta.

    Raises:
        ValueError: There is but a URL for which Scrapy makes no request.
    """
    try:
        if packed:
            return unpack_request(packed, spider)
    except ValueError as error:
        logger.warning(
            "The stored request for %s cannot be read: if it is sent again, it has only its URL and the spider's "
            "default callback (%s).",
            printable(url),
            printable(str(error)),
        )
    return Request(url, meta=meta)
