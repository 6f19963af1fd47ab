"""Requests come back as they were packed, or not at all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from dedupcrawl.crawl.packed_request import pack_request, unpack_request
from tests.fixtures import table_of


class Some(Spider):
    name = "some"

    def product(self, response: Any) -> None:
        pass


SPIDER = Some()


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://a.example/"),
        Request("http://a.example/", SPIDER.product, "POST", {"A": "b"}, b"\xff\x00", meta={"depth": 3, "a": [1, {}]}),
        FormRequest("http://a.example/", formdata={"a": "b"}, priority=4, dont_filter=True, cb_kwargs={"page": 2}),
    ],
)
def test_a_request_comes_back_as_it_was(request_: Request) -> None:
    again = unpack_request(pack_request(request_, SPIDER), SPIDER)
    assert type(again) is type(request_)
    assert again.to_dict(spider=SPIDER) == request_.to_dict(spider=SPIDER)
    assert again.callback == request_.callback


def test_text_of_a_link_extractor_comes_back_as_text() -> None:
    """CrawlSpider has `link_text` in the meta of each request, which lxml made."""
    page = HtmlResponse("http://a.example/", body=b"<a href=/2>next page</a>", encoding="utf-8")
    (text,) = (link.text for link in LinkExtractor().extract_links(page))
    assert type(text) is not str
    again = unpack_request(pack_request(Request("http://a.example/", meta={"link_text": text}), SPIDER), SPIDER)
    assert again.meta == {"link_text": "next page"}
    assert type(again.meta["link_text"]) is str


@pytest.mark.parametrize("meta", [{"a": {1}}, {"a": (1, 2)}, {"a": object()}])
def test_what_would_come_back_as_something_else_is_refused(meta: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        pack_request(Request("http://a.example/", meta=meta), SPIDER)


@table_of("crawl", "a_request_that_the_project_no_longer_knows_is_a_value_error")
def test_a_request_that_the_project_no_longer_knows_is_a_value_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]
) -> None:
    (tmp_path / "broken_requests.py").write_text("raise KeyError('a setting of this project')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=r"\w"):
        unpack_request(msgspec.msgpack.encode(fields), SPIDER)
    assert "broken_requests" not in sys.modules


@given(st.binary() | st.recursive(st.none() | st.integers(-(2**63), 2**63 - 1), st.lists).map(msgspec.msgpack.encode))
def test_other_bytes_are_a_value_error(packed: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        unpack_request(packed, SPIDER)
