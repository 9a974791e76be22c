"""Staff: the policies on unrated seats."""

from collections.abc import Mapping, Sequence

from llmarena_envs.core.declaration import Declaration, role_of
from llmarena_envs.core.options import OptionError, check_choice


def seat_staff(
    environment: str, agents: Sequence[str], declaration: Declaration, staff: Mapping[str, Sequence[str]]
) -> dict[int, str]:
    """Returns the policy on each unrated seat, by seat index.

    The policies of a role are cycled over its seats: seat ``judge_k`` gets policy k modulo their number.

    Args:
        environment: module name, for messages.
        agents: every seat.
        declaration: of the environment.
        staff: policies of each role, from the run file.

    Raises:
        OptionError: if a role has no policy or more policies than seats, or is not a staff role.
    """
    seats = {seat: agent for seat, agent in enumerate(agents) if not declaration.is_rated(agent)}
    if len(seats) == len(agents):
        raise OptionError(
            f"{environment}: expected seats with one of the roles {declaration.rated_roles}, got {agents}"
        )
    roles = sorted({role_of(agent) for agent in seats.values()})
    for role in staff:
        if not roles:
            raise OptionError(f"{environment}: staff: expected none, since every seat is rated here, got {role!r}")
        check_choice(f"{environment}: staff", role, roles)
        count = sum(role_of(agent) == role for agent in seats.values())
        if len(staff[role]) > count:
            raise OptionError(
                f"{environment}: staff: expected as many policies as there are seats of {role} or fewer ({count}),"
                f" got {len(staff[role])}"
            )
    missing = [role for role in roles if not staff.get(role)]
    if missing:
        example = "\n".join(f'{role} = ["random"]' for role in missing)
        raise OptionError(
            f"{environment}: expected policies for the roles that are not rated ({', '.join(missing)}); write below its"
            f" [[environment]], with policies of your choice:\n[environment.staff]\n{example}"
        )
    return {seat: staff[role_of(agent)][_number(agent) % len(staff[role_of(agent)])] for seat, agent in seats.items()}


def _number(agent: str) -> int:
    """Returns the number in an agent's id; 0 for a bare role."""
    number = agent.rpartition("_")[2]
    return int(number) if number.isdecimal() and role_of(agent) != agent else 0
