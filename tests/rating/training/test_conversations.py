"""Replayed conversations equal those of a model in training with the same replies."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from agents.errors import ReplayMismatch
from agents.play import play
from agents.training import Match, Step
from agents.turn import STANDARD_TURNS
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.order import OrderWrapper
from rating.store import records as record_module
from rating.store import verify
from rating.store.records import Match as RunMatch
from rating.store.records import Record, outcome_of
from rating.training.conversations import Reply, Seat, messages_of, prompts_of, replayed_seats
from tests.agents.test_incomplete_replies import Poetry
from tests.rating.training.matches import Cut, Says, recorded

HISTORIES = ("updates", "full", "single_turn")


def asked_again(record: Record, history: str) -> list[Step]:
    """Plays a recorded match with its replies in a training loop, and returns the steps."""
    said = iter([attempt.reply for turn in record.turns for attempt in turn.attempts])
    env = make_environment(record.match.environment, record.match.options)
    match = Match(env, seed=record.match.seed, settings=STANDARD_TURNS, history=history)
    question = match.start_sync()
    while question is not None:
        question = match.reply_sync(next(said))
    return match.steps


def replies_of(seat: Seat) -> list[Reply]:
    return sorted((reply for replies in seat.conversations for reply in replies), key=lambda reply: reply.turn)


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize(
    "record",
    [
        recorded("tictactoe_v0", Says(stumbles=1), Says(stumbles=9)),
        recorded("hanabi_v0", "first_legal", Says(stumbles=2)),
        recorded("connect_four_v0", "random", Says()),
        recorded("bargain_v0", "random", Says(stumbles=1)),
    ],
    ids=lambda record: record.match.environment,
)
def test_replay_has_the_conversations_of_a_model_in_training(record: Record, history: str) -> None:
    seats = {seat.agent: seat for seat in replayed_seats(record, STANDARD_TURNS, history)}
    steps = asked_again(record, history)
    assert Failure.OK in {step.kind for step in steps}
    for agent, seat in seats.items():
        own = [step for step in steps if step.agent == agent]
        replies = replies_of(seat)
        assert [(reply.text, reply.kind, reply.turn, reply.reward) for reply in replies] == [
            (step.reply, step.kind, step.turn, step.reward) for step in own
        ]
        last = {step.turn: step for step in own}
        for conversation in seat.conversations:
            messages, kept = messages_of(conversation, rejected=True)
            step = last[conversation[-1].turn]
            assert messages == [*step.question.messages, {"role": "assistant", "content": step.reply}]
            assert kept == conversation
    assert record.outcome is not None
    for result in record.outcome.seats:
        seat = seats[result.agent]
        assert seat.initial_reward + sum(reply.reward for reply in replies_of(seat)) == pytest.approx(result.reward)


@pytest.mark.parametrize("history", HISTORIES)
def test_messages_without_rejected_replies_alternate_roles(history: str) -> None:
    record = recorded("tictactoe_v0", Says("no", stumbles=1), Says("no", stumbles=9))
    first, second = replayed_seats(record, STANDARD_TURNS, history)
    for replies in first.conversations:
        messages, kept = messages_of(replies, rejected=False)
        roles = [message["role"] for message in messages]
        assert roles == ["system", *["user", "assistant"] * len(kept)]
        assert [message["content"] for message in messages[2::2]] == [reply.text for reply in kept]
        assert all(reply.is_move and "\nno\n" in reply.text for reply in kept)
        assert "no 0" not in str(messages)
    assert all(messages_of(replies, rejected=False) == ([], []) for replies in second.conversations)


def test_messages_of_turns_without_moves_join_the_next_turn() -> None:
    def reply(number: int, is_move: bool) -> Reply:
        observed = ({"role": "user", "content": f"turn {number}"},)
        return Reply(observed, f"reply {number}", number, True, Failure.OK, is_move, "", 0.0, "")

    messages, kept = messages_of([reply(0, False), reply(1, True), reply(2, False)], rejected=False)
    assert [message["content"] for message in messages] == ["turn 0\n\nturn 1", "reply 1"]
    assert [said.turn for said in kept] == [1]
    prompts = list(prompts_of([reply(0, False), reply(1, True)], rejected=False))
    assert [[message["content"] for message in prompt] for prompt, _ in prompts] == [["turn 0"], ["turn 0\n\nturn 1"]]


def test_replay_truncated_reply_is_no_move() -> None:
    record = recorded("connect_four_v0", "random", Cut())
    assert not any(turn.fallback for turn in record.turns)
    _, cut = replayed_seats(record, STANDARD_TURNS, "updates")
    assert not any(reply.is_move for reply in replies_of(cut))


def test_replay_fresh_history_starts_a_conversation() -> None:
    env = make_environment("debate_v0", {})
    record = recorded("debate_v0", *["random"] * len(env.possible_agents))
    fresh = Counter(len(seat.conversations) for seat in replayed_seats(record, STANDARD_TURNS, "updates"))
    assert max(fresh) > 1
    for seat in replayed_seats(record, STANDARD_TURNS, "updates"):
        assert all(replies[0].observed[0]["role"] == "system" for replies in seat.conversations)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: replace(record, digest="0" * 64),
        lambda record: replace(record, turns=record.turns[:-1]),
        lambda record: replace(record, turns=(replace(record.turns[0], read="another text"), *record.turns[1:])),
        lambda record: replace(record, match=replace(record.match, options={"no_such": 1})),
        lambda record: replace(record, outcome=None),
    ],
)
def test_replay_of_a_changed_record_raises_mismatch(change: Any) -> None:
    with pytest.raises(ReplayMismatch):
        replayed_seats(change(recorded("tictactoe_v0", "random", "random")), STANDARD_TURNS, "updates")


def test_replay_completion_of_a_kept_reply_is_no_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "recorded_environment", lambda match: OrderWrapper(Poetry()))
    monkeypatch.setattr(record_module, "load_environment", lambda name: Poetry)
    said = iter(["one: roses", "two: violets", "one: x\ntwo: y"])
    episode = play(OrderWrapper(Poetry()), {"poet_0": lambda observation: next(said)}, 0)
    match = RunMatch("poetry_v0", 0, ("poet",), 0)
    record = Record(match, outcome_of(match, ["poet_0"], episode), episode.turns, episode.digest, 1, "")
    (seat,) = replayed_seats(record, STANDARD_TURNS, "updates")
    assert [reply.is_move for reply in replies_of(seat)] == [False, False, True]
