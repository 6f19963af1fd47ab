"""Pages without a label, some with damaged bytes: whose text comes out as it was? Prints a Markdown table.

    python -m benchmarks.encodings [--data DIR] [--messages DIR] [--before REVISION] [--pages N]

Real pages: German and French (crawls/mirrors) and Chinese ones (html) whose label is taken out. For other languages
pages are made of the sentences of `encoding_texts`. On these the figures are reported. With --messages, pages are made
of what the programs of this machine say in many languages (DIR/LANGUAGE/LC_MESSAGES/*.mo, as in /usr/share/locale): on
these the detector and the numbers in `content/encoding.py` were chosen.

Half of the made pages have about 250 characters of text, half 2,500. Each page is encoded (what its charset lacks
becomes a reference, as in a browser's form), and 0, 1, or 10 of its bytes are replaced at random. Its text is right if
it is what somebody gets who knows the charset, but for the characters at damaged bytes. A column has the shares of
pages read right with 0 / 1 / 10 damaged bytes, CPU is process time a page.

Detectors are asked about the first 16 KiB of what is not valid UTF-8. `--before` reads with that revision's module.
"""

from __future__ import annotations

import argparse
import codecs
import gettext
import itertools
import json
import lzma
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from w3lib.encoding import resolve_encoding

from benchmarks.encoding_texts import SENTENCES
from benchmarks.markdown import table
from dedupcrawl.content.encoding import decode

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
Reader = Callable[[bytes], str]
Detect = Callable[[bytes], str | None]  # codec of a sample
DAMAGE = (0, 1, 10)
DETECTED_BYTES = 16_384
# Charset: languages whose pages come in it.
CHARSETS = {
    "utf-8": ("de", "fr", "ru"),
    "cp1252": ("de", "fr", "es"),
    "cp1250": ("pl", "cs", "hu"),
    "iso8859-2": ("pl", "cs"),
    "cp1251": ("ru", "uk"),
    "koi8-r": ("ru",),
    "iso8859-5": ("ru",),
    "cp1253": ("el",),
    "iso8859-7": ("el",),
    "cp1254": ("tr",),
    "cp1255": ("he",),
    "cp1256": ("ar",),
    "cp874": ("th",),
    "cp932": ("ja",),
    "euc_jp": ("ja",),
    "iso2022_jp": ("ja",),
    "cp949": ("ko",),
    "gb18030": ("zh_CN",),
    "hz": ("zh_CN",),
    "big5hkscs": ("zh_TW",),
}
NAMES = {  # as web pages have them, where our codecs have another
    **{f"cp125{number}": f"windows-125{number}" for number in range(7)},
    **{f"iso8859-{number}": f"ISO-8859-{number}" for number in (2, 5, 7)},
    **{"cp1254": "ISO-8859-9", "cp874": "windows-874", "koi8-r": "KOI8-R", "utf-8": "UTF-8", "gb18030": "GB 18030"},
    **{"cp932": "Shift_JIS", "euc_jp": "EUC-JP", "iso2022_jp": "ISO-2022-JP", "cp949": "EUC-KR", "hz": "HZ"},
    "big5hkscs": "Big5",
}
SEVEN_BITS = frozenset(("hz", "iso2022_jp"))
SEVEN = bytes(byte & 0x7F for byte in range(256))
MULTIBYTE = frozenset(("utf-8", "cp932", "euc_jp", "cp949", "gb18030", "big5hkscs", *SEVEN_BITS))
LABEL = re.compile(r"""<meta[^>]*charset[^>]*>|encoding=["'][\w-]+["']""", re.IGNORECASE)
# Names of detectors for what web pages call otherwise, or what has a superset that web pages use.
CODECS = {"uhc": "cp949", "euc_jis_2004": "euc_jp", "shift_jis_2004": "cp932", "iso2022_jp_2": "iso2022_jp"}


