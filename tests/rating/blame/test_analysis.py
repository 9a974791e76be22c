"""Continuations of recorded matches, and the turns that they blame."""

import asyncio
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from agents.errors import ProviderError
from agents.models.service import ModelService
from agents.play import play
from agents.policy import ScriptedPolicy
from agents.registry import make_policy
from llmarena_envs.bargain.game import Deal, Offer
from llmarena_envs.bargain.grammar import write_action
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.options import OptionError
from rating.blame.analysis import MAX_VOID, SCREENED, Analysis
from rating.blame.estimate import effects, max_t_quantile, pairs_needed
from rating.blame.pairs import Pairs
from rating.blame.question import SELF, Game, Question, Spec, candidates
from rating.blame.results import costs_by_kind
from rating.errors import RunError
from rating.store.records import Match, Record, outcome_of
from research.blame import SETUPS, analysed, played

BARGAIN = next(setup for name, setup in SETUPS.items() if name.startswith("bargain"))
HERE = __name__


class Cards(ScriptedPolicy):
    """Checks or calls, and records its views."""

    seen: ClassVar[list] = []

    def __call__(self, view):
        self.seen.append(view)
        return 1


class Reader:
    """Calls in hold'em; records its questions and its memory."""

    notes: ClassVar[list] = []

    def reset(self, agent, seed):
        self.agent, self.seed = agent, seed
        self.memory = []

    def __call__(self, observation):
        self.notes.append((self.agent, self.seed, observation["text"], tuple(self.memory)))
        return "Action: Check and Call"

    def recall(self, observation, reply):
        self.memory.append(reply)


class Failing:
    """Plays the first legal move, but fails at every 50th call."""

    wants_legal = True
    calls = 0
    period = 50

    def __call__(self, observation):
        Failing.calls += 1
        if not Failing.calls % Failing.period:
            raise OSError("the line is dead")
        return observation["legal"][0]


class Chatty(ScriptedPolicy):
    """Demands everything with a threat; gives in to a threat."""

    def __call__(self, view):
        threatened = bool(view.offers) and "last offer" in view.offers[-1].message
        if threatened:
            return write_action(view.agent, Deal())
        text = "My last offer." if view.agent == "player_0" and view.round == 3 else "Hello."
        return write_action(view.agent, Offer(view.counts, text))


def recorded(environment, specs, seed=1, **options):
    """Returns a game that was played."""
    env = make_environment(environment, options)
    agents = env.unwrapped.possible_agents
    match = Match(environment, 0, tuple(specs), seed, options)
    policies = {agent: make_policy(spec, environment) for agent, spec in zip(agents, specs, strict=True)}
    episode = play(env, policies, seed)
    record = Record(match, outcome_of(match, agents, episode), episode.turns, episode.digest, 1, "")
    return Game(record, {agent: Spec(spec, {}) for agent, spec in zip(agents, specs, strict=True)})


def ask(game, seat, **changes):
    fields = {"substitute": SELF, "message": None, "hidden": "fixed", "seed": 5, "rewarded": seat, **changes}
    return Question(match=game.record.match.id, seat=seat, **fields)


def analyse(directory, game, question, size=10, **options):
    """Returns the result of an analysis."""
    with Pairs(directory, question) as pairs:
        found = candidates(game, question)
        return asyncio.run(Analysis(game, question, found, pairs, ModelService(), size=size, **options).run())


def test_planted_blunder_is_blamed_and_clean_match_is_not():
    for number in range(4):
        for is_planted in (True, False):
            record, turn = played(BARGAIN, np.random.default_rng([9, number]), planted=is_planted)
            found = analysed(BARGAIN, record, turn, number).result
            assert found.blamed == turn
            assert (turn is None) == (not is_planted)
            if turn is not None:
                blamed = next(each for each in found.turns if each.turn == turn)
                assert 0 < blamed.low <= blamed.cost <= blamed.high
                assert all(each.low is None or each.low <= blamed.cost for each in found.turns)


