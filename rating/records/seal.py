"""Seals: SHA-256 over everything that is recorded, each one on top of the one before.

The seal of a match begins with what determines the match, goes on with the text of each turn and ends with what the match
came to. The seal of a run covers its facts and the seals of its matches. Unlike digests, which anybody who plays the same
match with the same replies gets again, seals cover wall times, failed tries and errors too: whoever knows the seal of a run
can tell whether one byte of its record has been changed.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


def link(previous: str, *parts: str | bytes) -> str:
    """Returns the seal after one more entry: 64 hexadecimal digits.

    Args:
        previous: the seal before, or an empty string.
        parts: what the entry consists of; no other division of the same characters into parts has the same seal.
    """
    state = hashlib.sha256()
    for part in (previous, *parts):
        data = part.encode() if isinstance(part, str) else part
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()


def of_identity(match_id: str, environment: str, number: int, policies: str, seed: str, options: str) -> str:
    """Returns the seal that the first turn of a match goes on from; the arguments are as they are stored."""
    return link("", match_id, environment, str(number), policies, seed, options)


def of_match(
    turns_seal: str, status: str, tries: int, turns: int, seats: str, digest: str, error: str, transcript: bytes
) -> str:
    """Returns the seal of a match.

    Args:
        turns_seal: seal of its last turn, or of its identity if it has none.
        status: as stored, like the other arguments.
        tries: how often it was played until it ended or was void.
        turns: number of turns that this seal covers.
        seats: what its seats came to.
        digest: of what was played.
        error: why it is void.
        transcript: its turns as they are packed.
    """
    return link(turns_seal, status, str(tries), str(turns), seats, digest, error, transcript)


class Entry(NamedTuple):
    """What a match adds to the seal of its run."""

    environment: str
    seal: str
    journal: str
    """Seal of the last turn that the seal of the match does not cover yet, or an empty string."""


def contents(facts: Mapping[str, str], dictionaries: Mapping[str, bytes], matches: Iterable[Entry]) -> dict[str, Any]:
    """Returns what the seal of a run is made from: small parts, so that a difference can be located.

    Args:
        facts: every fact of the run by name, except the seal itself.
        dictionaries: by environment.
        matches: by environment and number.
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
    """Returns the seal of a run whose ``contents`` are ``parts``."""
    return link("", json.dumps(parts, sort_keys=True))
