"""Pages that would make a tree builder, a backtracking expression or a careless loop run out of time or memory."""

from __future__ import annotations

from collections.abc import Callable

Body = bytes | str

BOMBS: dict[str, Callable[[], Body]] = {
    "nested blocks": lambda: "<div>" * 400_000 + "x",
    "nested blocks, other ends": lambda: "<div>" * 50_000 + "</span></section>" * 50_000,
    "nested lists": lambda: "<ul><li>" * 200_000,
    "nested templates": lambda: "<template>" * 200_000,
    "nested tables": lambda: "<table><tr><td>" * 100_000,
    "formatting to copy": lambda: "".join(f"<p><font color={number}>x</p>" for number in range(60_000)),
    "misnested formatting": lambda: ("<b>" * 100 + "<div>") * 4_000 + "</b>" * 100_000,
    "attributes": lambda: "<div " + " ".join(f"a{number}=1" for number in range(200_000)) + ">x",
    "one huge attribute": lambda: "<div a='" + "x" * 2_000_000 + "'>x",
    "equals signs": lambda: "<a " + "=" * 2_000_000,
    "quotes": lambda: "<a " + '=""' * 600_000,
    "tags that quote each other": lambda: '<a "' * 500_000,
    "open tags": lambda: "<svg " * 400_000,
    "less than": lambda: "<" * 2_000_000,
    "script of less than": lambda: "<script>" + "<" * 2_000_000,
    "script of scripts": lambda: "<script>" * 250_000,
    "graphics of graphics": lambda: "<svg>" * 400_000,
    "comment of dashes": lambda: "<!--" + "- " * 1_000_000,
    "open comments": lambda: "<!--" * 500_000,
    "empty elements": lambda: "<i></i>" * 300_000,
    "paragraphs": lambda: "".join(f"<p class=c{number}>x " for number in range(120_000)),
    "links": lambda: "".join(f"<a href=http://h{number}.example/>x</a>" for number in range(60_000)),
    "one huge link": lambda: "<a href=" + "http:" * 400_000 + ">x",
    "metas": lambda: "<meta name=keywords content=x>" * 60_000,
    "titles": lambda: "<title>" * 250_000,
    "line breaks": lambda: "x<br>" * 400_000,
    "blank lines": lambda: "<pre>" + "\n \n" * 600_000,
    "entities": lambda: (
        "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY a0 'ha'>"
        + "".join(f"<!ENTITY a{number} '{f'&a{number - 1};' * 10}'>" for number in range(1, 30))
        + "]><html><body><p>&a29;</p></body></html>"
    ),
    "spaces": lambda: " " * 2_000_000,
    "one word": lambda: "x" * 2_000_000,
    "one number": lambda: "&#" + "9" * 2_000_000 + ";",
    "character references": lambda: "&#65;&amp;&nosuch" * 120_000,
    "addresses": lambda: "http://" * 300_000,
    "zeros": lambda: "\0" * 2_000_000,
    "class names": lambda: '<p class="' + "navBarFoo " * 200_000 + '">x',
    "ten megabytes": lambda: b"<p>hello world " * 700_000,
    "damaged text": lambda: b"\xe4\xb8" * 1_000_000,
    "punycode": lambda: b"<meta charset=punycode>" + b"a-\xe9" * 600_000,
    "half a byte order mark": lambda: b"\xff\xfe\xff" * 600_000,
    "selected nested blocks": lambda: "<main>" + "<div><p>" * 200_000,
    "selected attributes": lambda: "<main><p " + " ".join(f"a{number}=1" for number in range(200_000)) + ">x",
    "selected paragraphs": lambda: "<main>" + "<p>x" * 100_000,
    "selected formatting": lambda: "<main>" + "".join(f"<p><b id={number}>x</p>" for number in range(40_000)),
}
