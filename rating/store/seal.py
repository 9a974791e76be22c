"""Seals: a SHA-256 hash chain over everything recorded.

The seal of a match covers its identity, the text of each turn and its outcome. The seal of a run covers its facts and the
seals of its matches. A digest is the same for every match with the same replies; a seal also covers wall times, failed
attempts and errors. The seal of a run therefore reveals every change to its record.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


def link(previous: str, *parts: str | bytes) -> str:
    """Returns the seal after one more entry: 64 hexadecimal digits.

    Args:
        previous: the previous seal, or an empty string.
        parts: parts of the entry; each is hashed with its length, so another split of the same text has another seal.
    """
    state = hashlib.sha256()
    for part in (previous, *parts):
        data = part.encode() if isinstance(part, str) else part
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()


def of_identity(match_id: str, environment: str, number: int, policies: str, seed: str, options: str) -> str:
    """Returns the seal of a match before its first turn; the arguments are as stored."""
    return link("", match_id, environment, str(number), policies, seed, options)


def of_match(
    turns_seal: str, status: str, tries: int, turns: int, seats: str, digest: str, error: str, transcript: bytes
) -> str:
    """Returns the seal of a match.

    Args:
        turns_seal: seal of its last turn, or of its identity if it has none.
        status: as stored, like the other arguments.
        tries: number of attempts, including void ones.
        turns: number of turns that this seal covers.
        seats: outcomes of its seats.
        digest: digest of the match.
        error: reason if it is void.
        transcript: its packed turns.
    """
    return link(turns_seal, status, str(tries), str(turns), seats, digest, error, transcript)


class Entry(NamedTuple):
    """The part of a match in the seal of its run."""

    environment: str
    seal: str
    journal: str
    """Seal of the last turn not yet covered by the seal of the match, or an empty string."""


def contents(facts: Mapping[str, str], dictionaries: Mapping[str, bytes], matches: Iterable[Entry]) -> dict[str, Any]:
    """Returns the parts of the seal of a run, separate to locate differences.

    Args:
        facts: every fact of the run by name, except the seal itself.
        dictionaries: compression dictionaries by environment.
        matches: entries ordered by environment and number.
    """
    chains: dict[str, tuple[int, str]] = {}
    for match in matches:
        count, chain = chains.get(match.environment, (0, ""))
        chains[match.environment] = count + 1, link(chain, match.seal, match.journal)
    return {
        "facts": {name: link("", value) for name, value in facts.items()},
        "dictionaries": {environment: link("", data) for environment, data in dictionaries.items()},
        "matches": {environment: f"{count} {chain}" for environment, (count, chain) in chains.items()},
    }


def head(parts: Mapping[str, Any]) -> str:
    """Returns the seal of a run from its ``contents``."""
    return link("", json.dumps(parts, sort_keys=True))
