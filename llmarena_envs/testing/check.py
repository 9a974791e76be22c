"""``check_environment``: checks an environment against all rules."""

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from llmarena_envs.testing.rules import RULES, OnKept, check_rules
from llmarena_envs.testing.subprocess_check import check_in_subprocess
from llmarena_envs.testing.time_limit import can_interrupt, interrupted_after
from llmarena_envs.testing.trial import ConformanceError, Totals, Trial


def check_environment(
    env_fn: Callable[..., Any],
    *,
    options: Mapping[str, Any] | None = None,
    parallel_env_fn: Callable[..., Any] | None = None,
    seeds: Iterable[int] = range(6),
    chance: bool | None = None,
    reward_range: tuple[float, float] | None = None,
    zero_sum: bool = False,
    expected_totals: Totals | None = None,
    time_limit: float | None = 60.0,
    on_kept: OnKept | None = None,
    skip: Collection[str] = (),
) -> None:
    """Checks an environment against every rule of the suite; see the functions in ``RULES``.

    In addition to PettingZoo's interface the environment needs the interface of ``TextEnv``: ``view``, ``parse``, ``format``,
    ``random_action``, ``default_action``, ``max_turns`` and ``np_random`` on ``env.unwrapped``; if it has ``game``, the rules
    about games and codecs are checked as well. Checks, in this order:

    * construction: options, documented arguments, the order of calls;
    * the game alone: agents to move, views, legal actions, rewards;
    * matches: end, order of agents, infos; the declaration;
    * rewards: every agent's, the game's, and agreement with ``reward_range``, ``zero_sum`` and ``expected_totals``;
    * randomness: the seed determines everything, in every process;
    * copies of a running match;
    * observations, chats in native roles, masks, spaces, text rendering and transcripts;
    * actions and replies, including junk, and texts after the end;
    * hidden information: ``Game.resample`` redraws it without a visible change; ``Game.perfect_information`` is correct;
    * views: they determine every observation, and pending moves are hidden;
    * messages: a view contains others' messages only through the message pool, which enforces the declared channels;
    * updates: the texts of ``Codec.update`` contain the whole observation;
    * SVG drawings from ``draw``: no secrets, no illegal replies, no injection by players' texts;
    * PettingZoo's own tests, the parallel form, and the beginning of a match with every other ``obs_type``.

    Rules that look at the positions of a match look at all of the first 32 turns and at some later ones; see ``Trial.positions``.

    Args:
        env_fn: makes the environment from keyword options, e.g. ``tictactoe_v0.env``.
        options: options of the environment under test; ``render_mode`` is added where a rule needs it.
        parallel_env_fn: makes the parallel form; by default PettingZoo's conversion if the metadata declare the environment
            parallelizable.
        seeds: seeds of the random matches, at least two.
        chance: whether the game has chance events under these options; by default inferred from the environment's generator.
        reward_range: lowest and highest sum of an agent's rewards over a match, including forfeited ones.
        zero_sum: whether the rewards of a match add up to 0; also if one of two agents forfeits it.
        expected_totals: ``expected_totals(game)`` returns the total reward of each agent for a match played to its end,
            computed independently of the game's own rewards, e.g. by counting the board. The only check that finds rewards
            assigned to the wrong seat.
        time_limit: seconds per rule; ``None`` for no limit. In the main thread of a POSIX system an alarm signal interrupts a
            rule, also while a pattern backtracks; otherwise the rules are checked in another process, which needs picklable
            arguments.
        on_kept: called with each passed rule; immediately, or at the end if the rules are checked in another process.
        skip: names of rules that are not checked, e.g. ``NEED_RESAMPLE`` for a game without ``resample``.

    Raises:
        ConformanceError: for the first failed or timed-out rule, with position, expected and actual value.
        ValueError: if there are fewer than two seeds, if ``skip`` holds an unknown name, or if ``time_limit`` is not positive or
            cannot be enforced.
    """
    numbers = tuple(seeds)
    if len(set(numbers)) < 2:
        raise ValueError(f"seeds: expected at least two different ones, got {numbers}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit: expected a positive number of seconds or None, got {time_limit!r}")
    if unknown := sorted(set(skip) - {rule.__name__ for rule in RULES}):
        raise ValueError(f"skip: expected names of rules, got {unknown}")
    trial = Trial(
        env_fn,
        parallel_env_fn,
        dict(options or {}),
        numbers,
        chance=chance,
        reward_range=reward_range,
        zero_sum=zero_sum,
        expected_totals=expected_totals,
        skip=frozenset(skip),
    )
    tell = on_kept or (lambda rule: None)
    if time_limit is None:
        check_rules(trial, lambda rule: contextlib.nullcontext(), tell)
    elif can_interrupt():
        check_rules(trial, lambda rule: interrupted_after(time_limit), tell)
    else:
        _check_in_subprocess(trial, time_limit, tell)


def _check_in_subprocess(trial: Trial, time_limit: float, tell: OnKept) -> None:
    broken: ConformanceError | None = None
    try:
        check_in_subprocess(trial, time_limit)
    except ConformanceError as error:
        broken = error
    checked = [rule for rule in RULES if rule.__name__ not in trial.skip]
    for rule in itertools.takewhile(lambda rule: broken is None or rule.__name__ != broken.rule, checked):
        tell(rule)
    if broken is not None:
        raise broken
