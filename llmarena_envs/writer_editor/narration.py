"""The transcript of a match of writer and editor: task, drafts, edits, scores and reasons."""

from collections.abc import Iterator

from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.messages import Message
from llmarena_envs.core.narration import Scene
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.writer_editor.game import CHANNELS, EDIT, WRITE, Scores, WriterEditor
from llmarena_envs.writer_editor.grammar import NAMES


def narrate(game: WriterEditor, prompts: Prompts) -> tuple[Scene, ...]:
    """Returns the transcript of a match; ``prompts`` are the game's, in the language of the transcript."""
    scenes = [_task(game, prompts)]
    written: dict[str, str] = {}
    for message in game.pool:
        scenes.append(_writing(game, message, written.get(message.sender), prompts))
        written[message.sender] = message.text
    scenes += _judging(game, prompts)
    return tuple(scenes)


def _task(game: WriterEditor, prompts: Prompts) -> Scene:
    assignment = game.tasks[game.number].assignment
    heading = prompts.render(f"story_task_{game.task}", signature=assignment.signature)
    return Scene(heading, assignment.text)


def _writing(game: WriterEditor, message: Message, before: str | None, prompts: Prompts) -> Scene:
    """Returns a text, marked if empty or unchanged; ``before`` is the sender's last text."""
    stage = WRITE if role_of(message.sender) == CHANNELS[WRITE].sender else EDIT
    marks = []
    if not message.text:
        marks.append(prompts.render("nothing"))
    elif stage == EDIT and message.text == game.consensus_token:
        marks.append(prompts.render(f"accepted_{game.task}"))
    elif message.text == before:
        marks.append(prompts.render("story_unchanged"))
    heading = prompts.render(f"story_{game.task}_{stage}", round=message.round)
    return Scene(heading, message.text, message.sender, marks=tuple(marks))


def _judging(game: WriterEditor, prompts: Prompts) -> Iterator[Scene]:
    names = NAMES[game.task]
    for judge, given in zip(game.judges, game.given, strict=False):
        if not isinstance(given, Scores):
            yield Scene(prompts.render("story_abstention"), speaker=judge)
            continue
        reasons = "\n".join(f"{name}: {each.reason}" for name, each in zip(names, given, strict=True) if each.reason)
        yield Scene(_scores(names, (given.writer.score, given.editor.score), prompts), reasons, judge)
    if game.given:
        result = prompts.render("no_scores") if game.undecided else _scores(names, game.rewards[:2], prompts)
        yield Scene(prompts.render("story_result"), result)


def _scores(names: tuple[str, str], scores: tuple[float, ...], prompts: Prompts) -> str:
    writer, editor = (f"{score:.3g}" for score in scores)
    return prompts.render("story_scores", writer=writer, editor=editor, writer_name=names[0], editor_name=names[1])
