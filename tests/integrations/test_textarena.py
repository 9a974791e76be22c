"""Every game in TextArena's own loop, with its wrappers and agents."""

import asyncio
import random
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
import textarena as ta

from agents.errors import ProviderError
from agents.integrations.textarena import _names  # importing it registers the games
from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.options import OptionError
from tests.docs.pages import code_blocks
from tests.integrations.opponents import Patient
from tests.integrations.tapes import GAMES, Tape, record

IDS = {entry.name: entry.registry_id for entry in CATALOGUE} | {
    "openspiel/kuhn_poker": "llmarena/openspiel:kuhn_poker-v0"
}


def _play(env: Any, tape: Tape) -> tuple[dict[int, float], dict[int, dict[str, Any]], list[Any]]:
    env.reset(num_players=len(tape.deal.learners), seed=tape.deal.seed)
    read, done = [], False
    for reply in tape.replies:
        assert not done
        read.append(env.get_observation())
        done, info = env.step(reply)
        assert set(info) == {"failure"}
    assert done
    return *env.close(), read


@pytest.mark.parametrize("suffix", ["", "-train", "-raw"])
@pytest.mark.parametrize("environment", GAMES)
def test_the_same_replies_play_the_same_match(environment: str, suffix: str) -> None:
    tape = record(environment)
    env = ta.make(IDS[environment] + suffix)
    rewards, game_info, read = _play(env, tape)
    learners = tape.deal.learners
    assert env.match.episode.digest == tape.digest
    assert {learners[player]: reward for player, reward in rewards.items()} == pytest.approx(tape.rewards)
    assert [game_info[player]["role"] for player in range(len(learners))] == list(learners)
    assert all(game_info[player]["reason"] for player in range(len(learners)))
    assert len(read) == len(tape.replies)
    assert all(isinstance(text, list if suffix == "-raw" else str) and text for _, text in read)


def test_player_reads_rules_updates_and_own_replies_only() -> None:
    env = ta.make("llmarena/undercover-v0-raw")
    env.reset(num_players=5, seed=1)
    said: dict[int, str] = {}
    first: dict[int, Any] = {}
    done = False
    while not done:
        player, messages = env.get_observation()
        kinds = [kind for _, _, kind in messages]
        if player not in first:
            first[player] = messages
            assert kinds == [ta.ObservationType.PROMPT, ta.ObservationType.GAME_MESSAGE]
        else:
            assert messages[0] == (player, said[player], ta.ObservationType.PLAYER_ACTION)
            assert ta.ObservationType.PROMPT not in kinds
        said[player] = f"nothing to say {player} {len(said)}"
        done, info = env.step(said[player])
        assert info == {"failure": env.match.steps[-1].kind.name.lower()}
    rewards, game_info = env.close()
    assert set(rewards) == set(game_info) == set(range(5))


def test_reask_gives_reason_and_forfeit_is_named() -> None:
    env = ta.make("llmarena/tictactoe-v0")
    env.reset(num_players=2, seed=1)
    player, _ = env.get_observation()
    for attempt in range(3):
        done, info = env.step("X: (9, 9)" if player == 0 else "O: (9, 9)")
        assert info["failure"] in {"illegal", "unparsable"}
        again, text = env.get_observation()
        assert done or (again == player and len(text) > 100), attempt
    assert done
    rewards, game_info = env.close()
    assert rewards == {player: -1.0, 1 - player: 1.0}
    assert game_info[player]["invalid_move"]
    assert not game_info[1 - player]["invalid_move"]
    assert game_info[player]["turn_count"] == 3


class _Agent(ta.Agent):
    def __call__(self, observation: str) -> str:
        assert isinstance(observation, str)
        return "I think.\n[3]" * 50


@pytest.mark.parametrize(
    "wrap",
    [
        ta.wrappers.LLMObservationWrapper,
        ta.wrappers.GameMessagesObservationWrapper,
        ta.wrappers.GameBoardObservationWrapper,
        ta.wrappers.GameMessagesAndCurrentBoardObservationWrapper,
        lambda env: ta.wrappers.ActionFormattingWrapper(ta.wrappers.LLMObservationWrapper(env)),
        lambda env: ta.wrappers.ClipCharactersActionWrapper(
            ta.wrappers.LLMObservationWrapper(env), max_num_characters=20
        ),
    ],
)
def test_wrappers_and_agents_of_the_library_work(wrap: Any) -> None:
    env = wrap(ta.make("llmarena/connect_four-v0-raw", history="full"))
    env.reset(num_players=2, seed=4)
    players, done = {0: _Agent(), 1: ta.AgentWrapper(_Agent())}, False
    while not done:
        player, observation = env.get_observation()
        done, _ = env.step(players[player](observation))
    rewards, _ = env.close()
    assert sum(rewards.values()) == 0


