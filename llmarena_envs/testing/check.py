"""``check_environment``: all rules of the conformance suite, one after the other."""

import contextlib
import dataclasses
import itertools
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from llmarena_envs.testing import (
    actions,
    construction,
    contract,
    copies,
    declarations,
    determinism,
    drawings,
    hidden,
    matches,
    observations,
    pettingzoo_tests,
    rewards,
    secrecy,
    unknown,
    updates,
)
from llmarena_envs.testing.elsewhere import Watch, check_elsewhere
from llmarena_envs.testing.time_limit import FRAMES, TimeUp, can_interrupt, interrupted_after
from llmarena_envs.testing.trial import ConformanceError, Totals, Trial, shown

RULES: tuple[Callable[[Trial], None], ...] = (
    construction.the_environment_is_made_with_its_options,
    contract.the_first_stage_keeps_the_contract,
    *construction.RULES,
    *matches.RULES,
    *contract.RULES,
    *declarations.RULES,
    *rewards.RULES,
    *determinism.RULES,
    *copies.RULES,
    *observations.RULES,
    *actions.RULES,
    *hidden.RULES,
    *unknown.RULES,
    *secrecy.RULES,
    *updates.RULES,
    *drawings.RULES,
    *pettingzoo_tests.RULES,
    construction.every_obs_type_can_be_observed,
)
"""Every rule: a function that says by its name and docstring what must hold. The first ones are what the others build on."""

OnKept = Callable[[Callable[[Trial], None]], None]
"""Is told of a rule that is kept."""


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
) -> None:
    """Checks that an environment keeps every rule of the suite; see the functions in ``RULES``.

    Besides PettingZoo's interface the environment offers what ``TextEnv`` defines: ``view``, ``parse``, ``format``,
    ``random_action``, ``default_action``, ``max_turns`` and ``np_random`` on ``env.unwrapped``; with ``game`` there, the rules
    about games and codecs are checked as well. What is looked at, in this order:

    * construction: options, documented arguments, the order of calls;
    * the game by itself: who is to move, views, legal actions, rewards;
    * matches: their end, who acts when, infos; what the environment declares;
    * rewards: for every agent, those of the game, and what ``reward_range``, ``zero_sum`` and ``expected_totals`` say;
    * randomness: the seed decides everything, in every process;
    * copies of a match that is going on;
    * observations, chats in native roles, masks, spaces, pictures and stories;
    * actions and replies, junk among them;
    * what is hidden: ``Game.resample`` redraws it, and nobody who cannot know it notices; ``Game.perfect_information`` is true;
    * views: everything that is observed comes from them, and pending moves do not show;
    * updates: what a reader of ``Codec.update`` has read is no less than the whole observation;
    * pictures as SVG, where ``draw`` makes them: no secret, no illegal reply, no text of a player that is more than a text;
    * PettingZoo's own tests, the parallel form, and the beginning of a match with every other ``obs_type``.

    Args:
        env_fn: makes the environment from keyword options, e.g. ``tictactoe_v0.env``.
        options: options of the environment under test; ``render_mode`` is added where a rule needs it.
        parallel_env_fn: makes the parallel form; without it, PettingZoo's conversion is used where the metadata say
            that the environment is parallelizable.
        seeds: seeds of the random matches, at least two.
        chance: whether chance decides anything in the game under these options; without it the environment's generator
            is looked at.
        reward_range: least and greatest sum of an agent's rewards over a match, forfeited ones included.
        zero_sum: whether the rewards of a match add up to 0; also when one of two agents forfeits it.
        expected_totals: what each agent has to have received over a match that was played to its end, judged independently
            of the game's own rewards, e.g. by counting the board: ``expected_totals(game)`` gives a number for each agent. Only
            so can it be found that rewards are those of another seat.
        time_limit: seconds that a rule may take, several minutes of work of the fastest environments; ``None`` for no limit.
            In the main thread of a POSIX system a rule is interrupted by an alarm signal, also while a pattern backtracks;
            elsewhere the rules are checked in another process, which needs arguments that can be pickled.
        on_kept: is called with each rule that is kept as soon as that is known; with all of them at the end where the rules are
            checked in another process.

    Raises:
        ConformanceError: for the first rule that is broken or takes too long; it says where, what was expected and what came.
        ValueError: if there are fewer than two seeds, or if ``time_limit`` is not positive or cannot be kept.
    """
    numbers = tuple(seeds)
    if len(set(numbers)) < 2:
        raise ValueError(f"seeds: expected at least two different ones, got {numbers}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit: expected a positive number of seconds or None, got {time_limit!r}")
    trial = Trial(
        env_fn,
        parallel_env_fn,
        dict(options or {}),
        numbers,
        chance=chance,
        reward_range=reward_range,
        zero_sum=zero_sum,
        expected_totals=expected_totals,
    )
    tell = on_kept or (lambda rule: None)
    if time_limit is None:
        check_rules(trial, lambda rule: contextlib.nullcontext(), tell)
    elif can_interrupt():
        check_rules(trial, lambda rule: interrupted_after(time_limit), tell)
    else:
        _check_elsewhere(trial, time_limit, tell)


def _check_elsewhere(trial: Trial, time_limit: float, tell: OnKept) -> None:
    broken: ConformanceError | None = None
    try:
        check_elsewhere(trial, time_limit)
    except ConformanceError as error:
        broken = error
    for rule in itertools.takewhile(lambda rule: broken is None or rule.__name__ != broken.rule, RULES):
        tell(rule)
    if broken is not None:
        raise broken


def check_rules(trial: Trial, watch: Watch, tell: OnKept = lambda rule: None) -> None:
    """Checks every rule, each under ``watch``, and tells each that is kept.

    Raises:
        ConformanceError: for the first rule that is broken.
    """
    for rule in RULES:
        present = dataclasses.replace(trial, rule=rule.__name__)
        try:
            with watch(rule.__name__):
                rule(present)
        except ConformanceError:
            raise
        except TimeUp as up:
            expected = f"an end of this rule within time_limit = {up.limit:g} seconds"
            raise ConformanceError(present.rule, present.place(), expected, f"still busy in {up.where}") from None
        except Exception as error:
            expected = f"no exception ({(rule.__doc__ or '').partition(chr(10))[0]})"
            raise ConformanceError(present.rule, present.place(), expected, _told(error)) from error
        tell(rule)


def _told(error: Exception) -> str:
    """Returns what an exception says, and where it was raised."""
    calls = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    where = ", called by ".join(f"{call.name} ({Path(call.filename).name}:{call.lineno})" for call in reversed(calls))
    return f"{shown(f'{type(error).__name__}: {error}')} in {where}"
