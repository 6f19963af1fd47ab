"""Antonyms: a word in whose place its antonym stands reverses a sentence, however long the page is.

English ones are the antonyms of Princeton WordNet 3.0 with their inflected forms (content/data/LICENSE.WordNet, made by
tools/wordnet_antonyms.py), and function words, which WordNet does not have. Chinese ones are single characters, as an
outline has them: 上升 and 下降 differ in two.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from itertools import product

from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.word_kinds import symbols_of

_FILE = "antonyms-3.0.txt.gz"

_FUNCTION_WORDS = """
on off/up down/before after/above below/over under/more less/more fewer/most few/most least/many few/much little/and or
and nor/if unless/he she/him her/his her/his hers/himself herself/must may/must might/must can/should may/with without
to from/us them/we they/our their/ours theirs/you they/your their/i you/my your/i he/i she/i they/my his/my her/my their
yes no/both neither/either neither/all none/all some/always never/in out/into from/inside outside/can cannot/will won
this that/these those/here there/first last/earlier later/until after/since until/because although/left right
open closed/opened closed/opens closes/within beyond/every no/some no/any no/everybody nobody/everyone nobody
everything nothing/again never/north south/east west/northern southern/eastern western/mr mrs/mr ms/am pm
"""

_CHINESE = """
上下 前后 左右 大小 多少 高低 增减 升降 涨跌 买卖 开关 启禁 启停 进出 出入 男女 有无 是否 真假 好坏 新旧 早晚
长短 快慢 东西 南北 生死 胜负 胜败 赢输 成败 加减 内外 里外 始终 首末 首尾 正反 正负 对错 难易 强弱 冷热 轻重
远近 深浅 宽窄 厚薄 先后 收支 读写 允禁 借贷 存取 公私 主从 主次 他她 我你 我他 你他 和或 与或 必可 应可 来去
往返 松紧 明暗 黑白 赚亏 盈亏 攻守 拉推 得失 赏罚 赞反 同异 夏冬 春秋 日夜 夫妻 父母 兄弟 姐妹 兄妹 爷奶 甲乙
乙丙 甲丙 合非 异同 损益 顺逆 凹凸 横竖 粗细 软硬 干湿 胖瘦 贵贱 穷富 敌友 爱恨 哭笑
"""


@cache
def antonyms() -> frozenset[tuple[int, int]]:
    """Symbols of an outline that are antonyms, each pair in both orders."""
    raw = (files("dedupcrawl.content") / "data" / _FILE).read_bytes()
    lines = [line.split("|") for line in gzip.decompress(raw).decode("ascii").splitlines()]
    pairs = [pair for one, other in lines for pair in product(one.split(), other.split())]
    pairs += [
        (one, other) for one, other in (pair.split() for pair in _FUNCTION_WORDS.replace("\n", "/").split("/") if pair)
    ]
    pairs += [(pair[0], pair[1]) for pair in _CHINESE.split()]
    words = sorted({word for pair in pairs for word in pair})
    symbols = symbols_of(SymbolText.of((" ".join(words),)))
    value = dict(zip(words, symbols.tolist(), strict=True))
    both = [(value[one], value[other]) for one, other in pairs if value[one] != value[other]]
    return frozenset((*both, *((other, one) for one, other in both)))
