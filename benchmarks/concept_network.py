"""The concept network: the paper's Table 1 and its figures 2 to 9, with the same rivals, on labelled real pages.

    python -m benchmarks.concept_network [--data DIR] [--output concept-network.md]

Parameters were chosen on the "tune" half of the documents, by `--choices` at d5f06064; all figures are of the other
half.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np

from benchmarks.concept_methods import IMatch, Vector, concepts_of, vector, words_of
from benchmarks.concept_pairs import GROUPS, Pair, pairs, text_of
from benchmarks.concept_times import by_length, merging, times
from benchmarks.markdown import table
from benchmarks.planted import Paragraphs
from benchmarks.planted_cases import SOURCES, originals
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.concepts import ConceptsCheck

mpl.use("Agg")
from matplotlib import pyplot as plt

OUTPUT = Path("concept-network.md")  # whose tables stand in docs/measured/papers.md
CHINESE = Path("lexicon") / "cow" / "wn-data-cmn.tab"
FEW = 10  # near-duplicates below which a group says nothing
Score = Callable[[Paragraphs, Paragraphs], bool]


def dwdcs(check: ConceptsCheck) -> Score:
    return compared(check, lambda text: vector(concepts_of(text, check), check, check.considered), {})


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
    groups: list[str] = []
    for group in GROUPS:
        for language in SOURCES:
            some = [pair for pair in labelled if pair.group == group and pair.language == language]
            if sum(pair.same for pair in some) < FEW:
                continue
            groups.append(f"{group}\n({language})")
            for name, same in methods.items():
                precision, recall = precision_and_recall(some, same)
                rows.append(
                    (group, language, sum(pair.same for pair in some), name, f"{precision:.3f}", f"{recall:.3f}")
                )
    bars({name: [row for row in rows if row[3] == name] for name in methods}, groups, figure)
    return table(("pages", "language", "near-duplicates", "method", "precision", "recall"), rows)


def bars(rows: Mapping[str, Sequence[Sequence[object]]], groups: Sequence[str], figure: Path) -> None:
    """Precision and recall, the last two cells of a method's rows, one row a group."""
    panels, axes = plt.subplots(2, 1, figsize=(10, 6), sharex=True, layout="constrained")
    for axis, column, label in zip(axes, (-2, -1), ("precision", "recall"), strict=True):
        for shift, (name, lines) in enumerate(rows.items()):
            axis.bar(
                np.arange(len(groups)) + 0.27 * shift, [float(str(line[column])) for line in lines], 0.25, label=name
            )
        axis.set_ylabel(label)
    axes[1].set_xticks(np.arange(len(groups)) + 0.27, groups, fontsize=8)
    axes[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=len(rows))
    panels.savefig(figure, dpi=110)
    plt.close(panels)


def choice_of_p_and_l(labelled: Sequence[Pair], check: ConceptsCheck, figure: Path) -> str:
    """Figures 8 and 9, over all groups but the synonyms."""
    some = [pair for pair in labelled if pair.group != GROUPS[2]][::2]
    checks = {
        **{
            ("p", kept): replace(check, kept=kept, min_kept=min(kept, check.min_kept))
            for kept in (5, 10, 15, 20, 25, 30)
        },
        **{("l", considered): replace(check, considered=considered) for considered in (20, 25, 30, 40, 60, 100)},
    }
    found: dict[tuple[str, int], tuple[float, float, float]] = {}
    for choice, chosen in checks.items():
        start = time.process_time()
        precision, recall = precision_and_recall(some, dwdcs(chosen))
        found[choice] = precision, recall, 1000 * (time.process_time() - start) / (2 * len(some))
    panels, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for axis, name, label in zip(axes, "pl", ("p, key concepts", "l, nodes tried"), strict=True):
        values = [value for parameter, value in found if parameter == name]
        for place, line in enumerate(("precision", "recall")):
            axis.plot(values, [found[name, value][place] for value in values], marker="o", label=line)
        axis.set_xlabel(label)
        axis.set_ylim(0, 1.02)
        axis.grid(alpha=0.3)
        times = axis.twinx()
        times.plot(values, [found[name, value][2] for value in values], color="0.6", linestyle="--", label="ms a page")
        times.set_ylim(bottom=0)
        times.set_ylabel("CPU ms a page (dashed)")
    axes[0].legend(loc="lower right")
    panels.savefig(figure, dpi=110)
    plt.close(panels)
    rows = [(name, value, f"{p:.3f}", f"{r:.3f}", f"{ms:.1f}") for (name, value), (p, r, ms) in found.items()]
    return table(("parameter", "value", "precision", "recall", "CPU ms a page"), rows)


TEXT = """# Concept networks, measured

Made by `python -m benchmarks.concept_network`. Pages are the "report" half of two documentations, Chinese and English;
parameters were chosen on the other half (`--choices` at d5f06064). Synonyms: WordNet, and the Chinese Open Wordnet of
the data folder. This is the published check alone: the package drops no page without [evidence](../judging.md).

## Time (Table 1)

Key concepts of one network, 30 nodes tried: CPU of one core of this machine, the paper's of a machine of 2009. The
networks are made up, words by Zipf's law, so that they have the paper's sizes.

{times}
Real documents: nodes / milliseconds. DWDCS tries 30 nodes of a network of concepts, KeyWorld (Matsuo et al. 2001) all
nodes of a network of words.

{by_length}
### What merging saves

Different concepts for 100 different words and phrases. The paper has 63 %.

{merging}
Ours is .24, chosen by precision and recall (`--choices` at d5f06064). Even the least merges fewer of our pages' words
than the paper reports; what DWDCS gains in time here comes from trying 30 nodes, not from fewer nodes.

## Against I-Match and the word network (figures 2 to 7)

Near-duplicates are two versions of one page (5-symbol shingles alike by more than .6), a page with up to 10 % of its
words edited, its blocks shuffled, cut to 70 % or wrapped in a template, and a page with one word in five replaced by a
synonym. As many other pairs: two versions alike by less than .3, other texts in the same template, other pages. Groups
of fewer than {few} near-duplicates are left out. The paper claims a precision above 90 % and a recall above 85 %. As in
the paper DWDCS finds more than both others in every group, most where words are replaced by synonyms. Other texts in
the same template take it below 90 % of precision, and pages cut to 70 % or with 10 % edited below 85 % of recall.

{comparison}
![Precision and recall](concept-network-recall.png)

## Choice of p and l (figures 8 and 9)

Over versions and edited pages. The paper takes p = 20 and l = 30. Here, too, precision is best at both, and more than
30 nodes cost time and find no more; but recall still rises with p, and is best at l = 20.

{choice}
![p and l](concept-network-choice.png)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help="folder that holds text/, html/ and lexicon/")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    data = data_folder(options.data)
    lexicon = str(data / CHINESE)
    check = ConceptsCheck(thesaurus=lexicon)
    labelled = pairs(data, "report", lexicon)
    print(len(labelled), "pairs", flush=True)
    corpus = list(originals(data, "tune", random.Random(3)).values())
    text = TEXT.format(
        times=times(),
        by_length=by_length(data, lexicon),
        merging=merging(data, lexicon),
        few=FEW,
        comparison=comparison(labelled, corpus, check, options.output.with_name("concept-network-recall.png")),
        choice=choice_of_p_and_l(labelled, check, options.output.with_name("concept-network-choice.png")),
    )
    options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
