"""A crawl log of several sites with all that logs have: redirects, errors, broken lines, bytes that are not UTF-8."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def rows() -> list[Row]:
    """Some four hundred rows of six sites, the first of them much larger than the others."""
    made: list[Row] = []
    for host, pages in (("large.com", 60), ("www.b.org", 12), ("例え.jp", 12), ("xn--r8jz45g.jp", 5), ("c.net", 1)):
        for page in range(pages):
            text = f"{host} page {page}"
            for variant in range(3):
                url = f"http://{host}/page/{page}?sid={page * 97 + variant * 13:06x}"
                made.append({"url": url, "text_digest": text, "importance": page * 0.5})
    made += [{"url": f"http://large.com/wiki/{i}", "text_digest": f"article {i}"} for i in range(50)]
    made += [{"url": f"http://large.com/wiki/gone{i}", "text_digest": "no such page"} for i in range(70)]
    made += [{"url": f"http://large.com/e{i}", "text_digest": "oops", "status": 500} for i in range(4)]
    made += [{"url": f"http://large.com/empty{i}", "digest": "x", "bytes": 0} for i in range(3)]
    for i in range(20):
        target = {"url": f"http://large.com/new/{i}", "text_digest": f"new {i}", "canonical": f"/new/{i}?from=feed"}
        made.append({"url": f"http://large.com/old/{i}", "status": 301, "redirect_to": f"/new/{i}"})
        made += [target, {"url": f"http://large.com/print/{i}", "digest": f"p{i}", "duplicate_of": target["url"]}]
        made += [{"url": f"http://large.com/p/{i}?ref={at}", "canonical": f"/p/{i}"} for at in range(i % 3)]
        made += [
            {
                "url": f"http://large.com/near/{i}{query}",
                "canonical": f"/near/{i}",
                "digest": f"n{i}{query}",
                "simhash": bits,
            }
            for query, bits in (
                ("", "f0f0f0f0f0f0f0f0"),
                ("?ref=1", "f0f0f0f0f0f0f0f7"),
                ("?page=2", "0f0f0f0ff0f0f0ff"),
            )
        ]
        made += [{"url": f"http://large.com/near/{i}?ref=1", "unique": True}] * (i % 2)
        made += [
            {"url": f"http://large.com/list/{i}?{query}", "digest": f"l{i}{query}", "simhash": bits}
            for query, bits in (("b=1&a=x+y", "f0f0f0f0f0f0f0f0"), ("a=x%20y&b=1", "f0f0f0f0f0f0f0cf"))
        ]
        again = {"url": f"http://large.com/again/{i}", "digest": f"again {i}"}
        made += [{**again, "digest": "carried_over", "duplicate_of": "/new/0"}] * (i % 2) + [again]
        made += [{"url": again["url"], "duplicate_of": f"/{to}/{i}"} for to in ("print", "new")[: i % 3]]
        both = [f"http://large.com/{kind}/{i}" for kind in ("commit", "diff", "patch", "raw")]  # one text, two pages
        made += [{"url": url, "text_digest": f"change {i}"} for url in both]
        made += [{"url": url, "unique": True, "run": f"{i % 3}"} for url in both[: 2 - (i % 4 == 3)]]
        made += [{"url": both[2], "duplicate_of": both[1]}] * (i % 2)
        post = f"http://large.com/topic/{i}/post"  # one was believed, one held, one failed in the end
        made += [
            {"url": f"{post}/{i}", "alias_of": f"/topic/{i}"},
            {"url": f"http://large.com/topic/{i}", "digest": f"t{i}"},
        ]
        made += [{"url": f"{post}/9{i}", "digest": f"t{i}, again"}, {"url": f"{post}/8{i}", "digest": f"t{i}, other"}]
        made += [{"url": f"{post}/{at}{i}", "alias_of": f"/topic/{i}", "alias_held": True} for at in (8, 9)]
        made += [{"url": f"{post}/8{i}", "alias_of": f"/topic/{i}", "alias_held": False}]
        made += [{"url": f"http://large.com/wrong/{i}", "canonical": "/"}, {**target, "text_digest": None}]
    # Rows of a URL that was fetched before: the last one counts, by time where there is one.
    made += [{"url": "http://www.b.org/again", "text_digest": f"again {i}"} for i in range(3)]
    made += [
        {"url": "http://www.b.org/timed", "text_digest": f"timed {day}", "fetched_at": f"2026-05-{day:02}T00:00:00Z"}
        for day in (3, 9, 5)
    ]
    made += [{"url": "http://www.b.org/timed", "text_digest": "untimed"}]
    made += [{"url": "ftp://www.b.org/", "text_digest": "x"}, {"url": "http://www.b.org/nothing"}, {"digest": "no url"}]
    return made


def messy_json_lines(path: Path) -> Path:
    """The rows as JSON Lines, and what goes wrong in such files."""
    lines = [json.dumps(row, ensure_ascii=False).encode() for row in rows()]
    lines[7:7] = [b"broken", b"", b"[1, 2]", b'{"url": "http://large.com/\xff\xfe?sid=1", "text_digest": "latin"}']
    lines[200:200] = [b'{"url": ["http://www.b.org/list"], "digest": "l"}\r', b'{"url": 5, "digest": null}', b"{" * 500]
    lines.append(b'{"url": "http://large.com/a\\u0000b", "digest": "nul"}')
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join([*lines, b'{"url": "http://c.net/last", "digest": "unended"}']))
    return path
