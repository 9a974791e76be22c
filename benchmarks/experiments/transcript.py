"""Transcripts of matches in Markdown: texts read, replies and actions of every seat, with players' texts quoted."""

from collections.abc import Iterable, Mapping

from agents.records import Attempt, Turn
from benchmarks.experiments.markdown import block, inline
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.transcript import Scene
from rating.store.records import Record


def transcript(record: Record) -> str:
    """Returns a finished match as Markdown.

    Args:
        record: of the match.
    """
    assert record.outcome is not None
    seats = record.outcome.seats
    policies = {seat.agent: seat.policy for seat in seats}
    parts = _title(record)
    parts += [part for turn in record.turns for part in _turn(turn, policies.get(turn.agent, ""))]
    results = [
        f"- {inline(seat.agent)} ({inline(seat.policy)}): reward {seat.reward:+g}"
        + (f", forfeited by a reply that was {inline(seat.forfeit)}" if seat.forfeit else "")
        for seat in seats
    ]
    return "\n\n".join([*parts, "### The end", "\n".join(results)])


def story(record: Record, scenes: Iterable[Scene]) -> str:
    """Returns the transcript of a match as Markdown.

    Args:
        record: of the match.
        scenes: the scenes from its environment.
    """
    policies = {seat.agent: seat.policy for seat in record.outcome.seats} if record.outcome else {}
    return "\n\n".join([*_title(record), *(part for scene in scenes for part in _scene(scene, policies))])


def _title(record: Record) -> list[str]:
    players = [seat.policy for seat in record.outcome.seats if seat.rated] if record.outcome else record.match.policies
    return [
        f"## Match {record.match.number}: {' v '.join(map(inline, players))}",
        f"Match {inline(record.match.id)}, seed {record.match.seed}.",
    ]


def _scene(scene: Scene, policies: Mapping[str, str]) -> list[str]:
    """Returns a scene; its heading and remarks come from the environment."""
    who = f"{inline(scene.speaker)} ({inline(policies.get(scene.speaker, ''))}): " if scene.speaker else ""
    remarks = "".join(f" *{remark}*;" for remark in scene.remarks).rstrip(";")
    level = "####" if scene.speaker or scene.text else "###"
    said = [block(scene.text)] if scene.text else []
    return [f"{level} {who}{scene.heading}", *([remarks.strip()] if remarks else []), *said]


def rules(texts: Mapping[str, str]) -> str:
    """Returns the rules texts of the agents as Markdown, each text once."""
    agents: dict[str, list[str]] = {}
    for agent, text in texts.items():
        agents.setdefault(text, []).append(agent)
    return "\n\n".join(
        f"Rules, as sent to {', '.join(map(inline, names))}:\n\n{block(text)}" for text, names in agents.items()
    )


def _turn(turn: Turn, policy: str) -> list[str]:
    parts = [f"### {turn.index + 1}. {inline(turn.agent)} ({inline(policy)})", "reads:", block(turn.read)]
    for attempt in turn.attempts:
        parts += _attempt(attempt)
    if turn.action is None:
        parts.append("plays nothing: a forfeit")
    else:
        played = turn.played or repr(turn.action)
        chosen = f", chosen for it ({turn.fallback})" if turn.fallback else ""
        parts += [f"plays{chosen}:", block(played)] if "\n" in played else [f"plays {inline(played)}{chosen}"]
    rewards = [f"{inline(agent)} {reward:+g}" for agent, reward in turn.rewards.items() if reward]
    return [*parts, *([f"rewards: {', '.join(rewards)}"] if rewards else [])]


def _attempt(attempt: Attempt) -> list[str]:
    kind = "" if attempt.kind is Failure.OK else f" ({attempt.kind.name.lower()})"
    return [
        f"replies{kind}:",
        block(attempt.reply),
        *(["what was wrong:", block(attempt.message)] if attempt.message else []),
    ]
