"""Requests as bytes, so that they outlive the process."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

_USUAL = Request("data:,").to_dict()  # default values of a request's fields


def pack_request(request: Request, spider: Spider) -> bytes:
    """Encode the fields of a request that differ from Scrapy's defaults as MessagePack.

    Raises:
        ValueError: Its meta would not be decoded as it is, or its callback is not a method of the spider.
    """
    fields = request.to_dict(spider=spider)
    if "_class" not in fields:  # other classes may have other defaults
        fields = {name: value for name, value in fields.items() if name == "url" or value != _USUAL.get(name, ...)}
    try:
        packed = msgspec.msgpack.encode(fields, enc_hook=_plain)
        same = msgspec.msgpack.decode(packed) == fields  # False for sets, tuples, dates and objects
    except (TypeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error
    if not same:
        raise ValueError("its meta has a value that is not a number, text, list or dict of these")
    return packed


def _plain(value: object) -> str:
    """Turn a subclass of str into str: link extractors put strings of lxml and parsel into meta."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{type(value).__name__}, which is not text, number, list or dict")


def unpack_request(packed: bytes, spider: Spider) -> Request:
    """Decode the request that `pack_request` has encoded.

    Raises:
        ValueError: The spider no longer has its callback, its class is gone or has changed, or the bytes are damaged.
    """
    try:
        fields: dict[str, Any] = msgspec.msgpack.decode(packed)
        return request_from_dict(fields, spider=spider)
    except Exception as error:  # it imports the module of the request's class, which may raise anything
        raise ValueError(f"{type(error).__name__}: {error}") from error


def restored(packed: bytes, spider: Spider, url: str, **meta: object) -> Request:
    """Decode a packed request; if there is none, or it cannot be read, make a request for `url` with this meta.

    Raises:
        ValueError: Scrapy makes no request for such a URL.
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
