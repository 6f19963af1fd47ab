"""Entry points of the core, each with what must hold of it whatever it is given."""

from __future__ import annotations

import html
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable
from urllib.parse import unquote_to_bytes

import numpy as np

from benchmarks.fuzz.search_targets import overlaps, pairs, postings, searched
from dedupcrawl.core.alignment import LONGEST, align
from dedupcrawl.core.characters import ASCII, LONG, UTF8, collapse, fold, has_escapes, unescape, utf8_of
from dedupcrawl.core.diff import DIFFERENCES, SECTIONS, differences
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.facts import Facts
from dedupcrawl.core.feature_code import code_of, code_positions, different_grams, grams, keys_of_code
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.page import Page, read
from dedupcrawl.core.signatures import sampled_shingles, shared_shingles, simhash
from dedupcrawl.core.symbols import SymbolText, blocks_of
from dedupcrawl.core.tags import tame
from dedupcrawl.core.template import MOST, Template
from dedupcrawl.core.words import KIND, NOW, kinds_of

Target = Callable[[bytes], None]
_SECRET = Secret(bytes(range(32)))


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
    assert len(page.secondary) <= 200
    assert sum(map(len, page.secondary)) <= 20_000
    assert all(line.strip(" ") == line != "" and not {"\0", "\n"} & set(line) for line in page.secondary)
    assert len(page.resources) <= 200
    assert all(page.resources)
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
    facts = Facts(markup, is_cut=flags & 31 == 31)
    page = _read(facts, flags)
    _check_page(page, len(markup))
    if not flags & 7:
        assert page == _read(facts, flags)
    for field in (page.title, page.keywords, page.description, *page.headings, *page.anchors_same_site):
        field.encode()
    text = page.main_text(_SECRET if flags & 4 else NO_SECRET)
    assert text.normalized == SymbolText.of(page.paragraphs, text.secret).normalized
    asides, link_lines, secondary = page.beside()
    assert asides.lines_in() == SymbolText.of(page.asides).lines_in()
    assert link_lines.lines_in() == SymbolText.of(page.link_lines).lines_in()
    assert len(secondary.without(b"\1").without_urls()) <= len(secondary)


def facts_of_markup(data: bytes) -> None:
    """`Facts`: all that can be asked of a page's markup."""
    flags, markup = _flags(data)
    facts = Facts(markup)
    texts = [facts.base, *facts.references(flags * 10)]
    links = (("link", b"rel", (b"canonical", b"alternate", b"x")),)
    metas = tuple(("meta", key, (b"keywords", b"description", b"a")) for key in (b"name", b"property"))
    found = facts.elements(links, bool(flags & 2)) + facts.elements(metas)
    for name, attributes in found:
        assert name in {"link", "meta"}
        texts += [*attributes, *attributes.values()]
    scripts = facts.scripts(b"x") + facts.scripts(b"application/ld+json")
    assert all(script in markup for script in scripts)
    anchors = facts.anchors
    assert len(anchors) >= len(facts.numbered_anchors)
    texts += [*anchors, *facts.has_elements({"x", "a", "sidebar"})]
    texts += facts.numbered_anchors
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
    assert len(folded) == len(text.kinds)
    assert len(starts) == len(lengths) == len(text.hashes) == len(text) == len(text.symbols)
    if len(text):
        assert starts[0] >= 0
        assert min(lengths) > 0
        assert all(after >= start + length for after, start, length in zip(starts[1:], starts, lengths, strict=False))
        assert starts[-1] + lengths[-1] <= len(folded)
    assert text.normalized == " ".join(text.symbols).encode("utf-8", "surrogatepass")
    kinds = kinds_of(text)
    assert len(kinds) == len(text.values) // 2
    values, kept_kinds, ends, hashes = blocks_of(text.values, kinds, text.secret)
    assert len(kept_kinds) == len(text)
    assert hashes == text.block_hashes
    assert ends == [first + count for first, count in text.block_places]
    assert len(values) == 2 * len(text)
    assert text.block_lines == sorted(set(text.block_lines))


