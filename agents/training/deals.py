"""Deals: rows of a training set that define matches."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from agents.records import encodable
from agents.registry import baselines, make_policy, split_spec
from agents.training.match import Match
from agents.training.opponents import draw_opponent
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.adapters import adapted_names
from llmarena_envs.catalogue import NAMES, load_environment, make_environment, module_name
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import OptionError, check_choice, check_int, nearest
from llmarena_envs.sandbox.choice import ISOLATING

MAX_SEED = 2**63 - 1


@dataclass(frozen=True)
class Deal:
    """All inputs of a match except the learners' replies: a row of a training set.

    Attributes:
        environment: name of the environment, e.g. ``tictactoe_v0``.
        seed: seed of the match, 0 to 2**63 - 1; can be a NumPy integer.
        opponents: names of policies by agent id; see ``agents.registry``. Every other seat is a learner. ``pool:PATH`` draws a
            policy by the seed; see ``agents.training.opponents``.
        options: constructor options; by default as in rated matches.

    Raises:
        OptionError: if the seed is invalid; when the match is made, if there is no such environment, option or policy.
    """

    environment: str
    seed: int
    opponents: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.seed, Integral) and not isinstance(self.seed, bool):
            object.__setattr__(self, "seed", int(self.seed))
        check_int("deal: seed", self.seed, 0, MAX_SEED)

    @property
    def group(self) -> str:
        """The group id of the deal, for group-relative advantages of GRPO (Shao et al., arXiv 2402.03300)."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def baseline(self, seat: str) -> str:
        """Returns the key of a seat's advantage baseline, ``ENVIRONMENT:SEAT``.

        Seats of a game can expect different rewards, e.g. the first mover's and the second mover's, so they share no baseline
        (Liu et al., SPIRAL, arXiv 2506.24119).

        Raises:
            OptionError: if the seat is not a learner's.
        """
        check_choice("seat", seat, self.learners)
        return f"{self.environment}:{seat}"

    @property
    def learners(self) -> tuple[str, ...]:
        """Agent ids of the learners, in seat order."""
        agents = make_environment(self.environment, self.options).unwrapped.possible_agents
        return tuple(agent for agent in agents if agent not in self.opponents)

    def drawn_opponents(self) -> dict[str, str]:
        """Returns the names of the opponents, where a pool is replaced by the policy drawn from it.

        Raises:
            OptionError: if a pool is invalid or empty.
        """
        return {agent: draw_opponent(spec, self.seed, agent) for agent, spec in self.opponents.items()}

    def match(self, *, settings: TurnSettings = STANDARD_TURNS, history: str = "updates") -> Match:
        """Returns a new match of this deal with new opponents, closed when the match is over, void, or closed."""
        drawn = self.drawn_opponents()
        opponents = {agent: make_policy(spec, self.environment) for agent, spec in drawn.items()}
        env = make_environment(self.environment, self.options)
        return Match(env, opponents, seed=self.seed, settings=settings, history=history, close_opponents=True)

    def to_json(self) -> str:
        """Returns the deal as one line of JSON, which data set libraries store as text instead of splitting it into columns."""
        row = {
            "environment": self.environment,
            "seed": self.seed,
            "opponents": dict(self.opponents),
            "options": None if self.options is None else dict(self.options),
        }
        return json.dumps(row, sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, *, trusted: bool = False) -> "Deal":
        """Reads a deal in the format of ``to_json``.

        Args:
            text: the JSON.
            trusted: whether it can name any environment and policy. Otherwise only environments of the suite and of its adapters
                and scripted policies are allowed, because other names import code, load weights, or send a key to a server. File
                names and programs without isolation are then forbidden as well.

        Raises:
            OptionError: if it is invalid, or names something forbidden.
        """
        try:
            row = json.loads(text, parse_constant=_refuse)
        except (ValueError, TypeError, RecursionError) as error:
            raise OptionError(f"deal: expected the JSON of a deal, got {text!r:.80} ({error})") from None
        names = ("environment", "seed", "opponents", "options")
        if not isinstance(row, dict) or set(row) != set(names):
            raise OptionError(f"deal: expected an object with {', '.join(names)}, got {row!r:.200}")
        environment, opponents, options = row["environment"], row["opponents"], row["options"]
        if not isinstance(environment, str):
            raise OptionError(f"deal: environment: expected a name, got {environment!r:.80}")
        if not isinstance(opponents, dict) or not all(isinstance(spec, str) for spec in opponents.values()):
            raise OptionError(f"deal: opponents: expected names of policies by agent id, got {opponents!r:.200}")
        if options is not None and not isinstance(options, dict):
            raise OptionError(f"deal: options: expected an object or null, got {options!r:.80}")
        deal = cls(environment, row["seed"], opponents, options)
        if deal.to_json() != encodable(deal.to_json()):
            raise OptionError(f"deal: expected text, got lone surrogates in {row!r:.200}")
        if not trusted:
            name = module_name(environment)
            if name not in NAMES and name not in adapted_names():
                raise OptionError(
                    "deal: environment of an untrusted row: expected one of the suite or of its adapters, got"
                    f" {name!r:.200}{nearest(name, [*NAMES, *adapted_names()])}"
                )
            _check_harmless(environment, options or {})
            for spec in opponents.values():
                name, own = split_spec(spec)
                check_choice("deal: opponent of an untrusted row", name, baselines(environment))
                _check_harmless(environment, own)
        return deal


def deals(
    environment: str,
    seeds: Iterable[int],
    opponent: str | None = "random",
    *,
    staff: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Iterator[Deal]:
    """Yields every seed once per rated seat of the learner, as in rated matches.

    Args:
        environment: name of the environment.
        seeds: of the matches.
        opponent: name of the policy on the other rated seats, or ``pool:PATH``; ``None`` for self-play, which yields every seed
            once.
        staff: names of policies by role, for unrated roles such as judges.
        options: constructor options; by default as in rated matches.

    Raises:
        OptionError: if there is no such environment or option, or an unrated role has no policy.
    """
    rated, others = _seats(environment, options)
    employed = {agent: role_of(agent) for agent in others}
    roles, given = sorted(set(employed.values())), dict(staff or {})
    if sorted(given) != roles:
        raise OptionError(
            f"staff: expected a policy for each of the roles {roles} of {environment}, got {sorted(given)}"
        )
    seats = {agent: given[role] for agent, role in employed.items()}
    for seed in seeds:
        if opponent is None:
            yield Deal(environment, seed, seats, options)
            continue
        for learner in rated:
            against = {agent: opponent for agent in rated if agent != learner}
            yield Deal(environment, seed, against | seats, options)


def rated_seats(environment: str, options: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Returns the agent ids of the rated seats, which a learner can take, in seat order.

    Raises:
        OptionError: if there is no such environment or option.
    """
    return _seats(environment, options)[0]


def _seats(environment: str, options: Mapping[str, Any] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the rated and the other agents, both in seat order."""
    is_rated = load_environment(environment).declaration.is_rated
    agents = make_environment(environment, options).unwrapped.possible_agents
    return tuple(filter(is_rated, agents)), tuple(agent for agent in agents if not is_rated(agent))


def _check_harmless(environment: str, options: Mapping[str, Any]) -> None:
    """Raises an ``OptionError`` if options read a file, or run a model's programs without isolation."""
    declaration = load_environment(environment).declaration
    for name, path in declaration.named_files(options).items():
        raise OptionError(f"deal: {name} of an untrusted row: expected no path of a file, got {path!r:.80}")
    check_choice("deal: sandbox of an untrusted row", options.get("sandbox", "auto"), ["auto", *ISOLATING])


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
