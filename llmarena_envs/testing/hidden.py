"""Rules about information hidden from an agent: it can be redrawn without a visible change."""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from llmarena_envs.core.game import Game
from llmarena_envs.testing.transcript import are_alike, digest, expect_equal, plain, snapshot
from llmarena_envs.testing.trial import Trial, is_over

TRIED = 3
"""Number of an agent's actions whose legality is compared at one position."""

DEALS = 24
"""Number of matches compared with each other if a game declares perfect information."""


def hidden_information_can_be_redrawn(trial: Trial) -> None:
    """``game.resample(agent, rng)`` redraws hidden information in a copy of the game, unless ``perfect_information`` holds.

    It is deterministic given its generator, does not affect the original or the agents to move, and the match can be played
    from there to its end. It changes something for an agent at some position: a game without hidden information declares
    ``perfect_information``.
    """
    redrawn = False
    for seed in trial.seeds:
        env = trial.make()
        if not hasattr(env.unwrapped, "game"):
            return
        last = None
        for _ in trial.play(env, seed):
            if env.unwrapped.game.perfect_information:
                return
            if is_over(env):
                last = last or snapshot(env)
            elif trial.is_rare_turn:
                redrawn = _redraw_for_all(trial, env.unwrapped.game) or redrawn
        _check_untouched(trial, seed, last)
    trial.expect(
        redrawn,
        "resample(agent, rng) to redraw something at some position, or the game to declare perfect_information = True",
        "every copy the same as its original",
    )


def _check_untouched(trial: Trial, seed: int, last: Any) -> None:
    """Replays the match without redrawing in copies; it must have the same end."""
    env = trial.make()
    for _ in trial.play(env, seed):
        if is_over(env):
            expect_equal(trial, snapshot(env), last, "the same end as without redrawing in copies")
            return


def _redraw_for_all(trial: Trial, game: Game[Any, Any]) -> bool:
    """Redraws for every agent in a copy of the game and continues there; says whether anything changed."""
    redrawn = False
    for agent in game.agents:
        twin = redrawn_copy(trial, game, agent)
        expect_equal(trial, plain(game.to_move), plain(twin.to_move), "the same agents to move", agent)
        again = are_alike(twin, redrawn_copy(trial, game, agent))
        trial.expect(again, "the same redrawn from equal generators", "something else at the second time", agent)
        redrawn = redrawn or not are_alike(twin, game)
        rng = _rng(trial)
        for _ in range(game.max_turns):
            if not twin.to_move:
                break
            actions = tuple(twin.random_action(mover, rng) for mover in twin.to_move)
            for mover, action in zip(twin.to_move, actions, strict=True):
                reason = twin.why_illegal(mover, action)
                trial.expect(reason is None, f"{action!r}, a random action, to be legal when played on", reason, mover)
            twin.apply(actions)
        trial.expect(not twin.to_move, f"the match to be played on to its end, redrawn for {agent}", twin.to_move)
    return redrawn


def redrawn_copy(trial: Trial, game: Game[Any, Any], agent: str) -> Game[Any, Any]:
    """Returns a copy of the game with the information hidden from ``agent`` redrawn."""
    twin = copy.copy(game)
    try:
        twin.resample(agent, _rng(trial))
    except NotImplementedError as error:
        trial.fail(
            "the game to define resample(agent, rng), or to declare perfect_information = True if it hides nothing",
            str(error),
            agent,
        )
    return twin


def _rng(trial: Trial) -> np.random.Generator:
    # The last number makes it differ from the generator of the deal, which would draw the same again.
    return np.random.default_rng([trial.seed or 0, trial.turn or 0, 1])


def hidden_information_leaves_no_trace(trial: Trial) -> None:
    """``game.resample(agent, rng)`` changes nothing visible to the agent, at any position of a running match.

    Its view, observation, mask and statistics, the agents to move, legal actions and reasons stay the same.
    """
    for env in trial.positions():
        raw = env.unwrapped
        if not hasattr(raw, "game") or raw.game.perfect_information:
            return
        if is_over(env):
            continue
        for agent in env.possible_agents:
            actions = _some_actions(raw.game, agent, _rng(trial))
            before = _noticed(env, agent, actions)
            with redrawn_in(env, redrawn_copy(trial, raw.game, agent)):
                after = _noticed(env, agent, actions)
            expect_equal(trial, before, after, "the same whatever is hidden from the agent", agent)


@contextlib.contextmanager
def redrawn_in(env: Any, twin: Game[Any, Any]) -> Iterator[None]:
    """Replaces the position of an environment temporarily; pending moves stay."""
    raw, game = env.unwrapped, env.unwrapped.game
    raw.game = twin
    try:
        yield
    finally:
        raw.game = game


def _noticed(env: Any, agent: str, actions: list[Any]) -> dict[str, Any]:
    """Returns everything that ``agent`` can learn at the present position, also by trying actions."""
    raw = env.unwrapped
    return {
        "view": plain(raw.view(agent)),
        "observation": plain(env.observe(agent)),
        "statistics": plain(dict(raw.game.statistics(agent))),
        "to_move": plain(raw.game.to_move),
        "reasons": plain([(action, raw.game.why_illegal(agent, action)) for action in actions]),
    }


def _some_actions(game: Game[Any, Any], agent: str, rng: np.random.Generator) -> list[Any]:
    if agent not in game.to_move:
        return []
    if game.num_actions is None:
        return [game.random_action(agent, rng) for _ in range(TRIED)]
    return [int(action) for action in rng.integers(game.num_actions, size=TRIED)]


def perfect_information_hides_nothing(trial: Trial) -> None:
    """If a game declares ``perfect_information``, an agent's own history in a match determines everything.

    If it is the same in two matches, all views are the same, and after the same move all next views as well. Compares matches
    of different deals, in pairs with the same choices if possible.
    """
    env = trial.make()
    if not hasattr(env.unwrapped, "game"):
        return
    env.reset(seed=trial.seeds[0])
    game = env.unwrapped.game
    if not game.perfect_information:
        return
    known: dict[tuple[str, ...], Any] = {}
    for deal in range(DEALS):
        game.reset(np.random.default_rng([trial.seeds[0], deal]))
        _compare_with_others(trial, game, np.random.default_rng([trial.seeds[0], deal // 2]), known)


def _compare_with_others(
    trial: Trial, game: Game[Any, Any], choice: np.random.Generator, known: dict[tuple[str, ...], Any]
) -> None:
    """Plays a match and compares it with ``known``: by agent and history, and by agent, history and next move."""
    seen = dict.fromkeys(game.agents, "")
    played = ""
    for trial.turn in range(game.max_turns + 1):
        views = {agent: plain(game.view(agent)) for agent in game.agents}
        for agent in game.agents:
            if trial.turn:
                after = known.setdefault((agent, seen[agent], played), views)
                expect_equal(trial, after, views, "all views the same after what was seen and played", agent)
            seen[agent] = digest([seen[agent], views[agent]])
            expect_equal(
                trial, known.setdefault((agent, seen[agent]), views), views, "all views by what was seen", agent
            )
        if not game.to_move:
            return
        actions = {agent: game.random_action(agent, choice) for agent in game.to_move}
        played = digest([plain(actions)])
        seen |= {agent: digest([seen[agent], plain(action)]) for agent, action in actions.items()}
        game.apply(tuple(actions.values()))


RULES = (
    hidden_information_can_be_redrawn,
    hidden_information_leaves_no_trace,
    perfect_information_hides_nothing,
)
