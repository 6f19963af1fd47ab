"""Arguments in the text of a template, each known by its whole name: `id` is not the end of `?xid={}`."""

from __future__ import annotations

import re

from dedupcrawl.urls.template import Piece, parse_template

OPEN = parse_template("?x={}").args[0][1]  # the form of an argument that takes any value, which is forgotten


def argument_forms(match: str) -> dict[str, Piece | None]:
    """The forms of the arguments that a template names, None for one without "="; empty for an empty template."""
    return dict(parse_template(match).args) if match else {}


def with_argument(match: str, name: str, form: str) -> str:
    """The template with this argument, which is put in place of the open one of its name, if it has that.

    >>> with_argument("/p?xid={}&id={}", "id", "id={:digits}")
    '/p?xid={}&id={:digits}'
    >>> with_argument("/p?xid={}", "id", "id=7")
    '/p?xid={}&id=7'
    """
    kept, replaced = re.subn(rf"(?<=[?&]){re.escape(name)}=\{{\}}(?=&|$)", lambda _: form, match)
    return kept if replaced else f"{match}{'&' if '?' in match else '?'}{form}"
