"""``check_environment``: all rules of the conformance suite, one after the other."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from llmarena_envs.testing import actions, copies, determinism, matches, observations, pettingzoo_tests, secrecy
from llmarena_envs.testing.trial import ConformanceError, Secrets, Trial, shown

RULES: tuple[Callable[[Trial], None], ...] = (
    *matches.RULES,
    *determinism.RULES,
    *copies.RULES,
    *observations.RULES,
    *actions.RULES,
    *secrecy.RULES,
    *pettingzoo_tests.RULES,
)
"""Every rule: a function that says by its name and docstring what must hold. The first ones are what the others build on."""


def check_environment(
    env_fn: Callable[..., Any],
    *,
    options: Mapping[str, Any] | None = None,
    parallel_env_fn: Callable[..., Any] | None = None,
    seeds: Iterable[int] = range(6),
    secrets: Secrets | None = None,
    chance: bool | None = None,
) -> None:
    """Checks that an environment keeps every rule of the suite; see the functions in ``RULES``.

    Besides PettingZoo's interface the environment offers what ``TextEnv`` defines: ``view``, ``parse``, ``format``,
    ``random_action``, ``default_action``, ``max_turns`` and ``np_random`` on ``env.unwrapped``.

    Args:
        env_fn: makes the environment from keyword options, e.g. ``tictactoe_v0.env``.
        options: options of the environment under test; ``render_mode`` is added where a rule needs it.
        parallel_env_fn: makes the parallel form; without it, PettingZoo's conversion is used where the metadata say
            that the environment is parallelizable.
        seeds: seeds of the random matches, at least two.
        secrets: ``secrets(env, agent)`` gives texts that no other agent may read at the present position, e.g. the names
            of the agent's cards.
        chance: whether chance decides anything in the game under these options; without it the environment's generator
            is looked at.

    Raises:
        ConformanceError: for the first rule that is broken; it says where, what was expected and what came.
        ValueError: if there are fewer than two seeds.
    """
    numbers = tuple(seeds)
    if len(set(numbers)) < 2:
        raise ValueError(f"seeds: expected at least two different ones, got {numbers}")
    for rule in RULES:
        trial = Trial(env_fn, parallel_env_fn, dict(options or {}), numbers, secrets, chance, rule.__name__)
        try:
            rule(trial)
        except ConformanceError:
            raise
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
            raise ConformanceError(
                rule.__name__, trial.place(), f"no exception ({rule.__doc__})", shown(got)
            ) from error
