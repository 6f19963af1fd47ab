"""Kinds of words: what a symbol that differs is, told from its 15 bits alone, for the text is gone then.

"Five percent" and "nine percent", 三月 and 五月, Monday and Friday tell bulletins apart as 5 and 9 do. But many of
these words often mean no number (一 in 一些, "may", "second", "sun"), so they are told from digits.

A word in whose place its antonym stands reverses a sentence, however long the page is. English ones are the antonyms of
Princeton WordNet 3.0 with their inflected forms (content/data/LICENSE.WordNet, made by tools/wordnet_antonyms.py), and
function words, which WordNet does not have. Chinese ones are single characters, as an outline has them: 上升 and 下降
differ in two.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.characters import TOUCHING, VALUES
from dedupcrawl.content.stop_words import STOP_WORDS
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.tiles import Symbols

_NEGATIONS = """
no not nor never none nobody nothing nowhere neither without cannot t hardly barely scarcely seldom rarely
不 没 无 未 非 否 勿 莫 禁
nicht kein keine keinen keinem keiner keines nie niemals niet geen nooit inte ingen aldrig ikke aldri
pas jamais aucun aucune ni nunca ningún ninguna não nem non mai nessun nessuna
не нет ни никогда нельзя нет nie nigdy لا لم لن ليس
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Folded. Contractions ("can't") by their last part: an apostrophe ends a symbol."""

_TELLING = """
d m s may us it will can must he she him her his hers we they our their on off up down in out before after above below
over under more less most few and or if unless to from all any some every here there this that same again
"""
TELLING = frozenset(_TELLING.split())
"""Stop words that are not filler where they differ: letters that stand alone, names and months, opposites."""

_NUMERALS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen half
quarter double triple once twice first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
i ii iii iv v vi vii viii ix x xi xii
"""
_CHINESE_NUMERALS = "〇零一二两三四五六七八九十廿百千万亿兆半双壹贰叁肆伍陆柒捌玖拾佰仟甲乙丙丁日"

NUMERALS = frozenset(_NUMERALS.split()) | frozenset(_CHINESE_NUMERALS)
"""Folded and simplified."""

_DATES = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
am pm today yesterday ago second seconds minute minutes hour hours day days week weeks month months year years
"""

_ANTONYMS = "antonyms-3.0.txt.gz"

_ANTONYMOUS_FUNCTION_WORDS = """
on off/up down/before after/above below/over under/more less/more fewer/most few/most least/many few/much little/and or
and nor/if unless/he she/him her/his her/his hers/himself herself/must may/must might/must can/should may/with without
to from/us them/we they/our their/ours theirs/you they/your their/i you/my your/i he/i she/i they/my his/my her/my their
yes no/both neither/either neither/all none/all some/always never/in out/into from/inside outside/can cannot/will won
this that/these those/here there/first last/earlier later/until after/since until/because although/left right
open closed/opened closed/opens closes/within beyond/every no/some no/any no/everybody nobody/everyone nobody
everything nothing/again never/north south/east west/northern southern/eastern western/mr mrs/mr ms/am pm
"""

_CHINESE_ANTONYMS = """
上下 前后 左右 大小 多少 高低 增减 升降 涨跌 买卖 开关 启禁 启停 进出 出入 男女 有无 是否 真假 好坏 新旧 早晚
长短 快慢 东西 南北 生死 胜负 胜败 赢输 成败 加减 内外 里外 始终 首末 首尾 正反 正负 对错 难易 强弱 冷热 轻重
远近 深浅 宽窄 厚薄 先后 收支 读写 允禁 借贷 存取 公私 主从 主次 他她 我你 我他 你他 和或 与或 必可 应可 来去
往返 松紧 明暗 黑白 赚亏 盈亏 攻守 拉推 得失 赏罚 赞反 同异 夏冬 春秋 日夜 夫妻 父母 兄弟 姐妹 兄妹 爷奶 甲乙
乙丙 甲丙 合非 异同 损益 顺逆 凹凸 横竖 粗细 软硬 干湿 胖瘦 贵贱 穷富 敌友 爱恨 哭笑
"""

NUMBER, CONTENT, FUNCTION, NEGATION, CONTENT_NUMERAL, FUNCTION_NUMERAL = range(6)
_VALUES = 1 << 16  # of a symbol in an outline
MASKED = 1
"""What stands for every number and word of a date in the skeleton of a block; no other symbol's value."""


@cache
def word_kinds() -> NDArray[np.uint8]:
    """Shape (65536,): the kind of each value that a symbol of an outline may have."""
    kinds = np.full(_VALUES, CONTENT, dtype=np.uint8)
    kinds[1::2] = NUMBER
    # Filler last: it is commoner than a negation that has the same 15 bits, as "cannot" has those of "a".
    for words, kind in ((NEGATIONS, NEGATION), (STOP_WORDS - TELLING - NEGATIONS, FUNCTION)):
        kinds[values_of(words)] = kind
    kinds[symbols_of(SymbolText.of((VALUES,)))] = FUNCTION_NUMERAL
    kinds[symbols_of(SymbolText.of(tuple(f"a{sign}" for sign in TOUCHING)))[1::2]] = FUNCTION_NUMERAL
    numerals = values_of(NUMERALS)
    kinds[numerals] = np.where(kinds[numerals] == FUNCTION, FUNCTION_NUMERAL, CONTENT_NUMERAL)
    return kinds


@cache
def skeletons() -> Symbols:
    """Shape (65536,): each value, but `MASKED` for numbers and the words of dates and times."""
    table = np.arange(_VALUES, dtype=np.uint16)
    table[1::2] = MASKED
    table[values_of(_DATES.split())] = MASKED
    return table


def values_of(words: Iterable[str]) -> Symbols:
    """The values of those words that are one symbol."""
    texts = (SymbolText.of((word,)) for word in sorted(words))
    return np.concatenate([symbols_of(text) for text in texts if len(text.hashes) == 1])


def symbols_of(text: SymbolText) -> Symbols:
    """Shape (n,) uint16: the upper 15 bits of each symbol's hash and, as bit 0, whether it holds a digit."""
    symbols: Symbols = (text.hashes >> np.uint64(48)).astype("<u2")
    symbols &= np.uint16(0xFFFE)
    symbols |= (text.hashes & np.uint64(1)).astype("<u2")
    return symbols


@cache
def antonyms() -> frozenset[tuple[int, int]]:
    """Symbols of an outline that are antonyms, each pair in both orders."""
    raw = (files("dedupcrawl.content") / "data" / _ANTONYMS).read_bytes()
    lines = [line.split("|") for line in gzip.decompress(raw).decode("ascii").splitlines()]
    pairs = [pair for one, other in lines for pair in product(one.split(), other.split())]
    pairs += [
        (one, other)
        for one, other in (pair.split() for pair in _ANTONYMOUS_FUNCTION_WORDS.replace("\n", "/").split("/") if pair)
    ]
    pairs += [(pair[0], pair[1]) for pair in _CHINESE_ANTONYMS.split()]
    words = sorted({word for pair in pairs for word in pair})
    symbols = symbols_of(SymbolText.of((" ".join(words),)))
    value = dict(zip(words, symbols.tolist(), strict=True))
    both = [(value[one], value[other]) for one, other in pairs if value[one] != value[other]]
    return frozenset((*both, *((other, one) for one, other in both)))
