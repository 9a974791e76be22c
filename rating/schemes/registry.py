"""The schemes by name."""

from llmarena_envs.core.options import check_choice
from rating.schemes.base import Scheme
from rating.schemes.cooperation import Cooperation
from rating.schemes.duels import Duels
from rating.schemes.field import Field
from rating.schemes.rewards import MeanReward, SelfPlay
from rating.schemes.roles import Roles
from rating.schemes.tournament import Tournament

SCHEMES: dict[str, type[Scheme]] = {
    scheme.name: scheme for scheme in (Duels, MeanReward, Cooperation, Roles, SelfPlay, Field, Tournament)
}
"""Schemes by name."""


def find_scheme(environment: str, name: str) -> type[Scheme]:
    """Returns the scheme of a name, declared by an environment or set in a run.

    Raises:
        OptionError: if the name is unknown; the message lists the known ones.
    """
    check_choice(f"{environment}: scheme", name, SCHEMES)
    return SCHEMES[name]
