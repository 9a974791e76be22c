"""All rules of the conformance suite, in order."""

import dataclasses
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

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
    messages,
    observations,
    pettingzoo_tests,
    rewards,
    secrecy,
    unknown,
    updates,
)
from llmarena_envs.testing.time_limit import FRAMES, TimeUp
from llmarena_envs.testing.trial import ConformanceError, Trial, shown

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
    observations.endings_are_stated,
    *hidden.RULES,
    *unknown.RULES,
    *secrecy.RULES,
    *messages.RULES,
    *updates.RULES,
    *drawings.RULES,
    *pettingzoo_tests.RULES,
    construction.every_obs_type_can_be_observed,
)
"""All rules: functions whose names and docstrings state the requirement. Later rules depend on the first ones."""

NEED_RESAMPLE = (
    hidden.hidden_information_can_be_redrawn.__name__,
    hidden.hidden_information_leaves_no_trace.__name__,
    unknown.what_others_know_is_redrawn.__name__,
    drawings.drawings_of_a_seat_show_its_view_alone.__name__,
)
"""Names of the rules that redraw hidden information, to skip for a game that does not define ``resample``."""

OnKept = Callable[[Callable[[Trial], None]], None]
"""Callback for each passed rule."""

Watch = Callable[[str], AbstractContextManager[None]]
"""Limits the time of a rule, by its name."""


def check_rules(trial: Trial, watch: Watch, tell: OnKept = lambda rule: None) -> None:
    """Checks every rule but those that the trial skips, each under ``watch``, and reports each passed rule.

    Raises:
        ConformanceError: for the first failed rule.
    """
    for rule in RULES:
        if rule.__name__ in trial.skip:
            continue
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
    """Returns the message of an exception, and the innermost calls."""
    calls = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    where = ", called by ".join(f"{call.name} ({Path(call.filename).name}:{call.lineno})" for call in reversed(calls))
    return f"{shown(f'{type(error).__name__}: {error}')} in {where}"
