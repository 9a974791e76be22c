"""The transcript of a match of writer and editor: task, drafts, edits, scores and reasons."""

from collections.abc import Iterable, Iterator

from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.messages import Message
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.transcript import Scene
from llmarena_envs.writer_editor.game import CHANNELS, CODE_REVIEW, EDIT, JUDGE, WRITE, Scores, WriterEditor
from llmarena_envs.writer_editor.grammar import NAMES
from llmarena_envs.writer_editor.task_types import Assignment


def transcript(game: WriterEditor, prompts: Prompts) -> tuple[Scene, ...]:
    """Returns the transcript of a match; ``prompts`` are the game's, in the language of the transcript."""
    assignment = game.tasks[game.number].assignment
    return (*texts(assignment, game.task, game.pool, game.consensus_token, prompts), *_judging(game, prompts))


def texts(
    assignment: Assignment, task: str, messages: Iterable[Message], consensus_token: str, prompts: Prompts
) -> Iterator[Scene]:
    """Yields the task and the texts, marked if empty, accepted or unchanged.

    Args:
        assignment: the task as shown to players.
        task: ``code_review`` or ``translation``.
        messages: the texts in order.
        consensus_token: the reply by which an editor accepts a text.
        prompts: the game's texts, in the language of the transcript.
    """
    yield Scene(prompts.render(f"story_task_{task}", signature=assignment.signature), assignment.text)
    written: dict[str, str] = {}
    for message in messages:
        stage = WRITE if role_of(message.sender) == CHANNELS[WRITE].sender else EDIT
        marks = []
        if not message.text:
            marks.append(prompts.render("nothing"))
        elif stage == EDIT and message.text == consensus_token:
            marks.append(prompts.render(f"accepted_{task}"))
        elif message.text == written.get(message.sender):
            marks.append(prompts.render("story_unchanged"))
        heading = prompts.render(f"story_{task}_{stage}", round=message.round)
        is_code = task == CODE_REVIEW and stage == WRITE
        yield Scene(heading, message.text, message.sender, marks=tuple(marks), is_code=is_code)
        written[message.sender] = message.text


def _judging(game: WriterEditor, prompts: Prompts) -> Iterator[Scene]:
    names = NAMES[game.task]
    for judge, given in zip(game.judges, game.given, strict=False):
        if not isinstance(given, Scores):
            yield Scene(prompts.render("story_abstention"), speaker=judge)
            continue
        reasons = "\n".join(f"{name}: {each.reason}" for name, each in zip(names, given, strict=True) if each.reason)
        yield Scene(_scores(names, (given.writer.score, given.editor.score), prompts), reasons, judge)
    if game.given or (game.stage == JUDGE and not game.judges):
        result = prompts.render("no_scores") if game.undecided else _scores(names, game.rewards[:2], prompts)
        yield Scene(prompts.render("story_result"), result)


def _scores(names: tuple[str, str], scores: tuple[float, ...], prompts: Prompts) -> str:
    writer, editor = (f"{score:.3g}" for score in scores)
    return prompts.render("story_scores", writer=writer, editor=editor, writer_name=names[0], editor_name=names[1])
