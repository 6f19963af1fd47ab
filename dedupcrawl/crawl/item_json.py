"""An item as JSON, as a feed would write it."""

from __future__ import annotations

from typing import Any

from itemadapter import ItemAdapter
from scrapy.utils.serialize import ScrapyJSONEncoder

_encoder = ScrapyJSONEncoder(ensure_ascii=False)


def item_json(item: Any) -> str:
    """One JSON object.

    Raises:
        Exception: Whatever there is in it that has no JSON form may raise.
    """
    return _encoder.encode(ItemAdapter(item).asdict())
