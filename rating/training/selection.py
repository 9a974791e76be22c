"""Selection of matches and seats for training data, with counts of those left out."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agents.errors import ReplayMismatch
from agents.turn import TurnSettings
from rating.store.environments import load_environment
from rating.store.match import Match
from rating.store.outcome import FINISHED
from rating.store.reader import Damage
from rating.store.record import Record
from rating.training.columns import Part, deal_columns
from rating.training.conversations import listen

PEOPLE = "with a person"
DAMAGED = "not as recorded"
MAX_PROBLEMS = 50
"""Most descriptions of damaged matches to keep; all are counted."""
MAX_PROBLEM = 1000
"""Most characters of a description: it can hold two whole texts."""


@dataclass(frozen=True)
class Selection:
    """Options of the selection.

    Attributes:
        environment: only this environment; empty for all.
        policies: only these policies; empty for all.
        staff: whether to include unrated seats, such as judges.
        people: whether to include matches with a human player, whose messages the others read.
        history: earlier turns in a conversation; see ``agents.chat.Chat``.
    """

    environment: str = ""
    policies: Sequence[str] = ()
    staff: bool = False
    people: bool = False
    history: str = "updates"


@dataclass
class Tally:
    """Counts of the matches of a run.

    Attributes:
        left_out: number of matches left out, by reason.
        problems: descriptions of the first ``MAX_PROBLEMS`` damaged matches.
        environments: number of used matches by environment.
        policies: number of seats in them by policy.
        languages: of their texts.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    environments: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    languages: set[str] = field(default_factory=set)

    @property
    def matches(self) -> int:
        """Number of used matches."""
        return self.environments.total()

    def take(self, match: Match) -> None:
        """Counts a used match."""
        self.environments[match.environment] += 1
        self.policies.update(match.policies)
        self.languages.add(str(match.options.get("language", "en")))

    def leave_out(self, reason: str) -> None:
        """Counts a match that is left out."""
        self.left_out[reason] += 1

    def damaged(self, where: str, error: str) -> None:
        """Counts a match that differs from its record or cannot be read."""
        self.leave_out(DAMAGED)
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(f"{where}: {error if len(error) <= MAX_PROBLEM else error[:MAX_PROBLEM] + ' [...]'}")


def finished_records(
    records: Iterable[Record | Damage], selection: Selection, people: Collection[str], tally: Tally
) -> Iterator[Record]:
    """Yields the matches that were played to a result, and counts the others.

    Args:
        records: of the run.
        selection: the options.
        people: names of the human policies.
        tally: updated with the matches left out.
    """
    for record in records:
        if isinstance(record, Damage):
            tally.damaged(record.where, record.error)
        elif selection.environment not in ("", record.match.environment):
            continue
        elif record.status != FINISHED:
            tally.leave_out(record.status)
        elif not selection.people and any(policy in people for policy in record.match.policies):
            tally.leave_out(PEOPLE)
        else:
            yield record


def parts(
    records: Iterable[Record], settings: Mapping[str, TurnSettings], selection: Selection, tally: Tally
) -> Iterator[Part]:
    """Yields the selected seats' parts, match by match; each match is replayed and compared with its record.

    Args:
        records: of matches that were played to a result.
        settings: invalid-reply policy by environment.
        selection: the options.
        tally: updated with all matches.
    """
    for record in records:
        match = record.match
        try:
            identity, deal = match.id, deal_columns(match)
            if match.environment not in settings:
                raise ReplayMismatch("the run does not say what was done about bad replies")
            seats = listen(record, settings[match.environment], selection.history)
        except (ReplayMismatch, ValueError) as error:
            tally.damaged(f"match {match.number} of {match.environment}", str(error))
            continue
        tally.take(match)
        assert record.outcome is not None
        declaration = load_environment(match.environment).declaration
        rewards = [result.reward for result in record.outcome.seats]
        rated = [declaration.is_rated(seat.agent) for seat in seats]
        compared = [reward for reward, is_rated in zip(rewards, rated, strict=True) if is_rated]
        for seat, policy, reward, is_rated in zip(seats, match.policies, rewards, rated, strict=True):
            if (is_rated or selection.staff) and (not selection.policies or policy in selection.policies):
                won = is_rated and reward == max(compared) > min(compared)
                yield Part(identity, match.policies, deal, seat, policy, reward, won)
