"""What an environment says of itself, so that everything around it works without knowing it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmarena_envs.core.options import OptionError, check_choice, check_int

HISTORIES = ("single_turn", "full")
FALLBACKS = ("forfeit", "random_legal", "noop")
RESULTS = ("wins", "scores")

FILE_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "idioms": (),
    "questions": ("builtin", "examiner"),
    "scripts": (),
    "tasks": ("builtin",),
    "word_pairs": (),
}
"""Options that may be the path of a file, each with the words that are no path."""


@dataclass(frozen=True)
class HiddenRole:
    """Roles that are dealt in secret, so that no agent's name tells them.

    Attributes:
        statistic: the value of ``infos`` that tells each seat's role at the end.
        values: that value for each role, by the name of the role; the first role is the one that policies are ranked by.
        option: constructor option that gives the first role to a seat by its index, so that every policy has the role
            equally often on every seat.
    """

    statistic: str
    values: Mapping[str, float]
    option: str


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """How judges' verdicts on two players, or ratings of one, stand in ``infos``, so that agreement is found in any record.

    A verdict is one of ``labels``: for side A, for side B, or a tie; another number says that there is none.

    Attributes:
        role: of the judges.
        labels: what the numbers of verdicts mean.
        first: the statistic of a judge that holds its verdict before it has read what others say.
        final: the one that holds its verdict after that; the same as ``first`` where judges do not discuss.
        swapped: the one that holds the final verdict, told of the same sides, of a judge that was shown the players in the
            other order; empty for none.
        side: the statistic of a rated player that holds the number of the verdict for it.
        length: the one that holds how much judges read of it, in words; empty for none.
        score: the statistic of a judge that holds its rating of a single player, -1 for none, where judges do not compare two;
            empty if there is none.
    """

    role: str = "judge"
    labels: Mapping[float, str] = field(default_factory=lambda: {0.0: "A", 1.0: "B", 2.0: "tie"})
    first: str = "verdict_first"
    final: str = "verdict_final"
    swapped: str = ""
    side: str = "side"
    length: str = ""
    score: str = ""


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """The declaration that stands in an environment's class.

    Attributes:
        scheme: the way in which its players are compared: the name of a scheme of the rating harness.
        rated_roles: roles whose seats are compared; every other role is staff (judges, examiners, simulated users). Empty
            for all roles. An agent's role is the part of its id before the number. Where policies are compared role by
            role they are ranked by the first one.
        hidden_role: the roles in which policies are compared if those are dealt in secret, as in undercover.
        results: what a reward says where policies are compared role by role: ``wins`` (above 0 is a victory) or ``scores``.
        verdicts: where judges' verdicts stand in ``infos``, if there are any.
        abilities: what it asks of a player (for the games of LLMArena: arXiv 2402.16499, section 2.4).
        rated_options: constructor options of rated matches, e.g. a random opening without which deterministic players would
            repeat one game.
        files: options that may be the path of a file, each with the words that are no path. What a record or an untrusted row
            names by them is not opened.
        history: what a language model is sent by default: ``single_turn`` where a text holds the whole state, ``full`` where
            players talk or learn from earlier turns, in native roles if the codec has a ``chat``.
        unparsable: what is played in rated matches after the last reply without a move: ``forfeit``, ``random_legal`` or
            ``noop``.
        illegal: the same after a last reply whose move is not allowed.
        llmarena_reasks: how often a reply without a move is asked for again under the ``llmarena`` preset (LLMArena,
            section 3.1).

    Raises:
        OptionError: if a value is not one of those named.
    """

    scheme: str = "duels"
    rated_roles: tuple[str, ...] = ()
    hidden_role: HiddenRole | None = None
    results: str = "wins"
    verdicts: Verdicts | None = None
    abilities: tuple[str, ...] = ()
    rated_options: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: FILE_OPTIONS)
    history: str = "single_turn"
    unparsable: str = "random_legal"
    illegal: str = "forfeit"
    llmarena_reasks: int = 2

    def __post_init__(self) -> None:
        if isinstance(self.rated_roles, str):
            raise OptionError(f"rated_roles: expected a tuple of roles, got the text {self.rated_roles!r}")
        check_choice("results", self.results, RESULTS)
        check_choice("history", self.history, HISTORIES)
        check_choice("unparsable", self.unparsable, FALLBACKS)
        check_choice("illegal", self.illegal, FALLBACKS)
        check_int("llmarena_reasks", self.llmarena_reasks, 0, 100)

    def named_files(self, options: Mapping[str, Any]) -> dict[str, str]:
        """Returns the paths that options name, by option."""
        return {
            name: value
            for name, words in self.files.items()
            if isinstance(value := options.get(name), str) and value not in words
        }

    def is_rated(self, agent: str) -> bool:
        """Says whether the seat of ``agent`` is compared with others; otherwise it is staff."""
        return not self.rated_roles or role_of(agent) in self.rated_roles


def role_of(agent: str) -> str:
    """Returns the role of an agent: ``judge`` for ``judge_3``."""
    role, _, number = agent.rpartition("_")
    return role if role and number.isdecimal() else agent
