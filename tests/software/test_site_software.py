from __future__ import annotations

from dedupcrawl.software.recognition import Installation
from dedupcrawl.software.site_software import SiteSoftware
from dedupcrawl.urls.watched_rule import TrialRecord

TRAC = Installation("trac", "a.com/trac", ("url /ticket/{:digits}",), 3, {"base": "/trac"}, ("a.com",))
FORUM = Installation("smf", "a.com", ("url /index.php?board={:digits}.{}",), 4, {"base": ""}, ("a.com", "www.a.com"))
TRIED = {"trac.reply@a.com/trac": TrialRecord(4, 1)}


def test_it_survives_being_kept() -> None:
    known = SiteSoftware([TRAC, FORUM], TRIED, {"smf.index@a.com": "led nowhere"})
    assert SiteSoftware.from_bytes(known.to_bytes()) == known


def test_what_cannot_be_read_is_nothing() -> None:
    assert SiteSoftware.from_bytes(None) == SiteSoftware.from_bytes(b"{") == SiteSoftware.from_bytes(b"[1]")


def test_joined_with_what_another_process_kept() -> None:
    one = SiteSoftware([TRAC], {"r": TrialRecord(4, 1)}, {"s": "why"})
    other = SiteSoftware([FORUM], {"r": TrialRecord(5, 1)}, {"t": "because"})
    assert one.joined(other) == SiteSoftware([TRAC, FORUM], {"r": TrialRecord(5, 1)}, {"s": "why", "t": "because"})


def test_told_by_program_and_place() -> None:
    known = SiteSoftware([TRAC, FORUM], TRIED, {"smf.index@a.com": "led nowhere"})
    forum, trac = known.told()
    assert (forum["program"], forum["failed"], forum["tried"]) == ("smf", {"smf.index@a.com": "led nowhere"}, {})
    assert (trac["where"], trac["tried"]) == ("a.com/trac", {"trac.reply@a.com/trac": [4, 1]})
