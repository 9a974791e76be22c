"""Which matches and seats of a run become training data, and what is left out and why."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agents.errors import ReplayMismatch
from agents.turn import TurnSettings
from rating.records.environments import load_environment
from rating.records.match import Match
from rating.records.outcome import FINISHED
from rating.records.record import Record
from rating.records.recorded import Damage
from rating.training_data.columns import Part, deal_columns
from rating.training_data.conversations import listen

PEOPLE = "with a person"
DAMAGED = "not as recorded"
MAX_PROBLEMS = 50
"""Descriptions of damaged matches that are kept; all are counted."""
MAX_PROBLEM = 1000
"""Characters of one of them: it may hold two whole texts that differ."""


@dataclass(frozen=True)
class Selection:
    """What is taken.

    Attributes:
        environment: its matches only; empty for all.
        policies: what these said only; empty for all.
        staff: whether what seats said that are not rated, as judges, is taken too.
        people: whether matches are taken in which a person took part, whose words the others read.
        history: what a conversation holds of the turns before; see ``agents.chat.Chat``.
    """

    environment: str = ""
    policies: Sequence[str] = ()
    staff: bool = False
    people: bool = False
    history: str = "updates"


@dataclass
class Tally:
    """What became of the matches of a run.

    Attributes:
        left_out: number of matches that were not taken by reason.
        problems: what is wrong with damaged ones, the first ``MAX_PROBLEMS``.
        environments: number of matches that were taken by environment.
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
        """Number of matches that were taken."""
        return self.environments.total()

    def take(self, match: Match) -> None:
        """Counts a match that is taken."""
        self.environments[match.environment] += 1
        self.policies.update(match.policies)
        self.languages.add(str(match.options.get("language", "en")))

    def leave_out(self, reason: str) -> None:
        """Counts a match that is not taken."""
        self.left_out[reason] += 1

    def damaged(self, where: str, error: str) -> None:
        """Counts a match that is not as it was recorded."""
        self.leave_out(DAMAGED)
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(f"{where}: {error if len(error) <= MAX_PROBLEM else error[:MAX_PROBLEM] + ' [...]'}")


def finished_records(
    records: Iterable[Record | Damage], selection: Selection, people: Collection[str], tally: Tally
) -> Iterator[Record]:
    """Yields the matches that were played to a result, and counts the others.

    Args:
        records: of the run.
        selection: what is taken.
        people: names of the policies that are persons.
        tally: in which it is counted.
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
    """Yields the parts of the seats that are taken, match by match; each match is played again and compared with its record.

    Args:
        records: of matches that were played to a result.
        settings: treatment of bad replies by environment.
        selection: what is taken.
        tally: in which matches are counted.
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