def compared(data: bytes) -> None:
    """Two texts side by side: the parts of any bytes before and after a line of "=", or the halves of them."""
    flags, rest = _flags(data)
    before, found, after = rest.partition(b"\n=\n")
    halves = (before, after) if found else (rest[: len(rest) // 2], rest[len(rest) // 2 :])
    sides = []
    for half in halves:
        text = SymbolText.of((_text_of(half),))
        kinds = kinds_of(text)
        assert all(kind & KIND <= NOW for kind in kinds)
        symbols, kinds, ends, _ = blocks_of(text.values, kinds)
        symbols = symbols[: 2 * LONGEST]
        own = bytes(((flags >> at % 8) & 1) for at in range(len(symbols) // 2))
        sides.append((symbols, kinds, own, ends))
    here, there = sides
    new, kept = here[0], there[0]
    in_kept, in_new, pieces, moves = align(new, kept)
    assert len(in_kept) == len(new) // 2
    assert len(in_new) == len(kept) // 2
    assert moves >= 0
    places = np.frombuffer(pieces, np.int32).reshape(-1, 4)
    assert (places[:, [0, 2]] <= places[:, [1, 3]]).all()
    assert sum(1 - flag for flag in in_kept) == int((places[:, 1] - places[:, 0]).sum())
    rows = differences(here, there, in_kept, in_new, pieces, NO_SECRET)
    table = np.frombuffer(rows, np.uint8).reshape(-1, 3)
    assert len(table) == len(places)
    assert not len(table) or (table.max(axis=0) < (DIFFERENCES, SECTIONS, 2)).all()


def signatures(data: bytes) -> None:
    """`simhash`, `sampled_shingles`, feature codes, and `shared_shingles` of any bytes."""
    flags, rest = _flags(data)
    text = SymbolText.of((_text_of(rest),))
    most, levels, fewest = flags * 7, flags & 31, flags >> 4
    for has_pairs in (False, True):
        fingerprint, features = simhash(text, has_pairs)
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
    code = code_of(text, code_positions(text, text.hashes[:9], most, levels / 32, flags * 5, fewest))
    assert len(grams(code)) == max(0, len(code) // 2 - 4)
    assert different_grams(code).tolist() == sorted(set(grams(code)))
    assert len(keys_of_code(code)) <= len(grams(code))
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


def _is_utf8(data: bytes) -> bool:
    """Whether it is, or ends within a character."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def characters(data: bytes) -> None:
    """`fold`, `unescape` and `collapse`, the latter two by the standard library's definition."""
    text = _text_of(data)
    folded = fold(text)
    assert len(folded) <= 2 * len(data)
    if fold(folded) != folded:  # as casefold after NFKC is not
        assert fold(fold(folded)) == fold(folded) or _normalized(_normalized(text)) != _normalized(text), text
    found = utf8_of(data)
    assert bool(found & UTF8) == _is_utf8(data)
    assert bool(found & LONG) == any(byte >= 0xE0 for byte in data) or not found & UTF8
    assert bool(found & ASCII) == data.isascii()
    assert has_escapes(data) == (b"\x1b" in data or b"~{" in data)
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
    """`tame`: not longer than it was, but for the end of its last tag; markup without tags stays as it is."""
    tamed = tame(data)
    assert len(tamed) <= len(data) + 1
    if b"<" not in data:
        assert tamed == data


TARGETS: dict[str, Target] = {
    "page": page_of_markup,
    "facts": facts_of_markup,
    "texts": page_of_texts,
    "symbols": symbols,
    "signatures": signatures,
    "compared": compared,
    "template": template,
    "characters": characters,
    "links": links,
    "tags": tags,
    "postings": postings,
    "overlaps": overlaps,
    "searched": searched,
    "pairs": pairs,
}
