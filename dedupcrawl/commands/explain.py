"""`dedupcrawl explain`: why a URL was rewritten, and why its page was dropped or kept."""

from __future__ import annotations

from pathlib import Path

import click

from dedupcrawl.commands.errors import BadInputError, FailureError
from dedupcrawl.commands.explained import Explainer
from dedupcrawl.commands.explanation import lines
from dedupcrawl.commands.logged import logged_answer
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, index_folder, open_existing
from dedupcrawl.commands.options import rules_option
from dedupcrawl.commands.url_forms import forms_of
from dedupcrawl.detection.attachments import AttachmentError
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.output import to_json
from dedupcrawl.printable import printable
from dedupcrawl.urls.rule import RuleError

_OF_URL = (
    "rewrite",
    "kind",
    "canonical",
    "rules",
    "rule_evidence",
    "software",
)  # what is told of the URL that was asked about


@click.command()
@click.argument("url")
@click.option("--index", help=DEFAULT_INDEX_HELP)
@rules_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(url: str, index: str | None, rules: Path, as_json: bool) -> None:
    """Why URL was rewritten, or its page dropped or kept, with the evidence.

    URL is looked for as it is, without its fragment, as Scrapy escapes it, and with its host in lower case; then in the
    crawl log beside the index, which knows redirects and errors. Told are the rules that rewrote it, with what speaks
    for them, the page that it duplicates, and what is alike and what differs; where DEDUP_KEEP_TEXT kept both texts,
    side by side. Of a page whose items were judged one by one it tells what became of those that are known by their
    places on it (URL#1, URL#2, …).

    \b
    dedupcrawl explain https://example.com/print/42
    dedupcrawl explain https://example.com/42 --index lmdb:/data/dedup/index
    """
    forms = forms_of(url)
    with open_existing(index) as opened:
        try:
            explainer = Explainer(rules, opened)
            told = explainer.told(forms or [url])
            if told["verdict"] is None and told["kept"] is None and told["items"] is None:
                if not forms:
                    raise BadInputError(f"{printable(url)!r} is no URL: it takes one such as https://example.com/42.")
                asked = [told["rewrite"]["canonical"]] if told["rewrite"] else []
                logged = logged_answer(index_folder(index).parent / "crawl-log.jsonl", [*forms, *asked])
                if logged is not None:
                    if logged.redirect_to:
                        of_url = {name: told[name] for name in _OF_URL}
                        told |= explainer.told([logged.redirect_to]) | of_url | {"redirect_to": logged.redirect_to}
                    told["status"] = logged.status
            elif told["went_itself"]:
                sent_to = logged_answer(index_folder(index).parent / "crawl-log.jsonl", [told["rewrite"]["canonical"]])
                told["canonical_status"] = sent_to.status if sent_to is not None else None
        except RuleError as error:
            raise BadInputError(printable(str(error))) from error
        except (AttachmentError, IndexDamagedError) as error:
            raise FailureError(printable(str(error))) from error
        except OSError as error:
            raise FailureError(
                printable(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            ) from error
    told = {"url": url} | told
    if as_json:
        click.echo(to_json(told))
    else:
        click.echo("\n".join(lines(told)))