@dataclass(frozen=True)
class Case:
    charset: str
    damage: int
    body: bytes
    at: frozenset[int]  # offsets of the damaged bytes

    def is_right(self, text: str) -> bool:
        wanted = _decode(self.body, self.charset)
        if self.charset in SEVEN_BITS and text == _decode(self.body.translate(SEVEN), self.charset):
            return True  # as good, for a damaged byte damages one character
        if self.charset in MULTIBYTE or len(text) != len(wanted):
            return text == wanted
        return all(a == b or at in self.at for at, (a, b) in enumerate(zip(text, wanted, strict=True)))


def _decode(body: bytes, charset: str) -> str:
    return codecs.getincrementaldecoder(charset)("replace").decode(body)


def made(sentences: tuple[str, ...], count: int, rng: random.Random) -> Iterator[str]:
    """Pages with a menu in ASCII, a title, and paragraphs of sentences."""
    for number in range(count):
        length, text = (250, 2_500)[number % 2], ""
        while len(text) < length:
            text += "".join(f"<p>{sentence}</p>\n" for sentence in rng.sample(sentences, 2))
        menu = "".join(f"<li><a href=/page{item}>Item {item}</a></li>" for item in range(length // 100))
        title = rng.choice(sentences)[:40]
        yield f"<!doctype html><html><head><title>{title}</title></head><body><ul>{menu}</ul>{text}</body></html>"


def real(data: Path, language: str) -> list[str]:
    """Pages of the shared data, without the label of their charset."""
    if language == "zh_CN":
        pages = [decode(path.read_bytes()) for path in sorted((data / "html/zh-articles/original").glob("*.html"))]
    elif language in {"de", "fr"}:
        name = {"de": "freetz.org", "fr": "eaglecraft.fr"}[language]
        with lzma.open(data / f"crawls/mirrors/{name}.jsonl.xz", "rt", encoding="utf-8") as rows:
            pages = [json.loads(row)["html"] for row in itertools.islice(rows, 200)]
    else:
        return []
    return [LABEL.sub("", page) for page in pages if not page.isascii()]


def messages(folder: Path, language: str) -> tuple[str, ...]:
    """Sentences that programs say in a language."""
    texts: set[str] = set()
    for path in sorted((folder / language / "LC_MESSAGES").glob("*.mo")):
        try:
            with path.open("rb") as file:
                catalog: dict[object, object] = vars(gettext.GNUTranslations(file))["_catalog"]
        except (OSError, UnicodeError):  # not in UTF-8
            continue
        texts.update(" ".join(text.split()) for key, text in catalog.items() if isinstance(text, str) and key != text)
    told = (text for text in texts if len(text) >= 25 and not text.isascii() and not re.search(r"[%<]|--", text))
    return tuple(sorted(text for text in told if language in {"de", "fr", "es"} or _is_in_its_script(text)))


def _is_in_its_script(text: str) -> bool:
    return sum(not char.isascii() for char in text) > 0.05 * len(text)


def cases(data: Path, folder: Path | None, count: int) -> Iterator[Case]:
    for charset, languages in CHARSETS.items():
        for language in languages:
            rng = random.Random(f"{charset} {language}")
            if folder:
                pages = list(made(messages(folder, language), count, rng))
            else:
                found = real(data, language)
                pages = rng.sample(found, min(count, len(found))) or list(made(SENTENCES[language], count, rng))
            for page in pages:
                body = page.encode(charset, "xmlcharrefreplace")
                if body.isascii() and charset not in SEVEN_BITS:
                    continue
                for damage in DAMAGE:
                    damaged, at = bytearray(body), rng.sample(range(len(body)), damage)
                    for offset in at:
                        damaged[offset] ^= rng.randrange(1, 256)
                    yield Case(charset, damage, bytes(damaged), frozenset(at))


def detectors() -> dict[str, Detect]:
    """Name and version → charset of a sample, of those that are installed."""
    from importlib.metadata import PackageNotFoundError, version

    def faust(sample: bytes) -> str | None:
        import cchardet

        return cchardet.detect(sample)["encoding"]

    def chardet(sample: bytes) -> str | None:
        from chardet import detect

        return detect(sample, compat_names=False)["encoding"]

    def chardetng(sample: bytes) -> str | None:
        from chardetng_py import detect  # type: ignore[import-untyped]

        return str(detect(sample, allow_utf8=True))

    def normalizer(sample: bytes) -> str | None:
        from charset_normalizer import from_bytes

        best = from_bytes(sample).best()
        return best.encoding if best else None

    def resiliparse(sample: bytes) -> str | None:
        from resiliparse.parse.encoding import detect_encoding

        return detect_encoding(sample, html5_compatible=False)

    available: dict[str, Detect] = {}
    by_name = {"chardet": chardet, "chardetng_py": chardetng, "charset-normalizer": normalizer}
    for name, detect in {**by_name, "faust-cchardet": faust, "resiliparse": resiliparse}.items():
        try:
            available[f"{name} {version(name)}"] = detect
        except PackageNotFoundError:
            print(f"{name} is not installed", file=sys.stderr)
    return available


def reader(detect: Detect) -> Reader:
    def read(body: bytes) -> str:
        try:
            return codecs.getincrementaldecoder("utf-8")().decode(body) if not body.isascii() else _by(detect, body)
        except UnicodeDecodeError:
            return _by(detect, body)

    return read


def _by(detect: Detect, body: bytes) -> str:
    name = (detect(body[:DETECTED_BYTES]) or "windows-1252").lower()
    return _decode(body, resolve_encoding(CODECS.get(name, name)) or "cp1252")


def before(revision: str) -> Reader:
    """The module as it was then."""
    command = ["git", "show", f"{revision}:dedupcrawl/content/encoding.py"]
    source = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True).stdout
    module = ModuleType("encoding_before")
    exec(source, module.__dict__)
    read: Reader = module.decode
    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--messages", type=Path)
    parser.add_argument("--before", metavar="REVISION")
    parser.add_argument("--pages", type=int, default=20, metavar="N", help="of a charset and language (20)")
    args = parser.parse_args()
    readers: dict[str, Reader] = {"dedupcrawl": decode}
    if args.before:
        readers[f"dedupcrawl {args.before}"] = before(args.before)
    readers.update({name: reader(detect) for name, detect in detectors().items()})
    for read in readers.values():
        read("Größe, und so weiter".encode("cp1252"))  # loads the detector's tables

    right: dict[tuple[str, str, int], list[bool]] = defaultdict(list)
    seconds: dict[str, float] = defaultdict(float)
    for case in cases(args.data, args.messages, args.pages):
        for name, read in readers.items():
            start = time.process_time()
            text = read(case.body)
            seconds[name] += time.process_time() - start
            for charset in (case.charset, "all"):
                right[name, charset, case.damage].append(case.is_right(text))

    rows: list[list[object]] = []
    for charset in (*CHARSETS, "all"):
        count = len(right["dedupcrawl", charset, 0])
        shares = [[right[name, charset, damage] for damage in DAMAGE] for name in readers]
        cells = [" / ".join(f"{sum(hits) / len(hits):.2f}" for hits in column) for column in shares]
        rows.append([NAMES.get(charset, charset), count, *cells])
    total = sum(len(right["dedupcrawl", "all", damage]) for damage in DAMAGE)
    rows.append(["all, any damage", total, *(f"{_mean(right, name):.3f}" for name in readers)])
    rows.append(["CPU a page, ms", "", *(f"{1_000 * seconds[name] / total:.2f}" for name in readers)])
    print(table(["charset", "pages", *readers], rows))


def _mean(right: dict[tuple[str, str, int], list[bool]], name: str) -> float:
    """Of the charsets, each counted alike."""
    hits = [[hit for damage in DAMAGE for hit in right[name, charset, damage]] for charset in CHARSETS]
    return sum(sum(column) / len(column) for column in hits) / len(hits)


if __name__ == "__main__":
    main()
