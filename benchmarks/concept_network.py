"""The concept network: the paper's Table 1 and its figures 2 to 9, with the same rivals, on labelled real pages.

    python -m benchmarks.concept_network [--data DIR] [--figures DIR]

Parameters were chosen on the "tune" half of the documents, by `--choices` at d5f06064; all figures are of the other
half.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.concept_methods import IMatch, Vector, concepts_of, vector, words_of
from benchmarks.concept_pairs import GROUPS, Pair, pairs, text_of
from benchmarks.concept_times import by_length, merging, times
from benchmarks.markdown import folders, show, table
from benchmarks.planted import Paragraphs
from benchmarks.planted_cases import SOURCES, originals
from benchmarks.plots import plt
from dedupcrawl.content.checks.concepts import ConceptsCheck

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


def main() -> None:
    data, figures = folders(__doc__, "text/, html/ and lexicon/")
    lexicon = str(data / CHINESE)
    check = ConceptsCheck(thesaurus=lexicon)
    show("Time (Table 1)", times(), by_length(data, lexicon))
    show("What merging saves", merging(data, lexicon))
    labelled = pairs(data, "report", lexicon)
    corpus = list(originals(data, "tune", random.Random(3)).values())
    recall, choice = (figures / f"concept-network-{name}.png" for name in ("recall", "choice"))
    show("Against I-Match and the word network (figures 2 to 7)", comparison(labelled, corpus, check, recall))
    show("Choice of p and l (figures 8 and 9)", choice_of_p_and_l(labelled, check, choice))


if __name__ == "__main__":
    main()
