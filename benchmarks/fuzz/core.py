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
import mmap
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.fuzz.core_targets import TARGETS, Target

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "core" / "corpus"

_BATCH = 100_000  # inputs of a process
_ROUND = 1_000  # inputs made of one blob
_SECONDS = 20  # of CPU for a round
_LARGEST = 1 << 20  # bytes of an input
_FAILURES = 20  # then a target is given up


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
\ufdfa \ufdfb \u321d \u0344 \u0f73 \u0f81 \u1f82 \u0345 \ufb2c \uff9e \u200b \u00ad e\u0301\u0327
A\u0301 \u1100\u1161\u11a8 가각
ｶﾞ 𝅘𝅥𝅮 ß İ ΐ ﬃ ㎯ Ⅷ １２ 數據 数据 中文。 見http://a.cn/。 かな ไทย हिन्दी 😀 👩\u200d👩 −5 $5 C# A- ✓ ½ … ٣ é a,b.c;d 1,2.3
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
