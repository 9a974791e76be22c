"""Reading recorded matches again: what today's grammar reads otherwise, and what that does to their outcomes."""

from dataclasses import replace

import numpy as np
import pytest

from agents.baselines.general import Random
from agents.play import play
from agents.policy import Reply
from agents.turn import TurnSettings
from llmarena_envs.catalogue import CATALOGUE, load_environment, make_environment
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.text_env import TextEnv
from rating.records.match import Match
from rating.records.outcome import BUG, FINISHED, VOID
from rating.records.record import Record, dump_turn, load_turn, outcome_of, void_outcome
from rating.records.reparse import KNOWN, OTHERS, OTHERWISE, PROBLEM, SAME, reparse

GAME = "tictactoe_v0"
FORFEIT = TurnSettings(reasks=1, unparsable="forfeit", illegal="forfeit")
PATIENT = TurnSettings(reasks=1, unparsable="random_legal", illegal="random_legal")
JUNK = (
    "",
    "~",
    "7",
    "X: (9, 9)",
    "player_0: $1.00",
    "I refuse\x00",
    "Action: fold",
    "```json\n{}```",
    "x" * 5000,
    "，：（",
)


class Mumbles:
    """Says something else about every second time, a legal move otherwise."""

    reads = "draw"

    def reset(self, agent, seed):
        self._rng = np.random.default_rng(seed)

    def __call__(self, draw):
        rng = self._rng
        if rng.random() < 0.5:
            return draw(rng)
        kind = (Failure.OK, Failure.OK, Failure.TRUNCATED, Failure.REFUSAL)[int(rng.integers(4))]
        junk = JUNK[int(rng.integers(len(JUNK)))]
        return -5 if rng.random() < 0.1 else Reply(junk, kind)


def record_of(game, policies, settings, options=None, seed=3):
    """Plays a match and returns its record as it is read from a database."""
    options = load_environment(game).declaration.rated_options if options is None else options
    env = make_environment(game, dict(options))
    agents = env.possible_agents
    policies = policies(agents) if callable(policies) else dict(zip(agents, policies, strict=True))
    episode = play(env, policies, seed, settings)
    match = Match(game, 0, tuple(f"policy of {agent}" for agent in agents), seed, dict(options))
    turns = tuple(load_turn(dump_turn(turn)) for turn in episode.turns)
    return Record(match, outcome_of(match, agents, episode), turns, episode.digest, 1, "")


@pytest.mark.parametrize("settings", [FORFEIT, PATIENT, replace(PATIENT, unparsable="noop", feedback=False)])
@pytest.mark.parametrize("game", [entry.name for entry in CATALOGUE])
def test_what_is_read_as_it_was_changes_nothing(game, settings):
    mumbled = record_of(game, lambda agents: {agent: Mumbles() for agent in agents}, settings)
    assert any(attempt.kind is not Failure.OK for turn in mumbled.turns for attempt in turn.attempts)
    for record in (mumbled, record_of(game, lambda agents: {agent: Random() for agent in agents}, settings)):
        read = reparse(record, settings)
        assert (read.fate, read.problem, read.differences) == (SAME, "", ())
        assert read.outcome == record.outcome
        assert not read.rereading.reworded


def strict(monkeypatch):
    """Makes a grammar of then or now that reads no text with a tilde."""
    parse = TextEnv.parse

    def parse_strictly(self, reply, agent):
        if "~" in reply:
            raise InvalidReply(Failure.UNPARSABLE, "expected no tilde")
        return parse(self, reply, agent)

    monkeypatch.setattr(TextEnv, "parse", parse_strictly)


def says(*answers):
    left = iter(answers)
    return lambda observation: next(left)


FIRST_LINE = ("X: (1, 1)", "X: (1, 2)", "X: (1, 3)")
SECOND_LINE = ("O: (2, 1)", "O: (2, 2)", "O: (2, 3)")


