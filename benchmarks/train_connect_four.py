"""Trains a connect four player by self-play and plays it against the random player.

    python -m benchmarks.train_connect_four
    python -m benchmarks.train_connect_four --seed 1 --json result.json

Shows that ``connect_four_v0.env(obs_type="vector")`` trains with a standard library: MaskablePPO of sb3-contrib, in the
setting of PettingZoo's tutorial for action masks: one network plays both seats for 20,480 steps, then 100 matches with
alternating seats against random moves. Needs ``pip install 'llmarena-envs[rl]'``.
"""

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv

from benchmarks.options import option, parse
from llmarena_envs import connect_four_v0


@dataclass(frozen=True)
class Options:
    """Options of the training."""

    seed: int = option(0, "seed of training and matches")
    steps: int = option(20_480, "decisions to train for")
    matches: int = option(100, "matches against the random player")
    json: str = option("", "file to write the result to, as JSON")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


class SelfPlay(gymnasium.Env[NDArray[np.int8], np.int64]):
    """Both seats of a two-player environment as one learner, with each position from the side of the player to move.

    Args:
        env: an AEC environment of two players with ``observation`` and ``action_mask`` in its observations.
    """

    def __init__(self, env: AECEnv) -> None:
        self.env = env
        agent = env.possible_agents[0]
        self.observation_space = env.observation_space(agent)["observation"]
        self.action_space = env.action_space(agent)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begins a match."""
        super().reset(seed=seed)
        self.env.reset(seed=seed)
        return self._observe(), {}

    def step(self, action: np.int64) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Moves for the player to move; the reward is the mover's."""
        mover = self.env.agent_selection
        self.env.step(int(action))
        over = self.env.terminations[mover]
        return self._observe(), self.env.rewards[mover], over, False, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions; MaskablePPO requires this name."""
        return self._mask

    def _observe(self) -> NDArray[np.int8]:
        observation = self.env.observe(self.env.agent_selection)
        self._mask = observation["action_mask"].astype(np.bool_)
        return observation["observation"]


def play_random(model: Any, matches: int, seed: int) -> dict[str, int]:
    """Plays matches of the trained player, with its most likely moves, against random legal moves.

    Returns:
        The number of matches ``won``, ``drawn`` and ``lost``; the player begins every second match.
    """
    env = connect_four_v0.env(obs_type="vector")
    rng = np.random.default_rng(seed)
    results = {"won": 0, "drawn": 0, "lost": 0}
    for match in range(matches):
        env.reset(seed=seed + match)
        seat = env.possible_agents[match % 2]
        for agent in env.agent_iter():
            observation, reward, termination, _, _ = env.last()
            if termination:
                if agent == seat:
                    results["won" if reward > 0 else "lost" if reward < 0 else "drawn"] += 1
                env.step(None)
            elif agent == seat:
                action, _ = model.predict(
                    observation["observation"], action_masks=observation["action_mask"], deterministic=True
                )
                env.step(int(action))
            else:
                env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return results


def run(options: Options) -> dict[str, Any]:
    """Trains and plays.

    Returns:
        ``options``, ``won``, ``drawn``, ``lost``, ``steps`` and ``seconds`` of training.
    """
    import torch
    from sb3_contrib import MaskablePPO

    size = replace(options, steps=64, matches=4) if options.smoke else options
    torch.set_num_threads(1)  # for reproducible networks
    env = SelfPlay(connect_four_v0.env(obs_type="vector"))
    # The next position belongs to the opponent, whose gain is the player's loss.
    gamma = -1.0
    rollout = min(2048, size.steps)
    model = MaskablePPO("MlpPolicy", env, gamma=gamma, n_steps=rollout, seed=size.seed, device="cpu")
    start = time.perf_counter()
    model.learn(size.steps)
    seconds = time.perf_counter() - start
    matches = play_random(model, size.matches, size.seed)
    return {"options": asdict(size), "steps": model.num_timesteps, "seconds": round(seconds, 1), **matches}


def main() -> None:
    """Trains, plays, prints the result and writes the JSON file if requested."""
    options = parse(Options, __doc__)
    result = run(options)
    text = json.dumps(result, indent=2)
    print(text)
    if options.json:
        Path(options.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
