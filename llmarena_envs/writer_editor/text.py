"""Observations of writer and editor and the parsing of replies."""

from collections.abc import Mapping
from typing import Any

from llmarena_envs.core.codec import Codec, ReplyPart
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import quote
from llmarena_envs.core.updates import new_parts
from llmarena_envs.writer_editor.game import (
    CHANNELS,
    CODE_REVIEW,
    EDIT,
    JUDGE,
    MAX_TEXT,
    SCALE,
    TRANSLATION,
    WRITE,
    Abstention,
    Action,
    Given,
    Scores,
    Text,
    WriterEditor,
    WriterEditorView,
)
from llmarena_envs.writer_editor.grammar import NAMES, read_judgement, write_scores
from llmarena_envs.writer_editor.programs import read_program, write_program
from llmarena_envs.writer_editor.reading import read_polished, read_review, read_translation

RATED = ("writer", "editor")
"""The rated roles, in the order of their names in a judgement."""

ABSTENTION = "abstain"
"""A judge's abstention."""


class WriterEditorCodec(Codec[Action, WriterEditorView]):
    """Texts and grammar of writer and editor.

    Args:
        language: language of the texts.
        task: ``"code_review"`` or ``"translation"``.
        max_rounds: maximum number of rounds.
        consensus_token: the editor's acceptance.
    """

    def __init__(self, language: str, task: str, *, max_rounds: int, consensus_token: str) -> None:
        self._prompts = Prompts("llmarena_envs.writer_editor", language)
        self.language = language
        self._ends = ending_texts(language)
        self._task = task
        self._max_rounds = max_rounds
        self._token = consensus_token
        self._names = dict(zip(("writer_name", "editor_name"), NAMES[task], strict=True))

    def rules(self, agent: str) -> str:
        """Returns the rules for the agent's role."""
        role = role_of(agent)
        fields: dict[str, object] = {"max_rounds": self._max_rounds, "limit": MAX_TEXT, "token": self._token}
        if self._task == TRANSLATION:
            fields["more"] = self._prompts.render(f"more_{role}", **fields) if self._max_rounds > 1 else ""
        return self._prompts.render(f"rules_{self._task}_{role}", **fields)

    def observation(self, view: WriterEditorView) -> str:
        """Returns the task, all texts visible to the reader, and the instruction."""
        return "\n\n".join([*self._history(view), self._instruction(view)])

    def update(self, view: WriterEditorView, since: WriterEditorView) -> str:
        """Returns new texts visible to the reader, and the instruction."""
        return "\n\n".join([*new_parts(self._history(view), self._history(since)), self._instruction(view)])

    def ending(self, view: WriterEditorView, ending: Ending) -> str:
        """Returns the task, all texts, and the reader's reward."""
        cause = self._ends.forfeit(view.agent, ending.offenders) if ending.offenders else self._ends.played_out()
        result = self._prompts.render("no_scores") if view.undecided else self._ends.received(ending.reward)
        return "\n".join(["\n\n".join(self._history(view)), self._ends.over(cause, result)])

    def _history(self, view: WriterEditorView) -> list[str]:
        render = self._prompts.render
        assignment = view.assignment
        if view.task == CODE_REVIEW:
            parts = [render("question", text=quote(assignment.text), signature=assignment.signature)]
        else:
            parts = [render("source", text=quote(assignment.text), **self._languages(view))]
        for message in view.messages:
            stage = WRITE if role_of(message.sender) == CHANNELS[WRITE].sender else EDIT
            who = "own" if message.sender == view.agent else "other"
            heading = render(f"{view.task}_{stage}_{who}", round=message.round)
            # Quoted: a player's text cannot imitate a line of the host.
            parts.append(f"{heading}\n{quote(message.text) if message.text else render('nothing')}")
        if view.consensus:
            parts.append(render(f"accepted_{view.task}"))
        return parts

    def _languages(self, view: WriterEditorView) -> dict[str, object]:
        """Returns the names of the source and the target language; unknown codes are shown as given."""
        if view.task == CODE_REVIEW:
            return {}
        codes = {"source": view.assignment.src_lang, "target": view.assignment.tgt_lang}
        return {
            name: self._prompts.render(f"language_{code}") if f"language_{code}" in self._prompts else code
            for name, code in codes.items()
        }

    def _instruction(self, view: WriterEditorView) -> str:
        if not view.to_move:
            return self._prompts.render("wait")
        if view.stage == JUDGE:
            return self._prompts.render(f"{view.task}_judge")
        turn = "first" if view.round == 1 else "later"
        if view.task == TRANSLATION and view.stage == EDIT and self._max_rounds == 1:
            turn = "only"
        name = f"{view.task}_{CHANNELS[view.stage].sender}_{turn}"
        return self._prompts.render(name, token=self._token, **self._languages(view))

    def read(self, reply: str, view: WriterEditorView) -> Action:
        """Reads a program, a review, a translation or a judgement, by the reader's role."""
        role = role_of(view.agent)
        if role == "judge":
            return read_judgement(reply, view.task, ABSTENTION)
        if reply.strip() == f"{view.agent}:":
            return Text("")
        if view.task == CODE_REVIEW:
            program = role == "writer"
            return Text(
                read_program(reply, view.assignment.entry_point) if program else read_review(reply, self._token)
            )
        return Text(read_translation(reply) if role == "writer" else read_polished(reply, self._token))

    def parts(self, view: WriterEditorView) -> tuple[ReplyPart, ...]:
        """Returns a program for its fences, or a judge's reasons and scores; reviews and translations are one text."""
        role, label = role_of(view.agent), self._prompts.render
        if role == "writer" and view.task == CODE_REVIEW:
            return (ReplyPart("program", label("part_program"), lines=12),)
        if role != "judge":
            return ()
        scores = tuple(map(str, range(int(SCALE.low), int(SCALE.high) + 1)))
        return tuple(
            part
            for role, name in zip(RATED, self._names.values(), strict=True)
            for part in (
                ReplyPart(f"{role}_evaluation", label("part_evaluation", role=name)),
                ReplyPart(f"{role}_score", label("part_score", role=name), scores),
            )
        )

    def join_parts(self, texts: Mapping[str, str], view: WriterEditorView) -> str:
        """Writes a program in a fenced block, or reasons and scores as JSON."""
        if role_of(view.agent) == "writer":
            program = texts.get("program", "").strip("\n")
            return write_program(program) if program.strip() else ""
        given = [(texts.get(f"{role}_score", ""), texts.get(f"{role}_evaluation", "")) for role in RATED]
        if not all(score.isdecimal() for score, _ in given):
            return ""
        return write_scores(Scores(*(Given(float(score), reason) for score, reason in given)), view.task)

    def example(self, view: WriterEditorView) -> str:
        """Returns the reader's answer format."""
        role = role_of(view.agent)
        if role == "judge":
            return self._prompts.render("form_scores", **self._names)
        if view.task == CODE_REVIEW:
            return self._prompts.render("form_program" if role == "writer" else "form_review")
        return self._prompts.render("form_translation")

    def format(self, action: Action, view: WriterEditorView) -> str:
        """Writes a program in a fenced block, another text as it is, an empty one as ``writer_0:``, scores as JSON."""
        if isinstance(action, Abstention):
            return ABSTENTION
        if isinstance(action, Scores):
            return write_scores(action, view.task)
        if not action.text:
            return f"{view.agent}:"
        is_program = view.task == CODE_REVIEW and role_of(view.agent) == "writer"
        return write_program(action.text) if is_program else action.text

    def picture(self, game: Any) -> str:
        """Writes the task, all texts, and the scores."""
        assert isinstance(game, WriterEditor)
        render = self._prompts.render
        parts = [quote(game.tasks[game.number].assignment.text)]
        for message in game.pool:
            heading = render("picture_text", round=message.round, agent=message.sender)
            parts.append(f"{heading}\n{quote(message.text) if message.text else render('nothing')}")
        if game.consensus:
            parts.append(render("picture_accepted"))
        for judge, given in zip(game.judges, game.given, strict=False):
            if isinstance(given, Scores):
                scores = {"writer": f"{given.writer.score:g}", "editor": f"{given.editor.score:g}"}
                parts.append(render("picture_scores", judge=judge, **scores, **self._names))
            else:
                parts.append(render("picture_abstention", judge=judge))
        return "\n\n".join(parts)
