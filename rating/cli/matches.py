"""A recorded match on the terminal: its transcript, or the raw observations and replies."""

import sys
from collections.abc import Iterable

from agents.records import Turn
from llmarena_envs.core.narration import Scene
from llmarena_envs.core.terminal import printable
from rating.store.records import Record
from rating.store.replay import Story, tell


def headline(record: Record) -> str:
    """Returns one line with id, environment, number, policies and result of a match."""
    match, outcome = record.match, record.outcome
    rewards = (
        " / ".join(f"{seat.reward:+g}" for seat in outcome.seats) if outcome and not record.error else record.status
    )
    return printable(f"{match.id}  {match.environment:18} {match.number:5}  {' v '.join(match.policies)}: {rewards}")


def print_match(record: Record, *, raw: bool) -> None:
    """Prints the transcript of a match. With ``raw``, or without a transcript, prints all turns."""
    if record.error:
        print(printable(record.error))
    story = Story() if raw else tell(record)
    if story.missing:
        print(printable(f"the story of this match cannot be told: {story.missing}"), file=sys.stderr)
    if story.scenes:
        print(story_text(record, story.scenes))
        return
    for turn in record.turns:
        _print_turn(turn, reasoning=raw)


def story_text(record: Record, scenes: Iterable[Scene]) -> str:
    """Returns the transcript of a match as plain text without terminal control sequences."""
    seats = {seat.agent: seat.policy for seat in record.outcome.seats} if record.outcome else {}
    return "\n".join(line for scene in scenes for line in _scene_lines(scene, seats.get(scene.speaker, "")))


def _scene_lines(scene: Scene, policy: str) -> list[str]:
    who = f"{scene.speaker} ({policy}): " if policy else f"{scene.speaker}: " if scene.speaker else ""
    remarks = "".join(f" [{remark}]" for remark in scene.remarks)
    # Indented: a player's text cannot imitate a heading of the transcript.
    said = [f"  {line}" for line in printable(scene.text).split("\n")] if scene.text else []
    return ["", printable(f"--- {who}{scene.heading}{remarks}"), *said]


def _print_turn(turn: Turn, *, reasoning: bool) -> None:
    print(f"\n--- {turn.index + 1}. {turn.agent} reads:\n{printable(turn.read)}")
    for attempt in turn.attempts:
        if reasoning and attempt.reasoning:
            print(f"--- thinks:\n{printable(attempt.reasoning)}")
        print(
            f"--- replies ({attempt.kind.name.lower()}):\n{printable(attempt.reply)}"
            + (f"\n[{printable(attempt.message)}]" if attempt.message else "")
        )
    played = "nothing: forfeit" if turn.action is None else printable(turn.played) or repr(turn.action)
    print(f"--- plays {played}" + (f" ({turn.fallback})" if turn.fallback else ""))
