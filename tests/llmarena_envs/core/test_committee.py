"""Aggregation of a committee's verdicts."""

import pytest

from llmarena_envs.core.committee import NONE, Abstention, Committee, Judgement, over_orders, plurality

A, B, TIE = (Judgement(verdict, verdict) for verdict in ("A", "B", "tie"))
NO = Abstention()


@pytest.mark.parametrize(
    ("verdicts", "quorum", "winner"),
    [
        ("A A B tie tie", 1, "tie"),
        ("A A B", 1, "A"),
        ("A B", 1, "tie"),
        ("A B tie", 1, "tie"),
        ("tie tie A", 1, "tie"),
        ("B B tie", 1, "B"),
        ("- - B", 1, "B"),
        ("- - B", 2, NONE),
        ("- B A B", 3, "B"),
        ("- -", 1, NONE),
        ("", 1, NONE),
    ],
)
def test_the_most_frequent_verdict_wins(verdicts, quorum, winner):
    assert plurality([NONE if each == "-" else each for each in verdicts.split()], quorum) == winner


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        (("A", "A"), "A"),
        (("A", "B"), "tie"),
        (("tie", "B"), "tie"),
        (("tie", "tie"), "tie"),
        (("A", NONE), NONE),
        (("B",), "B"),
    ],
)
def test_over_two_orders_only_repeated_verdicts_count(verdicts, verdict):
    assert over_orders(verdicts) == verdict


def test_judgement_stays_unless_given_again():
    committee = Committee(3, times=2, orders=1, quorum=1).joined_by((A, NO, B)).joined_by((NO, TIE, A))
    assert committee.is_done
    assert committee.first_verdicts() == ("A", NONE, "B") and committee.winner_before == "tie"
    assert committee.last() == (A, TIE, A) and committee.winner == "A"


def test_second_order_verdicts_are_translated_to_true_sides():
    committee = Committee(2, times=1, orders=2, quorum=1).joined_by((A, A))
    assert committee.order == 1 and not committee.is_done and committee.winner == NONE
    committee = committee.joined_by((B, A))
    assert committee.last(1) == (B, A) and committee.last_verdicts(1) == ("A", "B")
    assert committee.verdicts() == ("A", "tie") and committee.winner == "tie"


def test_committee_can_be_empty():
    committee = Committee(0, times=1, orders=2, quorum=1)
    assert committee.is_done and committee.winner == NONE and committee.verdicts() == ()
