"""When the turns of a try are written."""

import asyncio
from contextlib import closing

import pytest

from agents.records import Turn
from rating.config.run_file import parse_run_file
from rating.errors import StoreError
from rating.play import attempts
from rating.play.attempts import Halted, try_match
from rating.play.executors.executor import Played
from rating.play.players import Players
from rating.store.location import create_file
from rating.store.records import VOID, Match, void_outcome

MATCH = Match("tictactoe_v0", 0, ("a", "b"), 1, {})
VOIDED = Played(void_outcome(MATCH, VOID), error="503")


class Plays:
    """Takes three turns and looks after each how many are written."""

    def __init__(self, store, end=None, *, waits=False):
        self.store, self.end, self.waits, self.written = store, end, waits, []

    async def play(self, match, played, on_turn):
        for index in range(3):
            on_turn(Turn(len(played) + index, "player_0", index, index, ()))
            while self.waits and not self.store.turns(match):
                await asyncio.sleep(0.001)
            self.written.append(len(self.store.turns(match)))
        if self.end is not None:
            raise self.end
        return VOIDED


@pytest.fixture
def store(tmp_path):
    with closing(create_file(tmp_path / "run.db")) as opened:
        opened.add_match(MATCH)
        yield opened


def attempt(store, plays, **options):
    return asyncio.run(try_match(store, plays, MATCH, lambda turn: None, **options))


@pytest.mark.parametrize(("is_repeatable", "written"), [(True, [0, 0, 0]), (False, [1, 2, 3])])
def test_attempt_buffers_only_repeatable_turns(store, monkeypatch, is_repeatable, written):
    monkeypatch.setattr(attempts, "HELD_BACK", 1000)
    plays = Plays(store)
    assert attempt(store, plays, is_repeatable=is_repeatable) == VOIDED
    assert plays.written == written
    assert [turn.index for turn in store.turns(MATCH)] == [0, 1, 2]
    attempt(store, Plays(store), is_repeatable=is_repeatable)  # resumes from there
    assert [turn.index for turn in store.turns(MATCH)] == [*range(6)]
    store.seal()
    assert store.check() == []


def test_attempt_buffered_turns_are_written_in_time(store, monkeypatch):
    monkeypatch.setattr(attempts, "HELD_BACK", 0.01)
    assert attempt(store, Plays(store, waits=True), is_repeatable=True) is VOIDED


@pytest.mark.parametrize(
    ("end", "left"), [(Halted("enough"), 3), (StoreError("gone"), 0), (asyncio.CancelledError(), 0)]
)
def test_attempt_halted_writes_buffered_turns(store, monkeypatch, end, left):
    monkeypatch.setattr(attempts, "HELD_BACK", 1000)
    with pytest.raises(type(end)):
        attempt(store, Plays(store, end), is_repeatable=True)
    assert len(store.turns(MATCH)) == left
    assert store.outcome(MATCH) is None


def test_match_is_repeatable_without_models_and_people():
    text = '[[environment]]\nname = "tictactoe_v0"\n'
    for spec in ("random", "greedy", "human", "openai:one", "tests.rating.players:dawdles"):
        text += f'[[policy]]\nname = "{spec[:6].strip(":")}"\nspec = "{spec}"\n'
        text += 'options = { base_url = "http://localhost:9/v1" }\n' if "openai" in spec else ""
    players = Players(parse_run_file(text, "run.toml"))

    def is_repeatable(other):
        return players.is_repeatable(Match("tictactoe_v0", 0, ("random", other), 1, {}))

    assert [is_repeatable(name) for name in ("greedy", "human", "openai", "tests.")] == [True, False, False, False]