@pytest.mark.parametrize(
    ("first", "second", "settings", "fate", "rewards", "kinds"),
    [
        # the reply that was asked for again says the same
        (("~X: (1, 1)", *FIRST_LINE), SECOND_LINE, FORFEIT, KNOWN, (1, -1), ["OK"]),
        # it says something else
        (("~X: (3, 3)", *FIRST_LINE), SECOND_LINE, FORFEIT, OTHERWISE, (0, 0), ["OK"]),
        # a forfeit then, the winning move now
        ((*FIRST_LINE[:2], "~X: (1, 3)", "~"), SECOND_LINE, FORFEIT, KNOWN, (1, -1), ["OK"]),
        # a forfeit then, a move now after which the match goes on
        (("X: (1, 1)", "~X: (1, 2)", "~"), SECOND_LINE, FORFEIT, OTHERWISE, (0, 0), ["OK"]),
        # a forfeit then and now, for another reason
        (("X: (1, 1)", "~X: (1, 1)", "~X: (1, 1)"), SECOND_LINE, FORFEIT, KNOWN, (-1, 1), ["ILLEGAL"] * 2),
        # a random move then, another one now
        (("~X: (1, 1)", "~", "X: (1, 2)", "X: (1, 3)"), SECOND_LINE, PATIENT, OTHERWISE, (0, 0), ["OK"]),
    ],
    ids=["same move", "another move", "wins", "goes on", "forfeits", "fallback"],
)  # fmt: skip
def test_a_grammar_that_reads_more(monkeypatch, first, second, settings, fate, rewards, kinds):
    with monkeypatch.context() as patch:
        strict(patch)
        record = record_of(GAME, (says(*first, *["~"] * 9), says(*second, *["~"] * 9)), settings, {})
    read = reparse(record, settings)
    assert [difference.now.kind.name for difference in read.differences][: len(kinds)] == kinds
    assert {difference.then.kind for difference in read.differences} == {Failure.UNPARSABLE}
    assert read.fate == fate
    assert read.outcome.status == (VOID if fate == OTHERWISE else FINISHED)
    assert tuple(seat.reward for seat in read.outcome.seats) == rewards
    assert read.problem == ""


def test_a_reply_that_was_asked_for_again_counts_no_more(monkeypatch):
    with monkeypatch.context() as patch:
        strict(patch)
        record = record_of(GAME, (says("~X: (1, 1)", *FIRST_LINE), says(*SECOND_LINE)), FORFEIT, {})
    before, after = record.outcome.seats[0], reparse(record, FORFEIT).outcome.seats[0]
    assert (before.failures, before.reasks) == ({"unparsable": 1}, 1)
    assert after == replace(before, failures={}, reasks=0)


@pytest.mark.parametrize(("settings", "fate"), [(replace(FORFEIT, reasks=0), KNOWN), (FORFEIT, OTHERWISE)])
def test_a_grammar_that_reads_less(monkeypatch, settings, fate):
    record = record_of(GAME, (says("X: (1, 1)", "~X: (1, 2)", "~X: (1, 3)"), says(*SECOND_LINE)), settings, {})
    strict(monkeypatch)
    read = reparse(record, settings)
    assert read.fate == fate  # a forfeit, or asked once more, which nobody answers
    assert [(found.turn, found.played_then, found.played_now) for found in read.differences] == [
        (2, "X: (1, 2)", ""),
        (4, "X: (1, 3)", ""),
    ]
    forfeit = read.outcome.seats[0].forfeit
    assert forfeit == ("unparsable" if fate == KNOWN else "")
    person = reparse(record, settings, people=["policy of player_0"])
    assert person.fate == OTHERWISE


@pytest.mark.parametrize("status", [VOID, BUG, None])
def test_a_match_that_has_no_result_keeps_none(monkeypatch, status):
    record = record_of(GAME, (says("~X: (1, 1)", *FIRST_LINE[1:]), says(*SECOND_LINE)), FORFEIT, {})
    outcome = status and void_outcome(record.match, status)
    cut = replace(record, turns=record.turns[:2], outcome=outcome, digest="")
    strict(monkeypatch)
    read = reparse(cut, FORFEIT)
    assert (read.fate, read.outcome, len(read.differences)) == (OTHERS, outcome, 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: replace(record, turns=record.turns[:-1]),
        lambda record: replace(record, turns=(*record.turns, record.turns[-1])),
        lambda record: replace(record, turns=record.turns[1:]),
        lambda record: replace(record, match=replace(record.match, policies=("one",))),
        lambda record: replace(record, match=replace(record.match, environment="gone_v0")),
    ],
)
def test_a_record_that_does_not_fit_is_said_to_be_so(change):
    record = record_of(GAME, (says(*FIRST_LINE), says(*SECOND_LINE)), FORFEIT, {})
    read = reparse(change(record), FORFEIT)
    assert read.fate == PROBLEM
    assert read.problem


def test_another_text_is_told():
    record = record_of(GAME, (says(*FIRST_LINE), says(*SECOND_LINE)), FORFEIT, {})
    changed = replace(record, turns=(replace(record.turns[0], read="another prompt"), *record.turns[1:]))
    read = reparse(changed, FORFEIT)
    assert read.fate == SAME
    assert read.rereading.reworded
