"""Transcripts of matches in Markdown: what every seat read, replied and played, quoted so that no text of a player is markup."""

import re
from collections.abc import Mapping

from agents.records import Attempt, Turn
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.terminal import printable
from rating.records.record import Record

_TICKS = re.compile("`+")


def transcript(record: Record) -> str:
    """Returns a finished match as Markdown.

    Args:
        record: of the match.
    """
    assert record.outcome is not None
    seats = record.outcome.seats
    policies = {seat.agent: seat.policy for seat in seats}
    parts = [
        f"## Match {record.match.number}: {' v '.join(code(seat.policy) for seat in seats)}",
        f"Match {code(record.match.id)}, seed {record.match.seed}.",
    ]
    parts += [part for turn in record.turns for part in _turn(turn, policies.get(turn.agent, ""))]
    results = [
        f"- {code(seat.agent)} ({code(seat.policy)}): reward {seat.reward:+g}"
        + (f", forfeited by a reply that was {code(seat.forfeit)}" if seat.forfeit else "")
        for seat in seats
    ]
    return "\n\n".join([*parts, "### The end", "\n".join(results)])


def rules(texts: Mapping[str, str]) -> str:
    """Returns as Markdown what the agents are told of the rules, each text once."""
    agents: dict[str, list[str]] = {}
    for agent, text in texts.items():
        agents.setdefault(text, []).append(agent)
    return "\n\n".join(
        f"Rules, as sent to {', '.join(map(code, names))}:\n\n{quoted(text)}" for text, names in agents.items()
    )


def _turn(turn: Turn, policy: str) -> list[str]:
    parts = [f"### {turn.index + 1}. {code(turn.agent)} ({code(policy)})", "reads:", quoted(turn.read)]
    for attempt in turn.attempts:
        parts += _attempt(attempt)
    if turn.action is None:
        parts.append("plays nothing: a forfeit")
    else:
        played = code(turn.played or repr(turn.action))
        parts.append(f"plays {played}" + (f", chosen for it ({turn.fallback})" if turn.fallback else ""))
    rewards = [f"{code(agent)} {reward:+g}" for agent, reward in turn.rewards.items() if reward]
    return [*parts, *([f"rewards: {', '.join(rewards)}"] if rewards else [])]


def _attempt(attempt: Attempt) -> list[str]:
    kind = "" if attempt.kind is Failure.OK else f" ({attempt.kind.name.lower()})"
    return [
        f"replies{kind}:",
        quoted(attempt.reply),
        *(["what was wrong:", quoted(attempt.message)] if attempt.message else []),
    ]


def quoted(text: str) -> str:
    """Returns a text as a block of code, whose fence is longer than any in the text."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}text\n{printable(text)}\n{fence}"


def code(text: str) -> str:
    """Returns a text as code within a line."""
    plain = printable(" ".join(text.split()))
    ticks = "`" * (_longest(plain) + 1)
    pad = " " if "`" in plain else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}" if plain else "(empty)"


def _longest(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
