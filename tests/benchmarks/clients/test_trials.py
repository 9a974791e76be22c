import time

import pytest
from gymnasium.spaces import Discrete

from benchmarks.clients.games import FORMS, PARALLEL, TEXT, TEXT_ACTIONS, VECTOR, subjects
from benchmarks.clients.trials import (
    ACCEPTED,
    AS_PETTINGZOO,
    REFUSED,
    Row,
    Trial,
    attempt,
    reason_of,
    run_trials,
)


def one_row(play, form=VECTOR, game="tictactoe_v0", seconds=10):
    (row,) = run_trials("library", [Trial("a trial", form, play, only=(game,))], smoke=True, seconds=seconds)
    return row


def is_ours(make):
    return make.__name__ == "make"  # the peer's is make_peer, and may not be installed


def test_trial_without_error_is_accepted_in_its_form():
    seen = []

    def play(make, smoke):
        env = make()
        env.reset(seed=0)
        seen.append((env.metadata["name"], set(env.observe(env.agent_selection)), smoke))

    assert one_row(play, TEXT) == Row("library", "a trial", TEXT, "tictactoe_v0", ACCEPTED)
    assert seen == [("tictactoe_v0", {"rules", "text", "action_mask"}, True)]


def test_trial_separates_peers_errors_from_ours():
    def both(make, smoke):
        raise TypeError("no such space")

    def ours_alone(make, smoke):
        if is_ours(make):
            raise TypeError("no such space")

    def different(make, smoke):
        raise TypeError("ours" if is_ours(make) else "theirs")

    assert one_row(both)[4:8] == (AS_PETTINGZOO, "TypeError: no such space", "tictactoe_v3", "TypeError: no such space")
    assert one_row(ours_alone).verdict == REFUSED
    assert one_row(different).verdict == REFUSED


def test_run_trials_known_refusals_are_marked():
    def play(make, smoke):
        raise TypeError("no texts")

    trial = Trial("a trial", TEXT, play, only=("tictactoe_v0", "debate_v0"), refuses=TEXT_ACTIONS)
    rows = run_trials("library", [trial], smoke=True, seconds=10)
    assert [(row.game, row.verdict, row.is_known) for row in rows] == [
        ("tictactoe_v0", REFUSED, False),
        ("debate_v0", REFUSED, True),
    ]


def test_text_actions_equal_the_environments():
    spaces = {subject.game: subject.make().action_space for subject in subjects(TEXT)}
    agents = {subject.game: subject.make().possible_agents[0] for subject in subjects(TEXT)}
    assert {game for game, space in spaces.items() if not isinstance(space(agents[game]), Discrete)} == set(
        TEXT_ACTIONS
    )


def test_error_of_the_peer_alone_is_kept():
    def play(make, smoke):
        if not is_ours(make):
            raise KeyError("mask")

    row = one_row(play)
    assert (row.verdict, row.reason, row.peer_reason) == (ACCEPTED, "", "KeyError: 'mask'")


@pytest.mark.slow
def test_hanging_trial_is_reported_in_its_row():
    def play(make, smoke):
        if is_ours(make):
            time.sleep(60)

    row = one_row(play, seconds=1)
    assert (row.verdict, row.reason) == (REFUSED, "TimeoutError: not finished within 1 s")


def test_exit_is_an_error_but_interruption_is_not():
    assert isinstance(attempt(lambda: exit(3), 10), SystemExit)

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(interrupted, 10)


def test_reasons_are_one_short_line():
    reason = reason_of(ValueError("a\n  b" + "c" * 1000))
    assert reason.startswith("ValueError: a bccc")
    assert len(reason) == 200


def test_every_environment_is_there_in_each_of_its_forms():
    games = {form: [subject.game for subject in subjects(form)] for form in FORMS}
    assert games[PARALLEL] == ["bid_v0", "public_goods_v0"]
    assert set(games[PARALLEL]) < set(games[VECTOR]) < set(games[TEXT])
    for form in FORMS:
        for subject in subjects(form):
            assert subject.make().unwrapped.metadata["name"] == subject.game
