from __future__ import annotations

from dedupcrawl.software.installation import MOST_OF_A_SITE, Installation, SiteSoftware
from dedupcrawl.software.program import programs
from dedupcrawl.urls.watched_rule import TrialRecord

TICKETS = {"url /ticket/{:digits}": 2, "url /roadmap": 1}
TRAC = Installation("trac", "a.com/trac", TICKETS, {"base": "/trac"}, ("a.com",))
BOARDS = {"url /index.php?board={:digits}.{}": 2, "cookie SMFCookie": 2}
FORUM = Installation("smf", "a.com", BOARDS, {"base": ""}, ("a.com", "www.a.com"))
TRIED = {"trac.reply@a.com/trac": TrialRecord(4, 1)}


def test_it_survives_being_kept() -> None:
    known = SiteSoftware(TRIED, {"smf.index@a.com": "led nowhere"}, (TRAC, FORUM))
    assert SiteSoftware.from_bytes(known.to_bytes()) == known


def test_what_cannot_be_read_is_nothing() -> None:
    assert SiteSoftware.from_bytes(None) == SiteSoftware.from_bytes(b"{") == SiteSoftware.from_bytes(b"[1]")


def test_joined_with_what_another_process_kept() -> None:
    one = SiteSoftware({"r": TrialRecord(4, 1)}, {"s": "why"}, (TRAC,))
    other = SiteSoftware({"r": TrialRecord(5, 1)}, {"t": "because"}, (FORUM,))
    assert one.joined(other) == SiteSoftware({"r": TrialRecord(9, 2)}, {"s": "why", "t": "because"}, (TRAC, FORUM))


def test_signs_that_several_have_seen_come_together() -> None:
    against = Installation("trac", "a.com/trac", {"url /projects/{}": -2}, {"base": "/trac"}, ("www.a.com",))
    one, other = SiteSoftware(seen=(TRAC, FORUM)), SiteSoftware(seen=(against,))
    for known in (one.joined(other), other.joined(one)):
        assert known.installations == [FORUM]
        (trac,) = (found for found in known.seen if found.program == "trac")
        assert trac.signs == {**TICKETS, "url /projects/{}": -2}
        assert trac.hosts == ("a.com", "www.a.com")
        assert known.joined(one).installations == [FORUM], "who has not seen it does not bring the program back"
        assert [(row["program"], row["recognized"]) for row in known.told()] == [("smf", True), ("trac", False)]


def test_what_is_recognized_comes_before_what_is_not_where_there_is_too_much() -> None:
    against = tuple(
        Installation("trac", f"a.com/{n}", {"url /x": -2}, {"base": f"/{n}"}, ("a.com",)) for n in range(99)
    )
    many = SiteSoftware(seen=against).joined(SiteSoftware(seen=(TRAC, FORUM)))
    assert many.seen[:2] == (TRAC, FORUM)
    assert len(many.seen) == MOST_OF_A_SITE


def test_signs_count_what_the_file_of_the_program_says_now() -> None:
    known = {program.name: program for program in programs()}
    old = Installation(
        "trac", "a.com/trac", {"url /ticket/{:digits}": 9, "url /gone": 9}, {"base": "/trac"}, ("a.com",)
    )
    assert old.is_recognized
    now = old.judged_by(known["trac"].weights)
    assert list(now.signs) == ["url /ticket/{:digits}"]
    assert not now.is_recognized
