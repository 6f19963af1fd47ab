from __future__ import annotations

import pytest

from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, PARAMETERS, make_checks
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}
TEXT = SymbolText.of(
    tuple(f"Paragraph {n} holds some words, as every paragraph does, and number {n * n}." for n in range(30))
)
PAGE = Page("http://a.example/", title="Some words", paragraphs=tuple(TEXT.text.split("\n")))


def test_names() -> None:
    assert {"exact", "feature_code", "simhash", "shingles"} <= set(CHECK_NAMES)
    assert set(DEFAULT_CHECKS) <= set(CHECK_NAMES)
    assert [check.name for check in make_checks(CHECK_NAMES, {})] == list(CHECK_NAMES)
    assert [check.name for check in make_checks(["simhash", "exact"], {})] == ["simhash", "exact"]


@pytest.mark.parametrize("name", CHECK_NAMES)
def test_every_check_keeps_its_contract(name: str) -> None:
    (check,) = make_checks([name], {})
    made = check.signature(PAGE, TEXT)
    assert made is not None
    assert check.compare(made, made) == pytest.approx(1.0)
    assert check.keys(made).typecode == "Q"
    assert 0 <= check.payload_bits < 64
    assert check.signature(Page("http://a.example/"), SymbolText.of(())) is None


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_every_parameter_reads_its_default_also_as_a_string(parameter: object) -> None:
    name = getattr(parameter, "name", "")
    default = BY_NAME[name].default
    assert BY_NAME[name].read(default) == default
    assert BY_NAME[name].read(str(default)) == default
    assert BY_NAME[name].takes
    assert BY_NAME[name].about.endswith(".")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("SIMHASH_DISTANCE", 8),
        ("SIMHASH_DISTANCE", -1),
        ("SIMHASH_DISTANCE", 2.5),
        ("SIMHASH_DISTANCE", True),
        ("SIMHASH_DISTANCE", "three"),
        ("SIMHASH_DISTANCE", None),
        ("SIMHASH_DISTANCE", float("inf")),
        ("REPEATABILITY", 0.5),
        ("REPEATABILITY", 1.01),
        ("REPEATABILITY", float("nan")),
        ("REPEATABILITY", True),
        ("IEU_SHARE", 0),
        ("SHINGLES_SHARE", 0),
        ("IEU_LENGTH", 0),
        ("CODE_ANCHORS", "all"),
        ("CODE_ANCHORS", 3),
        ("SIMHASH_FEATURES", []),
        ("EXACT_MIN_SYMBOLS", 0),
    ],
)
def test_a_wrong_value_is_refused(name: str, wrong: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        BY_NAME[name].read(wrong)
