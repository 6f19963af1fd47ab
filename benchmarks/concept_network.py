"""The concept network: the paper's Table 1 and its figures 2 to 9, with the same rivals, on labelled real pages.

    python -m benchmarks.concept_network [--data DIR] [--output docs/concept-network.md]
    python -m benchmarks.concept_network --choices

Parameters were chosen on the "tune" half of the documents (--choices prints how); everything else is of the other half.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib as mpl
import numpy as np

from benchmarks.concept_methods import IMatch, Vector, concepts_of, vector, words_of
from benchmarks.mwo_experiment import table
from benchmarks.planted import Paragraphs, size
from benchmarks.planted_cases import SOURCES, look_alikes, originals, variants, versions
from benchmarks.texts import data_folder
from dedupcrawl.content import thesaurus
from dedupcrawl.content.checks.concepts import ConceptsCheck
from dedupcrawl.content.concept_network import Network, key_nodes, text_network
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.terms import term
from dedupcrawl.content.thesaurus import overlap_ratio

mpl.use("Agg")
from matplotlib import pyplot as plt

OUTPUT = Path(__file__).resolve().parents[1] / "docs" / "concept-network.md"
CHINESE = Path("lexicon") / "cow" / "wn-data-cmn.tab"
TABLE_1 = {145: 1685, 498: 6931, 1219: 24377, 3197: 256328}  # nodes → milliseconds a document
WORDS = (200, 900)  # shortest and longest page of the comparison
VERSIONS = 150  # pairs of versions that are looked at
PAGES = 20  # of each language
GROUPS = ("versions of documentation", "edited, cut and wrapped", "words replaced by synonyms")
DIFFERENT = 0.3  # Jaccard of shingles below which two versions are different pages, and …
SAME = 0.6  # … above which they are near-duplicates; between the two, nobody can say

Score = Callable[[Paragraphs, Paragraphs], bool]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pages and whether they say the same."""

    group: str
    language: str
    one: Paragraphs
    other: Paragraphs
    same: bool


def text_of(page: Paragraphs) -> str:
    return SymbolText.of(page).text


def shingles(page: Paragraphs) -> set[tuple[str, ...]]:
    symbols = SymbolText.of(page).symbols
    return set(zip(*(symbols[place:] for place in range(5)), strict=False))


def with_synonyms(page: Paragraphs, lexicon: str, share: float, chance: random.Random) -> Paragraphs:
    """One word in so many replaced by one of its synonyms, where it has any, as a spinner does."""
    book = thesaurus.load(lexicon)
    word = re.compile(r"[A-Za-z]{3,}|[\u4e00-\u9fff]{2}")

    def spin(found: re.Match[str]) -> str:
        own = term(found[0].lower())
        close = sorted(
            other
            for other in book.synonyms(own)
            if other != own and "_" not in other and overlap_ratio(book.synonyms(own), book.synonyms(other)) > 0.24
        )
        return chance.choice(close) if close and chance.random() < share else found[0]

    return tuple(word.sub(spin, paragraph) for paragraph in page)


def pairs(data: Path, half: str, lexicon: str) -> list[Pair]:
    """Labelled pairs of one half of the documents."""
    chance = random.Random(8)
    found: list[Pair] = []
    both = list(versions(data, half))
    for name, earlier, later in chance.sample(both, min(VERSIONS, len(both))):
        if not all(WORDS[0] <= size(page) <= WORDS[1] for page in (earlier, later)):
            continue
        sets = shingles(earlier), shingles(later)
        alike = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
        if alike > SAME or alike < DIFFERENT:
            found.append(Pair(GROUPS[0], name[:2], later, earlier, alike > SAME))
    pages = {name: page for name, page in originals(data, half, chance).items() if WORDS[0] <= size(page) <= WORDS[1]}
    few = {
        name: pages[name]
        for language in SOURCES
        for name in chance.sample(sorted(n for n in pages if n.startswith(language)), PAGES)
    }
    language_of = {page: name[:2] for name, page in few.items()}
    found += [
        Pair(GROUPS[1], language_of[case.kept], case.new, case.kept, True)
        for case in variants(few, chance)
        if not case.kind.startswith("excerpt")
    ]
    found += [
        Pair(GROUPS[2], name[:2], with_synonyms(page, lexicon, 0.2, chance), page, True) for name, page in few.items()
    ]
    found += [
        Pair(GROUPS[1], "zh" if re.search("[\u4e00-\u9fff]", "".join(case.new)) else "en", case.new, case.kept, False)
        for case in look_alikes(few, chance)
        if case.kind.startswith("own text")
    ]
    by_language = {language: [few[name] for name in few if name.startswith(language)] for language in SOURCES}
    for group in GROUPS:  # other pages, as many as there are near-duplicates
        for language, others in by_language.items():
            own = [pair for pair in found if pair.group == group and pair.language == language]
            count = max(0, 2 * sum(pair.same for pair in own) - len(own))
            for _ in range(count):
                one, other = chance.sample(others, 2)
                found.append(Pair(group, language, one, other, False))
    return found


