"""Good examples to begin with: a few of our own, and real pages where the data folder is at hand."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

_HTML = """<!DOCTYPE html><html lang="en"><head><meta charset="{charset}"><title>{title}</title>
<meta name="keywords" content="clock, bakery"><link rel="canonical" href="/story/1?id=7"><script>var a = "<p>";</script>
</head><body><nav><ul><li><a href="/">Home</a><li><a href="/news?sid=1#top">News</a></ul></nav>
<main><h1>{title}</h1><article><p>{first}</p><p class="body hidden">{second} <b>12,5 km</b> &amp; &#8220;more&#8221;</p>
<table><tr><td>1<td>2</table><pre>a
b</pre></article></main><footer>All rights reserved. <a href='http://other.example/'>Other</a></footer></body></html>"""

_ENGLISH = (
    "The court heard on Monday that the man who kept the bakery at the corner of the market had taken a clock from the "
    "town hall. Witnesses said that he was seen near the stairs in the evening, with something under his coat."
)
_CHINESE = "法院星期一听取了证词。市场拐角处面包店的店主从市政厅拿走了一座钟。证人说，晚上有人看见他在楼梯附近。"

PAGES: tuple[bytes, ...] = (
    _HTML.format(charset="utf-8", title="A clock", first=_ENGLISH, second="He was found guilty.").encode(),
    _HTML.format(charset="gb18030", title="一座钟", first=_CHINESE, second="陪审团认为他有罪。").encode("gb18030"),
    _HTML.format(charset="windows-1251", title="Часы", first="Суд услышал " * 20, second="Виновен.").encode("cp1251"),
    b"<p>" + _ENGLISH.encode() * 8,
    b"",
)

URLS: tuple[bytes, ...] = (
    b"http://www.example.com/wiki/Main_Page?title=Special:Search&sid=0123456789abcdef&lang=en#top",
    b"https://user:pass@News.Example.co.uk:8080/a//b/../c.php;jsessionid=77?x=1&x=2&y#z",
    b"http://[2001:db8::1]:80/index.html",
    "http://例子.中国/页?q=é&p=%E4%B8%AD".encode(),
    b"//cdn.example.com/a?b",
    b"http://forum.example.com/viewtopic.php?f=3&t=42&start=15&sid=abc",
    b"javascript:alert(1)",
)

RULES: tuple[bytes, ...] = (
    b"""site = "example.com"

[[rules]]
id = "sid"
kind = "rewrite"
drop = ["sid", "PHPSESSID", "utm_*"]

[[rules]]
id = "print"
kind = "rewrite"
hosts = ["www.example.com"]
within = ["/wiki/{*}"]
match = "/print/{id}"
to = "/{id}"
evidence = { support = 3, coverage = 40, correct = 39, wrong = 1, collisions = 0 }
examples = [["http://www.example.com/print/4", "http://www.example.com/4"]]

[[rules]]
id = "topic"
kind = "equivalence"
match = "/viewtopic.php?t={t}"
to = "/topic/{t}"
unless = ["start"]
state = "probation"
""",
)

_ROWS = [
    {"url": "http://a.example/1", "digest": "ab" * 20, "status": 200, "title": "é", "fetched_at": 1.5e9},
    {
        "url": "http://a.example/2",
        "text_digest": "cd",
        "simhash": "0123456789abcdef",
        "redirect_to": "http://a.example/",
    },
    {"url": "http://a.example/3", "html": "<p>One<p>Two", "canonical": "http://a.example/1"},
    {"url": "http://a.example/4", "text": "One\nTwo", "title": "Three"},
]
_JSON = "".join(json.dumps(row) + "\n" for row in _ROWS).encode()
_BODY = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<title>A</title><p>" + _ENGLISH.encode()
_WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/1\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"
    b"WARC-Payload-Digest: sha1:AB\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(_BODY), _BODY)
)

LOGS: tuple[bytes, ...] = (
    _JSON,
    b"[" + b",".join(_JSON.splitlines()) + b"]",
    b'url,digest,status\nhttp://a.example/1,ab,200\n"http://a.example/2, x",cd,404\n',
    b"url\ttext_digest\nhttp://a.example/1\tab\nhttp://a.example/2\tab\n",
    b" CDX N b a m s k r M S V g\ncom,a)/1 20260102030405 http://a.example/1 text/html 200 AB - - 10 20 f.warc.gz\n",
    b'com,a)/1 20260102030405 {"url": "http://a.example/1", "digest": "sha1:AB", "status": "200"}\n',
    b"2026-01-02T03:04:05.006Z   200       1234 http://a.example/1 L - text/html #001 2026010203 sha1:AB - -\n",
    _WARC,
    gzip.compress(_WARC) + gzip.compress(_WARC),
    gzip.compress(_JSON),
    lzma.compress(_JSON),
)


def _to_learn(*forms: str, pages: int = 40) -> bytes:
    """Lines of a log, URL and digest, of pages that are each there in several forms."""
    rows = (
        f"{form.format(n=n, sid=(n * 7919 + k) % 65_521)}\t{n}\n" for n in range(pages) for k, form in enumerate(forms)
    )
    return "".join(rows).encode()


TO_LEARN: tuple[bytes, ...] = (
    _to_learn(
        "http://a.example.com/p?id={n}",
        "http://a.example.com/p?id={n}&sid={sid}",
        "http://a.example.com/p?sid={sid}&id={n}",
    ),
    _to_learn(
        "http://www.b.com/wiki/T{n}", "http://www.b.com/index.php?title=T{n}&action=view", "http://b.com/print/T{n}"
    ),
    _to_learn("http://c.net/news/{n}/index.html", "http://c.net/news/{n}/", "http://c.net/NEWS/{n};s={sid}?d=%7E{sid}"),
    _to_learn(
        "http://d.org/a-{n}_b.{sid}", "http://d.org/a-{n}_b.{sid}#x", "http://d.org/{sid}/2026-01-02/{n}?l=en", pages=15
    ),
)


def real_pages(data: Path, most: int = 60) -> list[bytes]:
    """Pages of the data folder, the same at each call; none when it is not there."""
    found: list[bytes] = []
    for path in sorted((data / "html").rglob("*.html*"))[: 20 * most : 20]:
        raw = path.read_bytes()
        found.append((gzip.decompress(raw) if path.suffix == ".gz" else raw)[:200_000])
    return found
