"""The environment class of each of OpenSpiel's games."""

import inspect
from functools import cache
from typing import Any

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.libraries import check_game
from llmarena_envs.openspiel.env import SpielEnv
from llmarena_envs.openspiel.game import import_pyspiel
from llmarena_envs.openspiel.listing import GAMES, LISTED, REFUSED, rules_of


@cache
def load(game: str) -> type[SpielEnv]:
    """Returns the environment class of a game.

    Args:
        game: OpenSpiel's short name, e.g. ``kuhn_poker``.

    Raises:
        DependencyNotInstalled: if OpenSpiel is not installed.
        OptionError: if there is no such game, or it is not supported.
    """
    check_game("openspiel", game, GAMES, REFUSED, "chess")
    listed = LISTED[game]
    kind = import_pyspiel().load_game(listed.load or game).get_type()
    texts = rules_of(game)
    title = kind.long_name if texts is None else texts.title["en"]
    options = {"random_opening": listed.random_opening} if listed.random_opening else {}
    members = {
        "__doc__": f"{title}, a game of OpenSpiel, as an AEC environment.",
        "__module__": __name__,
        "listed": listed,
        "title": title,
        "is_public": kind.information != import_pyspiel().GameType.Information.IMPERFECT_INFORMATION,
        "metadata": {**SpielEnv.metadata, "name": f"openspiel/{game}_v0", "is_parallelizable": listed.simultaneous},
        "declaration": Declaration(scheme=_scheme(kind.utility), rated_options=options, illegal="random_legal"),
        "can_resample": listed.resamples,
        "obs_types": ("text", "vector")
        if kind.provides_information_state_tensor or kind.provides_observation_tensor
        else ("text",),
    }
    made = type(game, (SpielEnv,), members)
    made.__signature__ = _signature(kind.parameter_specification, listed.seed_parameter)  # type: ignore[attr-defined]
    return made


def _scheme(utility: Any) -> str:
    """Returns the rating scheme: the common result of partners, duels in zero-sum games, else the mean reward."""
    kinds = import_pyspiel().GameType.Utility
    if utility == kinds.IDENTICAL:
        return "cooperation"
    return "duels" if utility in (kinds.ZERO_SUM, kinds.CONSTANT_SUM) else "mean_reward"


def _signature(parameters: dict[str, Any], seed_parameter: str) -> inspect.Signature:
    """Returns the options of an environment: its own and the parameters of the game."""
    own = [each for each in inspect.signature(SpielEnv).parameters.values() if each.kind == each.KEYWORD_ONLY]
    given = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in parameters.items()
        if name != seed_parameter and name.isidentifier()  # Kriegspiel has a parameter 50_move_rule
    ]
    return inspect.Signature([*own, *given])


def __getattr__(name: str) -> type[SpielEnv]:
    """Returns the class of a game, which pickle looks up here."""
    if name not in LISTED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(name)