def dwdcs(check: ConceptsCheck) -> Score:
    return _again(check, {})


def dwswn(check: ConceptsCheck) -> Score:
    return compared(check, lambda text: vector(words_of(text), check, 10**6), {})


def compared(
    check: ConceptsCheck, make: Callable[[str], Vector | None], made: dict[Paragraphs, Vector | None]
) -> Score:
    """Whether the check accepts a pair; vectors are made once and remembered in `made`."""

    def same(one: Paragraphs, other: Paragraphs) -> bool:
        for page in (one, other):
            if page not in made:
                made[page] = make(text_of(page))
        new, kept = made[one], made[other]
        return new is not None and kept is not None and check.compare(new, kept) is not None

    return same


def i_match(corpus: Sequence[Paragraphs]) -> Score:
    method = IMatch(map(text_of, corpus))
    return lambda one, other: method.fingerprint(text_of(one)) == method.fingerprint(text_of(other))


def precision_and_recall(found: Sequence[Pair], same: Score) -> tuple[float, float]:
    """Over pairs, half of which are near-duplicates."""
    said = [(pair.same, same(pair.one, pair.other)) for pair in found]
    right = sum(is_same and says for is_same, says in said)
    return right / max(1, sum(says for _, says in said)), right / max(1, sum(is_same for is_same, _ in said))


def comparison(labelled: Sequence[Pair], corpus: Sequence[Paragraphs], check: ConceptsCheck, figure: Path) -> str:
    """Figures 2 to 7."""
    methods = {"DWDCS": dwdcs(check), "DWSWN (words)": dwswn(check), "I-Match": i_match(corpus)}
    rows: list[Sequence[object]] = []
    for group in GROUPS:
        for language in SOURCES:
            some = [pair for pair in labelled if pair.group == group and pair.language == language]
            for name, same in methods.items():
                precision, recall = precision_and_recall(some, same)
                rows.append(
                    (group, language, sum(pair.same for pair in some), name, f"{precision:.3f}", f"{recall:.3f}")
                )
    panel, axis = plt.subplots(figsize=(10, 4))
    for shift, name in enumerate(methods):
        axis.bar(np.arange(6) + 0.27 * shift, [float(str(row[5])) for row in rows if row[3] == name], 0.25, label=name)
    axis.set_xticks(
        np.arange(6) + 0.27, [f"{group}\n({language})" for group in GROUPS for language in SOURCES], fontsize=7
    )
    axis.set_ylabel("recall")
    axis.legend()
    panel.tight_layout()
    panel.savefig(figure, dpi=110)
    return table(("pages", "language", "near-duplicates", "method", "precision", "recall"), rows)


def choice_of_p_and_l(labelled: Sequence[Pair], check: ConceptsCheck, figure: Path) -> str:
    """Figures 8 and 9, over all groups but the synonyms."""
    some = [pair for pair in labelled if pair.group != GROUPS[2]][::2]
    rows: list[Sequence[object]] = []
    lines: dict[str, list[tuple[int, float]]] = {"p": [], "l": []}
    for kept in (5, 10, 15, 20, 25, 30):
        precision, recall = precision_and_recall(
            some, dwdcs(replace(check, kept=kept, min_kept=min(kept, check.min_kept)))
        )
        rows.append(("p", kept, f"{precision:.3f}", f"{recall:.3f}", ""))
        lines["p"].append((kept, recall))
    for considered in (20, 25, 30, 40, 60, 100):
        start = time.process_time()
        precision, recall = precision_and_recall(some, dwdcs(replace(check, considered=considered)))
        spent = 1000 * (time.process_time() - start) / (2 * len(some))
        rows.append(("l", considered, f"{precision:.3f}", f"{recall:.3f}", f"{spent:.1f}"))
        lines["l"].append((considered, recall))
    panels, axes = plt.subplots(1, 2, figsize=(10, 3.5), sharey=True)
    for axis, (name, points) in zip(axes, lines.items(), strict=True):
        axis.plot(*zip(*points, strict=True), marker="o")
        axis.set_xlabel({"p": "p, key concepts", "l": "l, nodes tried"}[name])
    axes[0].set_ylabel("recall")
    panels.tight_layout()
    panels.savefig(figure, dpi=110)
    return table(("parameter", "value", "precision", "recall", "ms a page"), rows)


