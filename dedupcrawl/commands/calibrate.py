"""`dedupcrawl calibrate`: fit the model to a user's own labels of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from operator import and_
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from dedupcrawl.commands.compare import comparing, deciding, whole
from dedupcrawl.commands.console import BadInputError, Command, FailureError, check_output
from dedupcrawl.commands.options import FILE, INPUT_FILE, json_option, sets_option
from dedupcrawl.content.model import packaged
from dedupcrawl.crawl_logs.page_files import read_pairs
from dedupcrawl.detection.pairs import UnknownPageError
from dedupcrawl.output import results, to_json
from dedupcrawl.printable import counted, printable
from dedupcrawl.settings import DedupSettings

_FOLDS = 10  # folds of the cross-validation; set by hand
_EQUAL = "{} of equal pages, which are one page whatever the model says"


class _Labels(NamedTuple):
    """The labelled pairs: for each its features, its label and its fold."""

    values: list[list[float]]
    same: list[bool]
    folds: list[int]  # all pairs with the same kept page are in one fold
    equal: int  # number of labels left out because the two pages are identical


@click.command(cls=Command)
@click.argument("labels", nargs=-1, required=True, type=INPUT_FILE)
@click.option("--index", help="The index of the crawl that the URLs come from.  [default: the project's]")
@click.option("--output", required=True, type=FILE, help="Write the model here.")
@sets_option
@json_option
def command(labels: Sequence[Path], index: str | None, output: Path, sets: Sequence[str], as_json: bool) -> None:
    """Fit the model to LABELS, pairs of pages that you have marked as the same or not, for DEDUP_MODEL.

    A row is {"new": URL, "kept": URL, "same": true or false}: whether NEW may be dropped if KEPT is kept. The report
    makes such files, with its buttons "same page" and "another page". A whole page may stand in place of a URL, as in
    compare --pairs; "-" is stdin. The fit starts from the package's own model and also uses labelled pairs of the
    package, so a few dozen labels are enough, from any list of the report. The summary says what share of the labelled
    drops is right, and how many of the duplicates are dropped, by models that have not seen these pairs. A model that
    does worse than the package's is not written.

    \b
    dedupcrawl report --output report.html         label some pairs there, download labels.jsonl
    dedupcrawl calibrate labels.jsonl --output model.json
    scrapy crawl news -s DEDUP_MODEL=model.json
    """
    from dedupcrawl.content.fitting import fit_labels  # NumPy and SciPy: the extra calibrate

    check_output(output, labels)
    settings = deciding(sets)
    target = settings.target_precision
    read = _read(labels, index, settings)
    fitted = f"dedupcrawl calibrate, {counted(len(read.same), 'label')}"
    model, probabilities, *dropped = fit_labels(read.values, read.same, read.folds, target, fitted)
    before, after = (_figures(one, read.same) for one in dropped)
    is_worse = _lack(after, target) > _lack(before, target)
    values = {
        "labels": len(read.same),
        "same": sum(read.same),
        "equal": read.equal,
        "probabilities": [round(min(probabilities), 4), round(max(probabilities), 4)],
        "target_precision": target,
        "before": before,
        "after": after,
        "output": None if is_worse else str(output),
    }
    if not is_worse:
        with results(output) as file:
            file.write(msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n")
    click.echo(to_json(values) if as_json else _lines(values))
    if is_worse:
        raise FailureError(
            "the new model does worse on your labels than the package's, and is not written: label more pairs, both "
            "duplicates and pages in doubt."
        )


def _read(paths: Sequence[Path], index: str | None, settings: DedupSettings) -> _Labels:
    """Read all labelled pairs and compute their features; a repeated pair counts once."""
    seen: dict[int, tuple[str, bool]] = {}  # by the hash of the pair, because whole pages are large
    folds: dict[int, int] = {}
    values: list[list[float]] = []
    labels: list[bool] = []
    of_labels: list[int] = []
    equal = 0
    with comparing(index, packaged()) as compare:
        for path in paths:
            for pair in read_pairs(path, labelled=True):
                new, kept = (whole(page, settings) for page in (pair.new, pair.kept))
                where, same, key = printable(pair.where), bool(pair.same), hash((pair.new, pair.kept))
                if key in seen:
                    earlier, was_same = seen[key]
                    if same != was_same:
                        says = "the same page" if same else "another page"
                        raise BadInputError(
                            f"{where} says that the two are {says}, {earlier} the opposite: take one of the rows out."
                        )
                    continue
                try:
                    compared = compare(new, kept)
                except UnknownPageError as error:
                    raise BadInputError(
                        f"{where}: {printable(str(error))}: name the index of its crawl with --index, "
                        "crawl with DEDUP_KEEP_TEXT, or give whole pages in place of URLs."
                    ) from error
                if not compared.values:
                    raise BadInputError(f"{where}: one of the two pages has no text to compare: leave the row out.")
                seen[key] = where, same
                if compared.probability == 1:
                    equal += 1
                    continue
                values.append(compared.values)
                labels.append(same)
                of_labels.append(folds.setdefault(hash(pair.kept), len(folds)) % _FOLDS)
    besides = f" ({_EQUAL.format(counted(equal, 'more label'))})" if equal else ""
    if not labels:
        raise BadInputError(f"there is no label to learn from in {printable(str(paths[0]))}{besides}.")
    if len(set(labels)) == 1:
        label = "same page" if labels[0] else "another page"
        which = f"all {len(labels)} labels say" if len(labels) > 1 else "the only label says"
        raise BadInputError(f"{which} {label!r}{besides}: label pairs of the other kind, too, a few at least.")
    return _Labels(values, labels, of_labels, equal)


def _lack(figures: dict[str, Any], target: float) -> tuple[float, float]:
    """What the drops lack: precision below the target first, then recall."""
    precision = figures["precision"]
    return max(0.0, target - precision) if precision is not None else 0.0, -figures["recall"]


def _figures(dropped: Sequence[bool], same: Sequence[bool]) -> dict[str, Any]:
    right = sum(map(and_, dropped, same))
    return {
        "dropped": sum(dropped),
        "precision": round(right / sum(dropped), 4) if any(dropped) else None,
        "recall": round(right / sum(same), 4),
    }


def _lines(values: dict[str, Any]) -> str:
    least, most = values["probabilities"]
    lines = [
        f"{counted(values['labels'], 'label')}: {values['same']} same page, "
        f"{values['labels'] - values['same']} another page",
        f"for a target precision of {values['target_precision']:g}, of the labelled pairs, which the package's model "
        f"finds {least:.1%} to {most:.1%} probable:",
    ]
    if values["equal"]:
        lines.insert(1, f"{_EQUAL.format(counted(values['equal'], 'more label'))}: left out")
    for name, key in (("the package's model", "before"), ("the new one, cross-validated", "after")):
        of_it = values[key]
        precision = "–" if of_it["precision"] is None else f"{of_it['precision']:.3f}"
        lines.append(f"  {name:<29} drops {of_it['dropped']}, precision {precision}, recall {of_it['recall']:.3f}")
    if values["output"]:
        lines.append(f"written: DEDUP_MODEL = {values['output']!r} uses it")
    return "\n".join(lines)
