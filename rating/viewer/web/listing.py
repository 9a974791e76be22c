"""Match list of a run: filters and pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from rating.store.records import FINISHED
from rating.viewer.web.watched import STATUSES, Entry, Moment

PAGE = 50
"""Matches per page."""

FORFEIT = "with a forfeit"
BAD_REPLIES = "with bad replies"
PLAYED_FOR = "with turns played for a policy"
RESULTS = (*STATUSES, FORFEIT, BAD_REPLIES, PLAYED_FOR)
"""Values of the result filter."""

_MAX_PAGE = 10**9


@dataclass(frozen=True)
class Choice:
    """Filters of the match list. An empty string matches all.

    Attributes:
        environment: environment name.
        policy: policy that plays in the match.
        result: one of ``RESULTS``.
        page: page number, from 1.
    """

    environment: str = ""
    policy: str = ""
    result: str = ""
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "Choice":
        """Reads the filters from query parameters. An invalid page number means page 1."""
        number = query.get("page", "")
        page = min(int(number), _MAX_PAGE) if number.isascii() and number.isdecimal() and len(number) < 12 else 1
        return cls(query.get("environment", ""), query.get("policy", ""), query.get("result", ""), max(1, page))

    def query(self, page: int) -> str:
        """Returns the filters as a URL query string."""
        given = {
            name: value
            for name, value in vars(replace(self, page=page)).items()
            if value and (name, value) != ("page", 1)
        }
        return urlencode(given, errors="replace")

    def takes(self, entry: Entry) -> bool:
        """Returns whether a match passes the filters."""
        match = entry.glance.match
        return (
            self.environment in ("", match.environment)
            and (not self.policy or self.policy in match.policies)
            and (not self.result or self.result in results_of(entry))
        )


@dataclass(frozen=True)
class Listing:
    """A page of the match list.

    Attributes:
        entries: matches on this page.
        count: matches on all pages.
        page: page number, from 1.
        pages: number of pages, at least 1.
        environments: options of the environment filter.
        policies: options of the policy filter.
    """

    entries: Sequence[Entry]
    count: int
    page: int
    pages: int
    environments: Sequence[str]
    policies: Sequence[str]


def results_of(entry: Entry) -> set[str]:
    """Returns all values of ``RESULTS`` that apply to a match."""
    outcome = entry.glance.outcome
    seats = outcome.seats if outcome is not None else ()
    return {
        entry.status,
        *([FORFEIT] if any(seat.forfeit for seat in seats) else []),
        *([BAD_REPLIES] if any(seat.failures for seat in seats) else []),
        *([PLAYED_FOR] if any(seat.fallbacks for seat in seats) else []),
    }


def describe(entry: Entry) -> str:
    """Returns the status of a match, or its rewards and forfeits."""
    outcome = entry.glance.outcome
    if outcome is None or outcome.status != FINISHED:
        return entry.status
    rewards = " / ".join(f"{seat.reward:+g}" for seat in outcome.seats)
    forfeits = [f"{seat.policy} forfeits: {seat.forfeit}" for seat in outcome.seats if seat.forfeit]
    return f"{rewards} ({'; '.join(forfeits)})" if forfeits else rewards


def choose(moment: Moment, choice: Choice) -> Listing:
    """Returns a page of the filtered matches. A page number beyond the end means the last page."""
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
