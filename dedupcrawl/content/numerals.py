"""Words and signs that count, measure or date: numbers where another of them stands in their place.

"Five percent" and "nine percent", 三月 and 五月, Monday and Friday tell bulletins apart as 5 and 9 do. But many of
these words often mean no number (一 in 一些, "may", "second", "sun"). So they are told from digits, and count as
numbers only where the other page has another of them in their place, or where one was put to a number or taken from it.
"""

from __future__ import annotations

_ENGLISH = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen half
quarter double triple once twice first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
i ii iii iv v vi vii viii ix x xi xii
"""
_CHINESE = "〇零一二两三四五六七八九十廿百千万亿兆半双壹贰叁肆伍陆柒捌玖拾佰仟甲乙丙丁日"

NUMERALS = frozenset(_ENGLISH.split()) | frozenset(_CHINESE)
"""Folded and simplified."""
