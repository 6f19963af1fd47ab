"""Words that say nothing about a page, English and Chinese (simplified): articles, pronouns, particles, auxiliaries.

Function words only. Words such as "page" or "home" recur on a site but are content; a site's template is another
room's work. Contractions are listed by their pieces, because an apostrophe ends a symbol.
"""

from __future__ import annotations

_ENGLISH = """
a about above after again against all also am an and any are aren as at be because been before being below between both
but by can cannot could couldn d did didn do does doesn doing don down during each either else ever every few for from
further had hadn has hasn have haven having he her here hers herself him himself his how however i if in into is isn it
its itself just let ll m may me might mightn more most much must mustn my myself neither no nor not of off on once only
or other our ours ourselves out over own per quite rather re s same shall shan she should shouldn since so some such t
than that the their theirs them themselves then there these they this those though through thus to too under until up
upon us ve very was wasn we were weren what when where whether which while who whom whose why will with within without
won would wouldn yet you your yours yourself yourselves
"""

_CHINESE = """
的 了 是 在 和 与 及 或 也 都 就 而 且 但 但是 不 没 没有 有 这 那 这个 那个 这些 那些 这样 那样 这里 那里 这种 那种
这么 那么 此 该 其 其中 其他 其它 之 以 以及 以上 以下 以后 以前 于 对 对于 关于 从 自 自己 由 由于 被 把 将 给 让 使
向 往 到 为 为了 为什么 因 因为 因此 所以 所 如 如果 如何 如此 若 则 虽 虽然 然而 然后 还 还有 还是 又 再 再次 才 只
只有 只是 只要 仅 很 非常 更 更加 最 太 已 已经 曾 曾经 正在 正 着 过 地 得 们 我 我们 你 你们 您 他 他们 她 她们 它
它们 咱们 大家 谁 什么 哪 哪里 哪些 怎么 怎样 多少 几 几个 一 一个 一些 一种 一样 一下 一直 一般 个 些 种 每 每个 各
各个 各种 某 某些 某个 另 另外 另一 两 两个 能 能够 可 可以 可能 会 要 需 需要 应 应该 应当 必须 想 来 去 上 下 中 里
内 外 前 后 时 时候 当 当时 同 同时 同样 跟 并 并且 并不 不是 不会 不能 不过 不仅 不同 不要 甚至 而且 而是 即 即使
即可 既 既然 尽管 无论 不管 除 除了 等 等等 呢 吗 吧 啊 呀 嘛 哦 嗯 啦 哈 之间 之后 之前 之一 通过 根据 按照 按 例如
比如 比 像 似乎 便 却 连 至 至于 直到 而已 就是 也是 都是 于是 从而 只能 是否 还要 还会 有些 有的 有关 用 做 说
"""

STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_CHINESE.split())
"""Folded and simplified, as `dedupcrawl.content.terms` compares them. Part of what signatures depend on."""
