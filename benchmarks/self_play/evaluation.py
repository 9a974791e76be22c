"""Evaluation of the self-play training: held-out deals, exploitability, detection of a collapse, and the rated run."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import tomlkit
import torch
from torch.nn import functional

import rating
from benchmarks.self_play.games import SEATS, Setting
from benchmarks.self_play.matches import Match, Player, play
from benchmarks.self_play.network import Network
from llmarena_envs.catalogue import make_environment
from llmarena_envs.openspiel.env import SpielEnv
from rating.config.tournament_config import add_newcomer
from rating.exploit.estimate import nash_conv
from rating.exploit.walk import read_game
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from rating.stats.betting import log_evidence
from rating.stats.compare import PolicyComparison
from rating.stats.estimates import Floats
from rating.viewer.source import RunSource


def seeded(seed: int, stream: int) -> torch.Generator:
    """Returns the generator of a stream of a seed: 0 for training, 1 for the scores, 2 for the progress."""
    return torch.Generator().manual_seed(int(np.random.SeedSequence((seed, stream)).generate_state(1)[0]))


def evaluate(setting: Setting, player: Player, deals: int, seed: int) -> Floats:
    """Returns the mean score on each held-out deal against all scripted policies, from both seats; shape (deals,)."""
    matches = [
        Match(setting, [player, opponent][:: 1 if seat == 0 else -1], (seed, 1, deal))
        for deal in range(deals)
        for opponent in setting.scripted.values()
        for seat in range(SEATS)
    ]
    play(setting, matches, seeded(seed, 1))
    scores = [setting.score(match.records[number % SEATS].reward) for number, match in enumerate(matches)]
    return np.array(scores).reshape(deals, -1).mean(axis=1)


def progress(setting: Setting, new: Player, old: Player, deals: int, seed: int) -> PolicyComparison:
    """Compares the scores of two checkpoints on deals played from both seats, as ``llmarena compare`` does."""
    matches = [
        Match(setting, players, (seed, 2, deal)) for deal in range(deals) for players in ([new, old], [old, new])
    ]
    play(setting, matches, seeded(seed, 2))
    battles = []
    for number, match in enumerate(matches):
        first, second = (setting.score(record.reward) for record in match.records)
        names = ("new", "old") if number % 2 == 0 else ("old", "new")
        battles.append((*names, (1 + first - second) / 2, str(number // 2)))
    return rating.compare(battles, "new", "old", seated=True, ordered=True)


def exploitability(network: Network) -> float | None:
    """Returns the exact exploitability of a network in a zero-sum game of OpenSpiel, in points a match; else ``None``."""
    setting = network.setting
    env = make_environment(setting.name, setting.options).unwrapped
    if not isinstance(env, SpielEnv):
        return None
    form = read_game(env)
    views = [SimpleNamespace(agent=setting.game.agents[each.player], information=each.key) for each in form.sets]
    logits, _ = network.decide([setting.tokens(view) for view in views])
    table = [
        functional.softmax(row[list(each.actions)].double(), 0) for row, each in zip(logits, form.sets, strict=True)
    ]
    return float(nash_conv(form, torch.cat(table).numpy())) / SEATS


class CollapseDetector:
    """Flags the first checkpoint whose score against the scripted policies is below that of an earlier one.

    The evidence is the mean of the e-values "this earlier checkpoint scores more", each a bet on the differences by deal
    (``rating.stats.betting``). It must reach ``looks / level``, so a false flag in the whole training has a probability of at
    most ``level``, however early the training is stopped. A flag is never withdrawn: later evidence does not disprove it.

    Args:
        level: the probability.
        looks: planned number of checkpoints after the first.

    Attributes:
        needed: the evidence that raises the flag.
        flagged: update of the first flagged checkpoint, if there is one.
    """

    def __init__(self, level: float, looks: int) -> None:
        self.needed = looks / level
        self.flagged: int | None = None
        self._scores: list[Floats] = []

    def add(self, update: int, scores: Floats) -> float:
        """Adds a checkpoint's scores from 0 to 1 by deal, and returns the evidence of a fall; 1 for the first checkpoint."""
        earlier = self._scores
        self._scores = [*earlier, scores]
        if not earlier:
            return 1.0
        differences = 0.5 + 0.5 * (np.array(earlier) - scores)
        evidence = float(np.exp(log_evidence(differences, 0.5)).mean(axis=0).max())
        if self.flagged is None and evidence >= self.needed:
            self.flagged = update
        return evidence


class RatedRun:
    """The run of the harness with the scripted policies and all checkpoints.

    Args:
        directory: its directory.
        setting: the game.
        seed: its seed.
        most: maximum number of matches of a policy.
        device: device of the checkpoints.
    """

    def __init__(self, directory: Path, setting: Setting, seed: int, most: int, device: str) -> None:
        self._directory, self._setting, self._seed, self._most, self._device = directory, setting, seed, most, device

    def add(self, name: str, path: Path) -> dict[str, list[float | None]]:
        """Adds a checkpoint, plays its matches, and returns value and interval of every policy.

        The values are Elo, or mean rewards in games without ratings.
        """
        options = {"path": str(path), "device": self._device}
        policy = {"name": name, "spec": "benchmarks.self_play.checkpoints:checkpoint", "options": options}
        if not self._directory.exists():
            run, store = run_directory.create(self._directory, self._run_file(policy), "the run file of the training")
        else:
            text = add_newcomer(run_directory.read_run_file(self._directory), [], policy, None)
            run_directory.replace_run_file(self._directory, text)
            run, store = run_directory.reopen_run(self._directory)
        with closing(store), run_directory.held(self._directory, store):
            run_directory.keep_run_file(self._directory, store)
            asyncio.run(Runner(run, store, Session(quiet=True)).run())
            (board,) = RunSource(run, store, name).leaderboards()
        ratings = {}
        for row in board.rows:
            estimate = row.rating if board.is_rated else row.reward
            assert estimate is not None
            ratings[row.policy] = [estimate.value, estimate.low, estimate.high]
        return ratings

    def _run_file(self, policy: Mapping[str, Any]) -> str:
        options = self._setting.options
        table = {
            "seed": self._seed,
            "executor": "asyncio",
            "keep_going": True,
            "stop": {"min_matches": self._most // 2, "max_matches": self._most, "matches": self._most},
            "environment": [{"name": self._setting.name, **({"options": dict(options)} if options else {})}],
            "policy": [*({"spec": spec} for spec in self._setting.ladder), policy],
        }
        return tomlkit.dumps(table)
