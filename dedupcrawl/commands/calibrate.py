"""`dedupcrawl calibrate`: the model fitted to a user's own labels of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.commands.compare import names_urls, opened, whole
from dedupcrawl.commands.errors import BadInputError, Command, check_output
from dedupcrawl.commands.options import EXISTING_FILE, FILE, json_option, read_settings, sets_option
from dedupcrawl.content.model import Model, packaged, probabilities, refit, refit_thresholds
from dedupcrawl.counts import counted
from dedupcrawl.crawl_logs.page_files import read_pairs
from dedupcrawl.detection.pairs import Pairs, UnknownPageError
from dedupcrawl.output import results, to_json
from dedupcrawl.page import Page
from dedupcrawl.printable import printable
from dedupcrawl.settings import DedupSettings

_FOLDS = 10


class _Labels(NamedTuple):
    """What was read: the features of each pair, what its label says, and its kept page."""

    values: NDArray[np.float64]
    same: NDArray[np.bool_]
    kept: list[str]


@click.command(cls=Command)
@click.argument("labels", nargs=-1, required=True, type=EXISTING_FILE)
@click.option("--index", help="The index of the crawl that the URLs come from.  [default: the project's]")
@click.option("--output", required=True, type=FILE, help="Write the model here.")
@sets_option
@json_option
def command(labels: Sequence[Path], index: str | None, output: Path, sets: Sequence[str], as_json: bool) -> None:
    """Fit the model to LABELS, pairs of pages that you have marked as the same or not, for DEDUP_MODEL.

    A row is {"new": URL, "kept": URL, "same": true or false}: whether NEW may be dropped where KEPT is kept. The report
    makes such files, with its buttons "same page" and "another page". A whole page may stand in place of a URL, as in
    compare --pairs. The fit starts from the package's own model, so a few dozen labels are enough. The summary says
    what share of the labelled drops is right, and how many of the duplicates are dropped, both by models that had not
    seen these pairs.

    \b
    dedupcrawl report --output report.html         label some pairs there, download labels.jsonl
    dedupcrawl calibrate labels.jsonl --output model.json
    scrapy crawl news -s DEDUP_MODEL=model.json
    """
    check_output(output, labels)
    settings = read_settings({}, sets)
    target = settings.target_precision
    read = _read(labels, index, settings)
    prior, fitted = packaged(), f"dedupcrawl calibrate, {counted(len(read.same), 'label')}"
    unseen, after = _cross_validated(prior, read, target)
    model = msgspec.structs.replace(
        refit(prior, read.values, read.same, fitted), thresholds=refit_thresholds(prior, unseen, read.same)
    )
    before = np.array([prior.probability(row) for row in read.values.tolist()]) >= prior.threshold(target)
    with results(output) as file:
        file.write(msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n")
    told = {
        "labels": len(read.same),
        "same": int(read.same.sum()),
        "target_precision": target,
        "before": _figures(before, read.same),
        "after": _figures(after, read.same),
        "output": str(output),
    }
    click.echo(to_json(told) if as_json else _lines(told))


def _read(paths: Sequence[Path], index: str | None, settings: DedupSettings) -> _Labels:
    """The features of all labelled pairs, each once."""
    seen: dict[tuple[str, str], tuple[str, bool]] = {}
    values: list[list[float]] = []
    with opened(index, needed=any(map(names_urls, paths))) as kept_in:
        pairs = Pairs(kept_in, packaged())
        for path in paths:
            for pair in read_pairs(path, labelled=True):
                new, kept = (whole(page, settings) for page in (pair.new, pair.kept))
                where, same, key = printable(pair.where), bool(pair.same), (_url(new), _url(kept))
                if key in seen:
                    earlier, was_same = seen[key]
                    if same != was_same:
                        says = "the same page" if same else "another page"
                        raise BadInputError(
                            f"{where} says that the two are {says}, {earlier} the opposite: take one of the rows out."
                        )
                    continue
                try:
                    found = pairs.compare(new, kept).values
                except UnknownPageError as error:
                    raise BadInputError(
                        f"{where}: {printable(str(error))}: name that of its crawl with --index, crawl with "
                        "DEDUP_KEEP_TEXT, or give whole pages in place of URLs."
                    ) from error
                if not found:
                    raise BadInputError(f"{where}: one of the two pages has no text to compare: leave the row out.")
                seen[key] = where, same
                values.append(found)
    labels = np.array([same for _, same in seen.values()], dtype=np.bool_)
    if not len(labels):
        raise BadInputError(f"there is no label in {printable(str(paths[0]))}.")
    if labels.all() or not labels.any():
        said = "same page" if labels.all() else "another page"
        raise BadInputError(
            f"all {counted(len(labels), 'label')} say {said!r}: label pairs of the other kind, too, a few at least."
        )
    return _Labels(np.array(values), labels, [kept for _, kept in seen])


def _url(page: Page | str) -> str:
    return page if isinstance(page, str) else page.url


def _cross_validated(prior: Model, read: _Labels, target: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The probability of each pair, and whether it is dropped, by models that saw no pair of its kept page."""
    numbers = {kept: number for number, kept in enumerate(dict.fromkeys(read.kept))}
    folds = np.array([numbers[kept] % _FOLDS for kept in read.kept])
    unseen = np.zeros(len(read.same))
    for fold in range(_FOLDS):
        held_out = folds == fold
        model = refit(prior, read.values[~held_out], read.same[~held_out], "")
        unseen[held_out] = probabilities(model, read.values[held_out])
    dropped = np.zeros(len(read.same), dtype=np.bool_)
    for fold in range(_FOLDS):
        held_out = folds == fold
        least = refit_thresholds(prior, unseen[~held_out], read.same[~held_out])
        dropped[held_out] = unseen[held_out] >= msgspec.structs.replace(prior, thresholds=least).threshold(target)
    return unseen, dropped


def _figures(dropped: NDArray[np.bool_], same: NDArray[np.bool_]) -> dict[str, Any]:
    right = int((dropped & same).sum())
    return {
        "dropped": int(dropped.sum()),
        "precision": round(right / int(dropped.sum()), 4) if dropped.any() else None,
        "recall": round(right / int(same.sum()), 4),
    }


def _lines(told: dict[str, Any]) -> str:
    lines = [
        f"{counted(told['labels'], 'label')}: {told['same']} same page, {told['labels'] - told['same']} another page",
        f"for a target precision of {told['target_precision']:g}, of the labelled pairs:",
    ]
    for name, key in (("the package's model", "before"), ("the new one, cross-validated", "after")):
        of_it = told[key]
        precision = "–" if of_it["precision"] is None else f"{of_it['precision']:.3f}"
        lines.append(f"  {name:<29} drops {of_it['dropped']}, precision {precision}, recall {of_it['recall']:.3f}")
    return "\n".join([*lines, f"written: DEDUP_MODEL = {told['output']!r} uses it"])
