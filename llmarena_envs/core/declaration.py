"""The declaration of an environment, for generic tools."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
"""Options that accept a file path, each with its values that are not paths."""


class Channel(NamedTuple):
    """A kind of message: its sender and its readers.

    Attributes:
        sender: the role that sends it; ``"host"`` for the environment itself.
        readers: the roles that read it, besides its sender; empty if only the environment reads it.
    """

    sender: str
    readers: tuple[str, ...] = ()


@dataclass(frozen=True)
class HiddenRole:
    """Secret roles, which agent names do not reveal.

    Attributes:
        statistic: the key of ``infos`` that holds each seat's role at the end.
        values: value of the statistic by role name; policies are ranked by the first role.
        option: constructor option that assigns the first role to a seat by its index; it balances the role over policies and
            seats.
    """

    statistic: str
    values: Mapping[str, float]
    option: str


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Keys of judges' verdicts on two players, or ratings of one, in ``infos``; judge agreement is computed from them.

    A verdict is an index into ``labels``: for side A, for side B, or a tie; any other number is a missing verdict.

    Attributes:
        role: role of the judges.
        labels: meaning of the verdict numbers.
        first: a judge's statistic: its verdict before any discussion.
        final: a judge's statistic: its verdict after the discussion; the same as ``first`` without discussion.
        swapped: a judge's statistic: its final verdict on the same sides with the players shown in the other order; empty for
            none.
        side: a rated player's statistic: the number of the verdict for it.
        length: a rated player's statistic: the length of its judged text, in words; empty for none.
        score: a judge's statistic: its rating of a single player, -1 for none, if judges do not compare two players; empty if
            there is none.
    """

    role: str = "judge"
    labels: Mapping[float, str] = field(default_factory=lambda: {0.0: "A", 1.0: "B", 2.0: "tie"})
    first: str = "verdict_first"
    final: str = "verdict_final"
    swapped: str = ""
    side: str = "side"
    length: str = ""
    score: str = ""


class Truth(NamedTuple):
    """Exact quality of judged work, e.g. by an engine, tests or a reference; it validates the judges' scores.

    Attributes:
        name: its name in tables.
        statistic: a rated player's statistic that holds it; a negative value is unknown.
        role: role of the judged players. Two players of this role in one match are compared, by judges and by the truth.
        best: largest value of the statistic; the smallest is 0.
        scores: smallest and largest score of a judge of one player.
        part: a rated player's statistic with the number of the task; empty for none.
    """

    name: str
    statistic: str
    role: str
    best: float = 1.0
    scores: tuple[float, float] = (1.0, 10.0)
    part: str = "task"


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """The declaration of an environment class.

    Attributes:
        scheme: the rating scheme: the name of a scheme of the rating harness.
        rated_roles: roles whose seats are compared; every other role is staff (judges, examiners, simulated users). Empty
            for all roles. An agent's role is the part of its id before the number. If policies are compared by role, they are
            ranked by the first one.
        hidden_role: the secret roles in which policies are compared, as in undercover.
        results: meaning of a reward if policies are compared by role: ``wins`` (above 0 is a victory) or ``scores``.
        channels: the kinds of messages that its roles send, by name; the game's message pool enforces them.
        verdicts: keys of judges' verdicts in ``infos``, if there are any.
        truths: exact measures of judged work in ``infos``; a match has at most one of them.
        abilities: abilities that it tests (for the games of LLMArena: arXiv 2402.16499, section 2.4).
        rated_options: constructor options of rated matches, e.g. a random opening; without one, deterministic players would
            repeat one game.
        files: options that accept a file path, each with its values that are not paths. Paths in a record or an untrusted row
            are not opened.
        history: default history for a language model: ``single_turn`` if a text holds the whole state, ``full`` if
            players talk or learn from earlier turns, in native roles if the codec has a ``chat``.
        unparsable: invalid-reply policy of rated matches after the last reply without a move: ``forfeit``, ``random_legal`` or
            ``noop``.
        illegal: the same after a last reply with an illegal move.
        llmarena_reasks: maximum number of retries of a reply without a move under the ``llmarena`` preset (LLMArena,
            section 3.1).

    Raises:
        OptionError: if a value is not one of those listed.
    """

    scheme: str = "duels"
    rated_roles: tuple[str, ...] = ()
    hidden_role: HiddenRole | None = None
    results: str = "wins"
    channels: Mapping[str, Channel] = field(default_factory=dict)
    verdicts: Verdicts | None = None
    truths: tuple[Truth, ...] = ()
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
        for truth in self.truths:
            if not truth.best > 0 or not truth.scores[0] < truth.scores[1]:
                raise OptionError(f"truths: {truth.name}: expected best above 0 and a range of scores, got {truth}")

    def named_files(self, options: Mapping[str, Any]) -> dict[str, str]:
        """Returns the file paths in options, by option."""
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
