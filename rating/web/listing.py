"""The list of the matches of a run: which of them somebody wants to see, a page at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from rating.records.outcome import FINISHED
from rating.web.watched import STATUSES, Entry, Moment

PAGE = 50
"""Matches on a page."""

FORFEIT = "with a forfeit"
BAD_REPLIES = "with bad replies"
PLAYED_FOR = "with turns played for a policy"
RESULTS = (*STATUSES, FORFEIT, BAD_REPLIES, PLAYED_FOR)
"""What a match may have come to."""

_MAX_PAGE = 10**9


@dataclass(frozen=True)
class Choice:
    """Which matches are listed; an empty text is any.

    Attributes:
        environment: its name.
        policy: one that sits in them.
        result: one of ``RESULTS``.
        page: from 1.
    """

    environment: str = ""
    policy: str = ""
    result: str = ""
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "Choice":
        """Reads a choice from an address; what is no number is the first page."""
        number = query.get("page", "")
        page = min(int(number), _MAX_PAGE) if number.isascii() and number.isdecimal() and len(number) < 12 else 1
        return cls(query.get("environment", ""), query.get("policy", ""), query.get("result", ""), max(1, page))

    def query(self, page: int) -> str:
        """Returns the choice as it stands in the address of a page."""
        given = {
            name: value
            for name, value in vars(replace(self, page=page)).items()
            if value and (name, value) != ("page", 1)
        }
        return urlencode(given, errors="replace")

    def takes(self, entry: Entry) -> bool:
        """Says whether a match is chosen."""
        match = entry.glance.match
        return (
            self.environment in ("", match.environment)
            and (not self.policy or self.policy in match.policies)
            and (not self.result or self.result in results_of(entry))
        )


@dataclass(frozen=True)
class Listing:
    """A page of the list.

    Attributes:
        entries: the matches on it.
        count: matches on all pages.
        page: its number, from 1.
        pages: number of pages, 1 at least.
        environments: to choose from.
        policies: to choose from.
    """

    entries: Sequence[Entry]
    count: int
    page: int
    pages: int
    environments: Sequence[str]
    policies: Sequence[str]


def results_of(entry: Entry) -> set[str]:
    """Returns those of ``RESULTS`` that are true of a match."""
    outcome = entry.glance.outcome
    seats = outcome.seats if outcome is not None else ()
    return {
        entry.status,
        *([FORFEIT] if any(seat.forfeit for seat in seats) else []),
        *([BAD_REPLIES] if any(seat.failures for seat in seats) else []),
        *([PLAYED_FOR] if any(seat.fallbacks for seat in seats) else []),
    }


def describe(entry: Entry) -> str:
    """Says what a match came to."""
    outcome = entry.glance.outcome
    if outcome is None or outcome.status != FINISHED:
        return entry.status
    rewards = " / ".join(f"{seat.reward:+g}" for seat in outcome.seats)
    forfeits = [f"{seat.policy} forfeits: {seat.forfeit}" for seat in outcome.seats if seat.forfeit]
    return f"{rewards} ({'; '.join(forfeits)})" if forfeits else rewards


def choose(moment: Moment, choice: Choice) -> Listing:
    """Returns a page of the matches that are chosen; the last page if there are not so many."""
    matches = [entry.glance.match for entry in moment.entries.values()]
    chosen = [entry for entry in moment.entries.values() if choice.takes(entry)]
    pages = max(1, -(-len(chosen) // PAGE))
    page = min(choice.page, pages)
    return Listing(
        chosen[PAGE * (page - 1) : PAGE * page],
        len(chosen),
        page,
        pages,
        [*dict.fromkeys(match.environment for match in matches)],
        sorted({policy for match in matches for policy in match.policies}),
    )