def test_same_seed_gives_the_same_bytes_and_resuming_plays_only_missing_pairs(tmp_path):
    game = recorded("tictactoe_v0", ("random", "random"), seed=4)
    question = ask(game, "player_1", substitute="minimax")
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        result = analyse(tmp_path / name, game, question)
        files.append((tmp_path / name / f"{question.name}.jsonl").read_bytes())
    assert files[0] == files[1]
    path = tmp_path / "two" / f"{question.name}.jsonl"
    path.write_bytes(files[1][: len(files[1]) // 2])  # killed while it wrote a line
    assert analyse(tmp_path / "two", game, question) == result
    assert path.read_bytes() == files[0]
    assert analyse(tmp_path / "two", game, question, size=12).blamed == result.blamed
    longer = path.read_bytes()
    assert longer.startswith(files[0]) and len(longer) > len(files[0])  # a larger size adds pairs
    assert analyse(tmp_path / "two", game, question) == result
    assert path.read_bytes() == longer


def test_redrawn_information_agrees_with_what_the_seat_saw(tmp_path):
    game = recorded("holdem_v0", (f"{HERE}:Cards", f"{HERE}:Cards"), seed=3)
    for hidden in ("fixed", "redrawn"):
        Cards.seen.clear()
        question = ask(game, "player_0", hidden=hidden, substitute="call")
        analyse(tmp_path, game, question, size=8)
        own = {view.hole for view in Cards.seen if view.agent == "player_0"}
        others = {view.hole for view in Cards.seen if view.agent == "player_1"}
        rivers = {view.board for view in Cards.seen if len(view.board) == 5}
        assert len(own) == 1
        assert (len(others) > 1, len(rivers) > 1) == (hidden == "redrawn",) * 2
        assert all(not {*view.hole} & {*next(iter(own))} for view in Cards.seen if view.agent == "player_1")


@pytest.mark.parametrize("hidden", ["fixed", "redrawn"])
def test_policies_recall_the_match_before_they_are_asked(tmp_path, hidden):
    game = recorded("holdem_v0", (f"{HERE}:Reader",) * 2, seed=3)
    Reader.notes.clear()
    analyse(tmp_path, game, ask(game, "player_0", hidden=hidden), size=8)
    turns = {agent: [turn.read for turn in game.record.turns if turn.agent == agent] for agent in game.policies}
    seat = [
        (turns["player_0"].index(text), len(memory))
        for agent, _, text, memory in Reader.notes
        if text in turns["player_0"]
    ]
    assert {place == recalled for place, recalled in seat} >= {True}
    later = [memory for agent, _, text, memory in Reader.notes if agent == "player_1"]
    assert (max(map(len, later)) > 0) == (hidden == "fixed")


def test_pairs_share_the_seeds_of_policies(tmp_path):
    game = recorded("holdem_v0", (f"{HERE}:Reader",) * 2, seed=3)
    Reader.notes.clear()
    question = ask(game, "player_0", substitute="random")
    analyse(tmp_path, game, question, size=8)
    seeds = [seed for agent, seed, _, _ in Reader.notes if agent == "player_1"]
    assert len(set(seeds)) > SCREENED  # other seeds in other pairs
    assert len(seeds) > len(set(seeds))  # the same in both continuations of a pair


def test_failed_provider_makes_pairs_void_and_they_are_played_when_resumed(tmp_path, monkeypatch):
    game = recorded("tictactoe_v0", ("random", "first_legal"))
    game = replace(game, policies={**game.policies, "player_1": Spec(f"{HERE}:Failing", {})})
    question = ask(game, "player_0")
    monkeypatch.setattr(Failing, "calls", 0)
    result = analyse(tmp_path, game, question)
    assert 0 < result.void < MAX_VOID
    path = tmp_path / f"{question.name}.jsonl"
    before = path.read_text()
    monkeypatch.setattr(Failing, "period", 10**9)
    fine = analyse(tmp_path, game, question)
    assert fine.void == 0
    assert path.read_text().startswith(before) and len(path.read_text()) > len(before)
    monkeypatch.setattr(Failing, "period", 1)
    with pytest.raises(ProviderError, match="the line is dead"):
        analyse(tmp_path, game, replace(question, seed=6))


def test_message_is_removed_and_the_action_kept(tmp_path):
    game = recorded("bargain_v0", (f"{HERE}:Chatty",) * 2)
    question = ask(game, "player_0", substitute="", message="", rewarded="player_1")
    found = candidates(game, question)
    env = game.make_env()
    env.reset(seed=0)
    for candidate in found:
        before = env.read_action(game.record.turns[candidate.turn].action, "player_0")
        after = env.read_action(candidate.replaced, "player_0")
        assert before.message and not after.message
        assert before.counts == after.counts
    result = analyse(tmp_path, game, replace(question, rewarded="player_0"))
    threat = next(turn for turn in result.turns if turn.screened)
    assert threat.screened == -10  # without the threat there is no deal
    assert result.blamed is None


def test_clue_is_removed_and_votes_are_not_in_question():
    game = recorded("undercover_v0", ("similarity",) * 5)
    found = candidates(game, ask(game, "player_0", substitute="", message="", hidden="redrawn"))
    assert {candidate.kind.split(", ")[1] for candidate in found} == {"clue"}
    assert {candidate.replaced for candidate in found} == {"player_0:"}


@pytest.mark.parametrize(
    ("environment", "specs", "changes", "message"),
    [
        ("tictactoe_v0", ("random",) * 2, {"message": "", "substitute": ""}, "expected a game with messages"),
        ("bargain_v0", ("fair",) * 2, {"message": "", "substitute": ""}, "expected a turn with a message of its own"),
        ("tictactoe_v0", ("random",) * 2, {"seat": "player_7"}, "--seat: expected one of player_0, player_1"),
        ("tictactoe_v0", ("random",) * 2, {"substitute": "human"}, "expected a program or a model"),
    ],
)
def test_question_without_an_answer_is_refused(tmp_path, environment, specs, changes, message):
    game = recorded(environment, specs)
    with pytest.raises(OptionError, match=message):
        analyse(tmp_path, game, replace(ask(game, "player_0"), **changes))


def test_record_that_differs_from_its_replay_is_refused(tmp_path):
    game = recorded("tictactoe_v0", ("random",) * 2)
    turns = game.record.turns
    for changed in (
        replace(turns[2], action=turns[0].action),
        replace(turns[2], action="X"),
        replace(turns[2], read="something else"),
        replace(turns[2], rewards={"player_0": 9.0, "player_1": 0.0}),
    ):
        record = replace(game.record, turns=(*turns[:2], changed, *turns[3:]))
        with pytest.raises(RunError, match="the replay differs from the record"):
            candidates(replace(game, record=record), ask(game, changed.agent))


def test_simultaneous_intervals_cover_and_rarely_blame_without_an_effect():
    assert max_t_quantile([10**6]) == pytest.approx(1.96, abs=0.01)
    rng = np.random.default_rng(0)
    covered = blamed = 0
    for _ in range(400):
        samples = [rng.choice([-2.0, 0.0, 2.0], size=40, p=[0.25, 0.5, 0.25]).tolist() for _ in range(3)]
        found = effects(samples)
        covered += all(each.low <= 0 <= each.high for each in found)
        blamed += any(each.low > 0 for each in found)
    assert 0.92 < covered / 400 < 0.98
    assert blamed / 400 < 0.05
    assert pairs_needed(effects([[1.0, -1.0, 1.0, 1.0] * 10])) is not None
    assert pairs_needed(effects([[-1.0] * 10])) is None
    assert effects([[1.0] * 7]) == [None]


def test_kinds_of_turns_are_averaged_over_matches(tmp_path):
    results = []
    for seed in range(8):
        game = recorded("tictactoe_v0", ("random", "minimax"), seed=seed)
        results.append(analyse(tmp_path, game, ask(game, "player_0", substitute="minimax"), size=8))
    rows = costs_by_kind(results)
    assert {row.kind for row in rows} >= {"opening", "middle"}
    assert [row.cost for row in rows] == sorted((row.cost for row in rows), reverse=True)
    (opening,) = (row for row in rows if row.kind == "opening")
    assert opening.matches == 8 and opening.effect is not None
    assert opening.effect.mean == pytest.approx(opening.cost)
