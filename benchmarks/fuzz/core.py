"""Fuzz the compiled core: one target for each of its entry points.

    python -m benchmarks.fuzz.core [--target NAME]... [--inputs 10000000] [--seed N] [--corpus DIR] [--keep DIR]

Built with sanitizers by `make fuzz`. Each target takes any bytes, and checks what must hold of the answer. Inputs are
made in batches, each in a process of its own that shares its latest input with this one: where a process dies (of a
sanitizer's report, a failed check, or 20 seconds of CPU for a thousand inputs) that input is written to --keep, and the
next batch is begun. The exit status is 1 then. Every file of the corpus is an input of every target first.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import mmap
import os
import re
import signal
import struct
import sys
import time
import traceback
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from urllib.parse import unquote_to_bytes

import numpy as np

from dedupcrawl.core.characters import collapse, fold, has_long_sequence, unescape
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.facts import Facts
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.page import Page, read
from dedupcrawl.core.signatures import sampled_shingles, shared_shingles, simhash
from dedupcrawl.core.symbols import SymbolText, blocks_of
from dedupcrawl.core.tags import tame
from dedupcrawl.core.template import MOST, Template

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "core" / "corpus"
_BATCH = 100_000  # inputs of a process
_ROUND = 1_000  # inputs made of one blob
_SECONDS = 20  # of CPU for a round
_LARGEST = 1 << 20  # bytes of an input
_FAILURES = 20  # then a target is given up
_SECRET = Secret(bytes(range(32)))

Target = Callable[[bytes], None]


# Targets


def _text_of(data: bytes) -> str:
    """Any text, lone surrogates and NULs among it."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape")


def _flags(data: bytes) -> tuple[int, bytes]:
    """The last byte chooses what is done with the others: an input stays readable."""
    return (data[-1], data[:-1]) if data else (0, b"")


def _host_alike(authority: str) -> str:
    return authority.rpartition("@")[2].strip("/").partition(":")[0].lower().removeprefix("www.")


def _locate(base: str) -> tuple[bytes, bytes, bytes]:
    based = base if base.startswith("http://") else "http://a.example/x/" + base
    host = _host_alike(based[7:].partition("/")[0]).encode("utf-8", "replace")
    return b"a.example", host, local_form(based.partition("#")[0].partition("?")[0])


def _stays(target: str, base: str) -> bool | None:
    assert "\n" not in target + base
    return None if target.startswith("javascript:") else not target.startswith("http")


def _check_page(page: Page, largest: int) -> None:
    """Its lines are text, and there is not more of them than its markup may stand for."""
    for lines in (page.paragraphs, page.asides, page.link_lines):
        for line in lines:
            assert line.strip(" ") == line != "", line
            assert not {"\0", "\n"} & set(line), line
    lines = (*page.paragraphs, *page.asides, *page.link_lines)
    assert page.has_text == bool(lines)
    assert sum(len(line.encode()) for line in lines) <= page.size <= 3 * largest + 3 * largest // 5
    assert len(page.links) <= 1_000
    assert page.main_links <= page.links


