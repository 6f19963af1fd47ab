from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from publicsuffixlist import PSLFILE, PublicSuffixList

from dedupcrawl.sites import host_of, other_form, owner_of, site_of
from tests.fixtures import table_of


@table_of("settings_and_sites", "registrable_domain_or_else_the_host")
def test_registrable_domain_or_else_the_host(text: str, site: str) -> None:
    assert site_of(text) == site


@pytest.mark.parametrize(("found", "only_icann"), [(site_of, True), (owner_of, False)])
def test_rules_of_the_list_are_read_as_its_library_reads_them(found: Callable[[str], str], only_icann: bool) -> None:
    library = PublicSuffixList(accept_unknown=False, accept_encoded_idn=False, only_icann=only_icann)
    lines = [line for line in Path(PSLFILE).read_text("utf-8").splitlines() if line and not line.startswith("//")]
    assert len(lines) > 5_000
    for line in {*lines[::10], *(line for line in lines if line[0] in "!*" or not line.isascii())}:
        name = line.lstrip("!*.")
        hosts = (name, f"a.{name}", f"c.b.a.{name}", f"a{name}")
        assert [found(host) for host in hosts] == [library.privatesuffix(host) or host for host in hosts]
        assert found(other_form(f"b.a.{name}")) == other_form(found(f"b.a.{name}"))


@given(st.text() | st.text(alphabet="aA.:/@[]%-xn?#\\。", max_size=40))
@example("a" * 1_000 + ":8080")  # longer than any host
def test_total_and_idempotent(text: str) -> None:
    site, owner = site_of(text), owner_of(text)
    assert site_of(site) == site
    assert owner_of(owner) == owner
    assert host_of(text).endswith(site)


@given(st.text(alphabet="abc-.", max_size=40), st.sampled_from(["", "/", "/a?b=http://x.org/", "?q", "#f"]))
def test_a_bare_host_and_its_url_are_one_site(host: str, rest: str) -> None:
    assert site_of(host) == site_of(f"https://{host}{rest}")


def test_a_huge_host_is_its_own_site() -> None:
    host = "a." * 500_000 + "com"
    assert site_of(f"http://{host}/") == host


@given(st.from_regex(r"(https?:)?//([a-z.:@0-9]|[A-Z /?#\\]){0,12}(:[0-9]{0,3})?[/?#]?[a-z@]{0,3}", fullmatch=True))
def test_a_host_in_lower_case_is_read_like_any_other(url: str) -> None:
    assert host_of(url) == host_of(f" {url}")