def text_like_network(nodes: int, chance: random.Random) -> Network:
    """A network as texts make them: words by Zipf's law, two neighbours on each side joined; about 8 edges a node."""
    heights = [1 / (rank + 1) ** 0.8 for rank in range(nodes)]
    text = [*map(str, range(nodes)), *map(str, chance.choices(range(nodes), heights, k=round(1.25 * nodes)))]
    chance.shuffle(text)
    return text_network(text, 0, nodes)[1]


def times(data: Path, lexicon: str) -> str:
    """Table 1: milliseconds of CPU for the key concepts of one network."""
    chance = random.Random(9)
    rows: list[Sequence[object]] = []
    for nodes, paper in TABLE_1.items():
        network = text_like_network(nodes, chance)
        repeats = max(1, 3000 // nodes)
        spent = []
        for _ in range(repeats):
            fresh = Network(network.starts, network.neighbours)
            start = time.process_time()
            key_nodes(fresh, 30, 20)
            spent.append(1000 * (time.process_time() - start))
        rows.append(
            (
                nodes,
                f"{network.degrees.mean():.1f}",
                f"{statistics.median(spent):.1f}",
                f"{paper:,}",
                f"{paper / statistics.median(spent):,.0f}",
            )
        )
    merged, words = [], []
    check = ConceptsCheck(thesaurus=lexicon)
    for page in list(originals(data, "report", chance).values())[::5]:
        merged.append(len(set(concepts_of(text_of(page), check))))
        words.append(len(set(words_of(text_of(page)))))
    share = sum(merged) / sum(words)
    return table(("nodes", "edges a node", "CPU ms", "the paper's ms", "times faster"), rows) + (
        f"\nMerging leaves {share:.0%} of the nodes, {statistics.mean(words):.0f} → {statistics.mean(merged):.0f} "
        "a page; the paper: 63 %.\n"
    )


def choices(labelled: Sequence[Pair], check: ConceptsCheck) -> None:
    """What the defaults were chosen by: precision and recall in each group. S_thr and n do not change vectors."""
    made: dict[Paragraphs, Vector | None] = {}
    tried: list[tuple[str, Score]] = [
        *((f"S_thr {value}", _again(replace(check, deviation=value), made)) for value in (0.02, 0.05, 0.1, 0.2, 1.0)),
        *((f"n {value}", _again(replace(check, searched=value), made)) for value in (1, 2, 3, 5, 10, 20)),
        *((f"Rel_thr {value}", dwdcs(replace(check, related=value))) for value in (0.24, 0.34, 0.5, 1.0)),
        *((f"f_thr {value}", dwdcs(replace(check, above=value))) for value in (0, 1)),
    ]
    for name, same in tried:
        figures = [precision_and_recall([pair for pair in labelled if pair.group == group], same) for group in GROUPS]
        print(f"{name:12}", "  ".join(f"{p:.3f} {r:.3f}" for p, r in figures), flush=True)


def _again(check: ConceptsCheck, made: dict[Paragraphs, Vector | None]) -> Score:
    return compared(check, lambda text: vector(concepts_of(text, check), check, check.considered), made)


TEXT = """# Concept networks, measured

Made by `python -m benchmarks.concept_network`. Pages are the "report" half of two documentations, Chinese and English;
parameters were chosen on the other half. Synonyms: WordNet, and the Chinese Open Wordnet of the data folder.

## Time (Table 1)

Key concepts of one network, 30 nodes tried: CPU of one core of this machine, the paper's of a machine of 2009.

{times}
## Against I-Match and the word network (figures 2 to 7)

Near-duplicates are two versions of one page (5-symbol shingles alike by more than .6), a page with up to 10 % of its
words edited, its blocks shuffled, cut to 70 % or wrapped in a template, and a page with one word in five replaced by a
synonym. As many other pairs: two versions alike by less than .3, other texts in the same template, other pages.

{comparison}
![Recall](concept-network-recall.png)

## Choice of p and l (figures 8 and 9)

{choice}
![p and l](concept-network-choice.png)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help="folder that holds text/, html/ and lexicon/")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--choices", action="store_true", help="try other parameters on the tuning half instead")
    options = parser.parse_args()
    data = data_folder(options.data)
    lexicon = str(data / CHINESE)
    check = ConceptsCheck(thesaurus=lexicon)
    if options.choices:
        labelled = pairs(data, "tune", lexicon)
        print(len(labelled), "pairs", flush=True)
        choices(labelled, check)
        return
    labelled = pairs(data, "report", lexicon)
    print(len(labelled), "pairs", flush=True)
    corpus = list(originals(data, "tune", random.Random(3)).values())
    text = TEXT.format(
        times=times(data, lexicon),
        comparison=comparison(labelled, corpus, check, options.output.with_name("concept-network-recall.png")),
        choice=choice_of_p_and_l(labelled, check, options.output.with_name("concept-network-choice.png")),
    )
    options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