def _read(facts: Facts, flags: int) -> Page:
    return read(
        facts,
        "http://a.example/x/y",
        locate=_locate,
        host_alike=_host_alike,
        selected=facts.markup[len(facts.markup) // 2 :] if flags & 2 else None,
        stays=_stays if flags & 1 else None,
    )


def page_of_markup(data: bytes) -> None:
    """`page.read`, with fields or without, with a selection or without; its symbols."""
    flags, markup = _flags(data)
    facts = Facts(markup, is_cut=flags & 31 == 31, keeps_anchors=bool(flags & 8))
    page = _read(facts, flags)
    _check_page(page, len(markup))
    if not flags & 7:
        assert page == _read(facts, flags)
    for field in (page.title, page.keywords, page.description, *page.headings, *page.anchors_same_site):
        field.encode()
    text = page.main_text(_SECRET if flags & 4 else NO_SECRET)
    assert text.normalized == SymbolText.of(page.paragraphs, text.secret).normalized
    for beside in page.beside():
        assert len(beside.without(b"\1").without_urls()) <= len(beside)


def facts_of_markup(data: bytes) -> None:
    """`Facts`: all that can be asked of a page's markup."""
    flags, markup = _flags(data)
    facts = Facts(markup, keeps_anchors=bool(flags & 1))
    texts = [facts.base, *facts.references(flags * 10)]
    names = (b"keywords", b"description", b"a")
    found = facts.elements("link", b"rel", (b"canonical", b"alternate", b"x"), in_head=True)
    found += facts.elements("meta", b"name", names, in_head=bool(flags & 2))
    found += facts.elements("meta", b"property", names)
    for attributes in found:
        texts += [*attributes, *attributes.values()]
    scripts = facts.scripts(b"x") + facts.scripts(b"application/ld+json")
    assert all(script in markup for script in scripts)
    anchors, numbered = facts.anchors, facts.numbered_anchors
    assert set(numbered) <= set(anchors)
    texts += [*anchors, *facts.has_elements({"x", "a", "sidebar"})]
    for text in texts:
        text.encode()
    if flags & 4:
        _read(facts, flags)
        assert facts.anchors == anchors


def page_of_texts(data: bytes) -> None:
    """`Page`: the lines that it is made of are kept."""
    flags, rest = _flags(data)
    parts = [tuple(_text_of(part).split("\x01")) for part in rest.split(b"\x02")[:3]]
    parts += [()] * (3 - len(parts))
    page = Page("http://a.example/", paragraphs=parts[0], asides=parts[1], link_lines=parts[2])
    kept = [tuple(line for text in part for line in text.split("\n") if line) for part in parts]
    assert [page.paragraphs, page.asides, page.link_lines] == kept
    assert page.replace(title="a").paragraphs == kept[0]
    secret = _SECRET if flags & 1 else NO_SECRET
    assert page.main_text(secret).normalized == SymbolText.of(kept[0], secret).normalized


def symbols(data: bytes) -> None:
    """`SymbolText`: symbols lie within the text, and blocks can be left out."""
    flags, rest = _flags(data)
    secret = _SECRET if flags & 1 else NO_SECRET
    text = SymbolText.of((_text_of(rest),), secret)
    _check_symbols(text)
    assert text.without(b"").text == text.without(bytes(len(text.block_hashes))).text == text.text
    left_out = bytes((flags >> number % 7) & 1 for number in range(len(text.block_hashes)))
    less = text.without(left_out)
    assert less.block_hashes == [one for one, flag in zip(text.block_hashes, left_out, strict=True) if not flag]
    _check_symbols(less)
    plain = text.without_urls()
    _check_symbols(plain)
    assert len(plain.text) == len(text.text)
    assert plain.without_urls() is plain
    assert text.blocks_within(flags) <= len(text.block_hashes)


def _check_symbols(text: SymbolText) -> None:
    folded, starts, lengths = text.text, text.starts, text.lengths
    assert len(folded) == len(text.code_points) == len(text.kinds)
    assert len(starts) == len(lengths) == len(text.hashes) == len(text) == len(text.symbols)
    if len(text):
        assert starts[0] >= 0
        assert (lengths > 0).all()
        assert (starts[1:] >= (starts + lengths)[:-1]).all()
        assert starts[-1] + lengths[-1] <= len(folded)
    assert text.normalized == " ".join(text.symbols).encode("utf-8", "surrogatepass")
    values, ends, hashes = blocks_of(text.values, text.secret)
    assert hashes == text.block_hashes
    assert ends == [first + count for first, count in text.block_places]
    assert len(values) == 2 * len(text)
    assert text.block_lines == sorted(set(text.block_lines))


def signatures(data: bytes) -> None:
    """`simhash`, `sampled_shingles`, and `shared_shingles` of any bytes."""
    flags, rest = _flags(data)
    text = SymbolText.of((_text_of(rest),))
    most, levels, fewest = flags * 7, flags & 31, flags >> 4
    for pairs in (False, True):
        fingerprint, features = simhash(text, pairs)
        assert 0 <= fingerprint < 1 << 64
        assert 0 <= features <= 2 * len(text)
    level, sample = sampled_shingles(text, most, levels, fewest)
    kept = np.frombuffer(sample, dtype="<u4")
    assert level <= levels
    assert not len(kept) or not (kept & np.uint32((1 << level) - 1)).any()
    assert (kept[1:] > kept[:-1]).all()
    assert len(kept) <= max(0, min(most, len(text)) - 3)
    mine, shared = shared_shingles(bytes([level]) + sample, bytes([levels]) + sample)
    assert shared == mine <= len(kept)
    half = len(rest) // 2
    mine, shared = shared_shingles(rest[:half], rest[half:])
    assert 0 <= shared <= mine <= half // 4


def template(data: bytes) -> None:
    """`Template`: whatever is done with two, no count is above that of a dictionary; bytes may be anybody's."""
    flags, rest = _flags(data)
    one, other = Template(), Template()
    true: Counter[int] = Counter()  # of both together
    pages = 0
    for step in (rest[at : at + 6] for at in range(0, min(len(rest), 144), 6)):
        first = step[0] << 24 | sum(step[1:3]) * 40_503
        blocks = [
            (first + number * 7) & 0xFFFFFFFF for number in range(5_000 if flags < 8 and pages < 3 else step[-1] % 9)
        ]
        (one if step[0] & 1 else other).add(blocks, title=_text_of(step[1:]))
        true.update(set(blocks))
        pages += 1
        if step[0] == 0x3C:
            one = one.copy()
        elif step[0] == 0x3E:
            one = Template.from_bytes(one.to_bytes())
        elif step[0] == 0x26:
            one.merge(other)
            other = Template()
    before = one.copy()
    one.merge(other)
    assert one.pages == pages
    assert len(one) <= 2 * MOST
    for block, count in true.items():
        assert one.count(block) <= count, (block, one.count(block), count)
    if len(true) <= MOST:
        assert {block: one.count(block) for block in true} == true
    beyond = one.beyond(before, 1 + flags % 3)
    assert beyond.pages == other.pages
    for block in (*true, 0):
        assert beyond.count(block) <= max(0, one.count(block) - before.count(block))
    text = SymbolText.of((_text_of(rest),))
    one.add((), "", ((text, flags),))
    assert len(one.repeated(text, flags)) in (0, min(flags, len(text.block_hashes)))
    numbers = rest[: len(rest) // 8 * 8 + 4]
    numbers = numbers[:4] + (len(numbers) // 8).to_bytes(4, "little") + numbers[4:]
    for strange in (rest, _compressed(numbers), *((one.to_bytes()[:-1] + rest[:1],) if not flags & 15 else ())):
        read_back = Template.from_bytes(strange)
        read_back.add((1, 2, 3))
        read_back.merge(one)
        again = read_back.copy()
        if not flags & 7:
            again = Template.from_bytes(again.to_bytes())
            assert again.pages == read_back.pages


def _compressed(data: bytes) -> bytes:
    """As zlib does it with least memory, which sanitizers make expensive."""
    stream = zlib.compressobj(1, wbits=9, memLevel=1)
    return stream.compress(data) + stream.flush()


def _normalized(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


_REFERENCE = re.compile(r"&(?:#(?:[0-9]{1,9}|[xX][0-9a-fA-F]{1,8})|[a-zA-Z][a-zA-Z0-9]{1,31});?")


def characters(data: bytes) -> None:
    """`fold`, `unescape` and `collapse`, the latter two by the standard library's definition."""
    text = _text_of(data)
    folded = fold(text)
    assert len(folded) <= 2 * len(data)
    if fold(folded) != folded:  # as casefold after NFKC is not
        assert fold(fold(folded)) == fold(folded) or _normalized(_normalized(text)) != _normalized(text), text
    assert has_long_sequence(data) == any(byte >= 0xE0 for byte in data)
    assert unescape(text) == _REFERENCE.sub(lambda match: html.unescape(match[0]), text)
    assert collapse(data) == " ".join(unescape(data.decode("utf-8", "replace")).split())
    lines = collapse(data, True)
    assert lines.replace("\0", " ").split() == collapse(data).replace("\0", " ").split()


_PLAIN_LINK = re.compile(rb"/[A-Za-z0-9%+&=?;.,:_~()/-]*")


def links(data: bytes) -> None:
    """`local_form` by its definition, and the links of a page in that form."""
    url = _text_of(data)
    form = local_form(url)
    raw = url.encode("utf-8", "replace").partition(b"#")[0]
    head, slashes, rest = raw.partition(b"//")
    if not slashes:
        rest = head
    else:
        begins = [at for at in (rest.find(b"/"), rest.find(b"?")) if at >= 0]
        rest = rest[min(begins) :] if begins else b""
    rest = (rest if rest[:1] == b"/" else b"/" + rest)[:8_000]
    path, _, query = rest.partition(b"?")
    arguments = unquote_to_bytes(query.replace(b"+", b" ")).split(b"&")
    if len(arguments) < 4_000:
        assert form == unquote_to_bytes(path) + (b"?" + b"&".join(sorted(arguments)) if query else b""), url
    if not set(b"%#+") & set(form) and b"//" not in form and form.isascii():
        assert local_form(form.decode()) == form, url
    markup = b'<base href="' + data[::-1] + b'"><a href="' + data + b'">x</a><a href=' + data + b">y</a>"
    assert len(read(Facts(markup), "", locate=_locate, host_alike=_host_alike).links) <= 1_000
    if _PLAIN_LINK.fullmatch(data) and len(data) <= 2_000 and data[1:2] != b"/":
        markup = b"<a href=" + data.replace(b"&", b"&amp;") + b">x</a>"
        page = read(Facts(markup), "", locate=_locate, host_alike=_host_alike)
        assert page.links == {link_hash(local_form("http://a.example" + data.decode()))}, data


def tags(data: bytes) -> None:
    """`tame`: not longer than it was, and of the same text."""
    tamed = tame(data)
    assert len(tamed) <= len(data)
    if b"<" not in data:
        assert tamed == data


TARGETS: dict[str, Target] = {
    "page": page_of_markup,
    "facts": facts_of_markup,
    "texts": page_of_texts,
    "symbols": symbols,
    "signatures": signatures,
    "template": template,
    "characters": characters,
    "links": links,
    "tags": tags,
}


# Inputs

_NAMES = (
    b"p div table tr td th ul li dl dt dd h1 h3 pre a br hr title head body base meta link script style svg select"
    b" noscript textarea iframe video template button article nav span b footer xn-a:b"
).split()
_ATTRIBUTES = (
    b"class id href style hidden role itemprop name content rel src data-a",
    b"article-body navBarFoo sidebar post_text X1 display:none display:::none keywords description /a/../b?c=d&c=e#f"
    b" //www.a.example:80./x?b&a http://a.example/%41+%2 ?q=%26 ../../z javascript:x //a.example\xc3\xa9/ &amp; &nGt;",
)
_TEXTS = """
\ufdfa \ufdfb \u321d \u0344 \u0f73 \u0f81 \u1f82 \u0345 \ufb2c \uff9e \u200b \u00ad e\u0301\u0327 A\u0301
\u1100\u1161\u11a8 가각 ｶﾞ 𝅘𝅥𝅮 ß İ ΐ ﬃ ㎯ Ⅷ １２ 數據 数据
中文。 見http://a.cn/。 かな ไทย हिन्दी 😀 👩\u200d👩 −5 $5 C# A- ✓ ½ … ٣ é a,b.c;d 1,2.3
&amp; &nGt; &nLt; &lt &notit; &#0 &#1 &#x80; &#xD800; &#xfdfa; &#65; &#999999999999 &#x110000; & &# &#x &a &zwj;
&CounterClockwiseContourIntegral; < > = " ' / </ <!-- --> --!> <!--> <! <? <![CDATA[ ]]> <br> <br/> x<br> <p </a>
<script </script <svg <table><td> http:// https://www. www. :// // ? # % %41 %2 + @ :80 . .. a=b& && == ../ ./ a.example
www.a.example monday 2026 the word
"""
_BYTES = (
    *(b"\0", b"\n", b"\r\n", b"\n \n", b" ", b"\t", b"\x0c", b"\x1c", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe3\x80\x80"),
    *(b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xff", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98"),
    *(
        b"\xf4\x90\x80\x80",
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xef\xbf\xbd",
        b"\xef\xbb\xbf",
        b"\x80",
        b"\xf4\x8f\xbf\xbf",
    ),
    *(b"<a href", b"<a ", b"a" * 70, b"\x01", b"\x02", b"\x7f", b"x\x9c", b"one two three four five six ", b"1 2 3 "),
)
_ATOMS = (*_TEXTS.encode().split(), *_BYTES)


def _element(chance: Random, depth: int) -> bytes:
    """Markup, seldom well-formed."""
    if depth > 6 or chance.random() < 0.3:
        return b"".join(chance.choice(_ATOMS) + chance.choice((b" ", b"", b"")) for _ in range(chance.randrange(1, 5)))
    name = chance.choice(_NAMES)
    if chance.random() < 0.1:
        name = name.swapcase()
    attributes = b""
    for _ in range(int(chance.expovariate(0.9))):
        attributes += b" " + chance.choice(_ATTRIBUTES[0].split())
        if chance.random() < 0.9:
            quote = chance.choice((b'"', b"'", b"", b'"'))
            attributes += b"=" + quote + chance.choice((*_ATTRIBUTES[1].split(), *_ATOMS)) + quote
            attributes = attributes[: len(attributes) - (chance.random() < 0.05)]
    inner = b"".join(_element(chance, depth + 1) for _ in range(int(chance.expovariate(0.5))))
    end = b"</" + name + b">" if chance.random() < 0.8 else b""
    return b"<" + name + attributes + b">" + inner + end


def _blob(chance: Random, corpus: Sequence[bytes]) -> bytes:
    """Much hostile material, of which inputs are pieces."""
    parts: list[bytes] = []
    while sum(map(len, parts)) < 20_000:
        kind = chance.random()
        if kind < 0.45:
            parts.append(_element(chance, 0)[:4_000])
        elif kind < 0.75:
            parts.append(b"".join(chance.choices(_ATOMS, k=20)))
        elif kind < 0.9:
            parts.append(chance.choice(_ATOMS) * int(10 ** chance.uniform(0, 2.3)))
        elif corpus:
            begin = chance.randrange(max(1, len(entry := chance.choice(corpus)) - 1_000))
            parts.append(entry[begin : begin + 1_000])
    return b"".join(parts)


def inputs(seed: int, corpus: Sequence[bytes]) -> Iterator[bytes]:
    """Inputs without end, the same for the same seed and corpus: most have some hundred bytes, few many."""
    chance = Random(seed)
    random, bits = chance.random, chance.getrandbits
    while True:
        blob = _blob(chance, corpus)
        size = len(blob)
        for _ in range(_ROUND):
            pieces = []
            for _ in range(1 + bits(2)):
                begin = int(random() * size)
                pieces.append(blob[begin : begin + int(300 * random() ** 4) + 1])
            kind = bits(11)
            if kind < 200:
                pieces.append(pieces[0][:40] * bits(5))
            elif kind < 202:  # seldom, for it takes long
                pieces.append(blob[int(random() * size) :][: 1 + bits(5)] * int(10 ** chance.uniform(1, 3.5)))
            data = b"".join(pieces)
            if kind & 7 == 7:
                changed = bytearray(data)
                for _ in range(1 + bits(3)):
                    changed[int(random() * len(changed))] = bits(8)
                data = bytes(changed)
            yield data


# Runs


class _Progress:
    """The latest input of a process and how many it has run, which its parent can read when it has died."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _LARGEST + 16)

    def begin(self, data: bytes, done: int) -> None:
        self._shared[: 16 + len(data)] = struct.pack("<2Q", len(data), done) + data

    def get(self) -> tuple[bytes, int]:
        size, done = struct.unpack("<2Q", self._shared[:16])
        return self._shared[16 : 16 + size], done


def _run(target: Target, batch: Iterable[bytes], progress: _Progress) -> None:
    """Run a batch in this process."""
    done = 0
    for data in batch:
        if not done % _ROUND:
            signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)  # which ends the process
        progress.begin(data, done)
        target(data)
        done += 1
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    progress.begin(b"", done)


def _survives(target: Target, batch: Iterable[bytes], progress: _Progress) -> bool:
    """Whether a batch comes to its end, in a process of its own."""
    process = os.fork()
    if not process:
        try:
            _run(target, batch, progress)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    if status:
        print(f"ended with {os.waitstatus_to_exitcode(status)}", file=sys.stderr, flush=True)
    return not status


def _fuzz(name: str, count: int, seed: int, corpus: Sequence[bytes], keep: Path) -> int:
    """How many batches of a target ended early."""
    progress, failures, done, begun = _Progress(), 0, 0, time.monotonic()
    batch: Iterable[bytes] = corpus
    while True:
        progress.begin(b"", 0)
        survived = _survives(TARGETS[name], batch, progress)
        data, ran = progress.get()
        done += ran
        if not survived:
            failures += 1
            keep.mkdir(parents=True, exist_ok=True)
            path = keep / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
            path.write_bytes(data)
            print(f"{path}: {data[:200]!r}", file=sys.stderr, flush=True)
        if done >= count or failures == _FAILURES:
            break
        seed += 1
        batch = islice(inputs(seed, corpus), min(_BATCH, count - done))
    print(f"{name}: {done:,} inputs, {failures} failed, {time.monotonic() - begun:.0f} s", flush=True)
    return failures


def main() -> int:
    """Run it; 1 when something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this one; may be given again")
    parser.add_argument("--inputs", type=int, default=10_000_000, help="of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="where inputs that fail are written")
    options = parser.parse_args()
    corpus = [path.read_bytes() for path in sorted(options.corpus.iterdir())] if options.corpus.is_dir() else []
    failed = [_fuzz(name, options.inputs, options.seed, corpus, options.keep) for name in options.target or TARGETS]
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