def test_opponents_may_wait_and_are_closed() -> None:
    tape = record("connect_four_v0", {"player_1": "tests.integrations.opponents:Patient"})
    before = Patient.closed
    env = ta.make("llmarena/connect_four-v0", opponents=dict(tape.deal.opponents))
    rewards, _, _ = _play(env, tape)
    assert env.match.episode.digest == tape.digest
    assert rewards == {0: tape.rewards["player_0"]}
    assert Patient.closed == before + 1


def test_scripted_opponents_play_in_a_notebook() -> None:
    async def cell() -> Any:
        env = ta.make("llmarena/tictactoe-v0", opponents={"player_1": "minimax"})
        env.reset(num_players=1, seed=1)
        env.close()
        waiting = ta.make("llmarena/connect_four-v0", opponents={"player_0": "tests.integrations.opponents:Patient"})
        with pytest.raises(RuntimeError, match="wait for nothing"):
            waiting.reset(num_players=1, seed=1)

    asyncio.run(cell())


def test_an_opponent_that_fails_is_no_loss() -> None:
    env = ta.make("llmarena/tictactoe-v0", opponents={"player_1": "tests.integrations.opponents:broken"})
    env.reset(num_players=1, seed=1)
    env.step("no idea")
    env.step("no idea")
    with pytest.raises(ProviderError, match="ConnectionError"):
        env.step("no idea")  # a random move is played, and the opponent is asked
    assert env.close()[0] is None


def test_errors_are_reported() -> None:
    env = ta.make("llmarena/tictactoe-v0-raw")
    with pytest.raises(RuntimeError, match="reset"):
        env.step("X")
    with pytest.raises(ValueError, match=r"num_players: expected 2 .*got 3"):
        env.reset(num_players=3, seed=1)
    with pytest.raises(OptionError, match="seed"):
        env.reset(num_players=2, seed=-1)
    with pytest.raises(OptionError, match="random_opening"):
        ta.make("llmarena/tictactoe-v0-raw", options={"random_openin": 2}).reset(num_players=2)
    env.reset(num_players=2)
    with pytest.raises(TypeError, match="expected a text"):
        env.step(7)
    while not env.step("no idea")[0]:
        pass
    with pytest.raises(RuntimeError, match="over"):
        env.step("X")


def test_parallel_matches_leave_the_global_generator_alone() -> None:
    tapes = [record("hanabi_v0", seed=seed) for seed in range(8)]
    envs = [ta.make("llmarena/hanabi-v0-raw") for _ in tapes]
    random.seed(1)
    expected = random.random()
    random.seed(1)
    for env, tape in zip(envs, tapes, strict=True):
        env.reset(num_players=2, seed=tape.deal.seed)
    for turn in range(max(len(tape.replies) for tape in tapes)):
        for env, tape in zip(envs, tapes, strict=True):
            if turn < len(tape.replies):
                env.step(tape.replies[turn])
    assert [env.match.episode.digest for env in envs] == [tape.digest for tape in tapes]
    assert random.random() == expected


def test_environment_can_be_reset_during_a_match() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = ta.make("llmarena/bargain-v0", opponents={"player_1": "random"})
        for seed in range(3):
            env.reset(num_players=1, seed=seed)
            env.step("no idea")
        env.close()
        env.reset(num_players=1, seed=1)
        env.close()


def test_the_page_s_script_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [block for block in code_blocks("training_reference.md") if block.title == "arena.py"]
    exec(compile(block.text, block.title, "exec"), {})
    assert "The match is over." in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["", "-train", "-raw"])
def test_match_ending_before_first_turn_runs_through_the_loop(suffix: str) -> None:
    others = {f"player_{seat}": "random" for seat in range(4)}
    env = ta.make(f"llmarena/hanabi-v0{suffix}", opponents=others, options={"players": 5})
    asked = []
    for seed in range(8):
        env.reset(num_players=1, seed=seed)
        done = False
        while not done:
            _, observation = env.get_observation()
            done, _ = env.step("no idea")
        asked.append(len(env.match.steps))
        assert bool(asked[-1]) == ("The match is over" not in str(observation))  # nor does it contain the last match
        rewards, _ = env.close()
        assert rewards == {0: env.match.episode.rewards["player_4"]}
    assert 0 in asked
    assert any(asked)


def test_environments_of_installed_packages_are_registered_too(monkeypatch: pytest.MonkeyPatch) -> None:
    dilemma = SimpleNamespace(registry_id="dilemma/dilemma-v0", name="dilemma_v0")
    found = SimpleNamespace(environments={"dilemma_v0": dilemma})
    monkeypatch.setattr("agents.integrations.textarena.installed", lambda: found)
    names = _names()
    assert names["dilemma/dilemma-v0"] == "dilemma_v0"
    assert names["llmarena/tictactoe-v0"] == "tictactoe_v0"
