"""Observations of examiners, debaters and judges and the parsing of replies."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from llmarena_envs.core.codec import ChatMessage, Codec, ReplyPart
from llmarena_envs.core.committee import Abstention, Given, Judgement
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError, Reason
from llmarena_envs.core.judging import ABSTENTION, is_abstention, own_words
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import quote
from llmarena_envs.core.text_length import TextCounter
from llmarena_envs.core.updates import new_parts
from llmarena_envs.debate.actions import Action, DebateView, Part, Passage, Query, Reference, Speech
from llmarena_envs.debate.delivery import allowed_parts, room_for
from llmarena_envs.debate.game import DEBATE, DISCUSS, EXAMINE, JUDGE, REFERENCE, REFERENCE_WORDS, Debate
from llmarena_envs.debate.judgement import JUDGEMENT_WORDS, join_judgement, read_judgement, write_judgement
from llmarena_envs.debate.protocol import ACTIONS, CRITICIZE, RESPOND, SIDES, THINK, budgets
from llmarena_envs.debate.questions import examiner_prompt, read_questions
from llmarena_envs.debate.questions.examiner import examiner_prompts, screen
from llmarena_envs.debate.speech import join_speech, read_speech, write_speech

EXPLANATION_WORDS = 200
"""Maximum number of words of a judge's explanation, as requested."""


class DebateCodec(Codec[Action, DebateView]):
    """Texts and grammar of a debate.

    Args:
        language: language of the texts.
        counter: measures and cuts texts.
        initial_only: whether only the two first answers are judged.
        judges_read_thoughts: whether debaters' thoughts are shown to judges.
    """

    def __init__(self, language: str, counter: TextCounter, *, initial_only: bool, judges_read_thoughts: bool) -> None:
        self._prompts = Prompts("llmarena_envs.debate", language)
        self.language = language
        self._counter = counter
        self._ends = ending_texts(language)
        self._judged = "answers" if initial_only else "debate"
        self._readers = "judges_read_thoughts" if judges_read_thoughts else "judges_read_no_thoughts"

    def rules(self, agent: str) -> str:
        """Returns the rules for the agent's role."""
        role = role_of(agent)
        fields = {
            "judge": {"contest": self._prompts.render(f"contest_{self._judged}")},
            "debater": {"judges": self._prompts.render(self._readers)},
        }
        return self._prompts.render(f"rules_{role}", **fields.get(role, {}))

    def observation(self, view: DebateView) -> str:
        """Returns the question, passages visible to the reader, and the instruction."""
        if role_of(view.agent) == "examiner":
            return examiner_prompt(view.domain, 1, self.language) if view.to_move else self._prompts.render("wait")
        return "\n\n".join([*self._history(view), *self._discussion(view), self._instruction(view)])

    def update(self, view: DebateView, since: DebateView) -> str:
        """Returns new passages and the instruction; the full observation for a fresh turn."""
        if view.fresh or role_of(view.agent) == "examiner":
            return self.observation(view)
        said = new_parts(self._history(view), self._history(since))
        if view.to_move and view.stage == DEBATE:
            instruction = self._guide(view, "guide_reminder")
        elif view.to_move and view.stage == since.stage == DISCUSS:
            instruction = self._prompts.render("discuss_reminder", **self._lengths())
        else:
            instruction = self._instruction(view)
        return "\n\n".join([*said, *self._discussion(view), instruction])

    def chat(self, view: DebateView) -> tuple[ChatMessage, ...] | None:
        """Returns own turns, or the own last judgement, as ``assistant``; everything else as in the observation."""
        if not view.to_move:
            return None
        own = view.judgements[0][1] if view.stage == DISCUSS else None
        if view.stage == DEBATE:
            said = self._debate_chat(view)
        elif isinstance(own, Judgement):
            instruction = self._instruction(view._replace(stage=JUDGE))
            said = [
                ChatMessage("user", "\n\n".join([*self._history(view), instruction])),
                ChatMessage("assistant", self.format(own, view)),
                ChatMessage("user", "\n\n".join([*self._discussion(view)[1:], self._instruction(view)])),
            ]
        else:
            said = [ChatMessage("user", self.observation(view))]
        return ChatMessage("system", self.rules(view.agent)), *said

    def _debate_chat(self, view: DebateView) -> list[ChatMessage]:
        """Returns own turns, each after the new passages before it and its guide; then the new passages and the guide."""
        parts = self._history(view)  # the question, and a part for each passage
        said: list[ChatMessage] = []
        sent, answered = 0, False
        for start, own in _own_turns(view):
            given = {passage.action for passage in own}
            actions = tuple(action for action in ACTIONS if action in given and action != THINK)
            is_first_answer = RESPOND in given and not answered  # answers only the question
            then = view._replace(
                passages=() if is_first_answer else view.passages[:start],
                actions=actions,
                words=view.words // budgets(view.actions) * budgets(actions),
            )
            speech = Speech(tuple(Part(passage.action, passage.text) for passage in own))
            said += [
                ChatMessage("user", "\n\n".join([*parts[sent : start + 1], self._guide(then, "guide")])),
                ChatMessage("assistant", write_speech(speech)),
            ]
            sent, answered = start + 1 + len(own), answered or is_first_answer
        return [*said, ChatMessage("user", "\n\n".join([*parts[sent:], self._guide(view, "guide")]))]

    def ending(self, view: DebateView, ending: Ending) -> str:
        """Returns the question, the passages, and for a debater the result."""
        cause = self._ends.forfeit(view.agent, ending.offenders) if ending.offenders else self._ends.played_out()
        result = self._ends.contest(ending.reward) if view.side else self._ends.received(ending.reward)
        if view.undecided:
            result = self._prompts.render("no_verdict_reached")
        return "\n".join(["\n\n".join(self._history(view)), self._ends.over(cause, result)])

    def _history(self, view: DebateView) -> list[str]:
        render = self._prompts.render
        parts = [render("question", text=quote(view.question)) if view.question else render("no_question")]
        for passage in view.passages:
            name = ("own" if passage.side == view.side else "opponent") if view.side else "judged"
            heading = render(f"{name}_{passage.action}", round=passage.round, side=passage.side)
            parts.append(f"{heading}\n{self._quoted(passage)}")
        if view.reference:
            parts.append(render("reference", text=quote(view.reference)))
        return parts

    def _quoted(self, passage: Passage) -> str:
        # Texts of agents cannot imitate a line of the host, or a verdict.
        said = quote(passage.text) if passage.text else self._prompts.render("nothing")
        return f"{said}\n{self._prompts.render('cut')}" if passage.truncated else said

    def _discussion(self, view: DebateView) -> list[str]:
        parts = []
        for number, (_, given) in enumerate(view.judgements):
            heading = self._prompts.render("other_judgement" if number else "own_judgement", number=number)
            said = quote(given.text) if isinstance(given, Judgement) else self._prompts.render("no_judgement")
            parts.append(f"{heading}\n{said}")
        return parts

    def _instruction(self, view: DebateView) -> str:
        render = self._prompts.render
        if not view.to_move:
            return render("wait")
        if view.stage == DEBATE:
            return self._guide(view, "guide")
        if view.stage == REFERENCE:
            return render("write_reference", limit=self._told(REFERENCE_WORDS))
        if view.stage == DISCUSS:
            return render("discuss", **self._lengths())
        return render("judge", what=render(f"judged_{self._judged}"), **self._lengths())

    def _lengths(self) -> dict[str, int]:
        """Returns the word limits for judges."""
        return {"explained": self._told(EXPLANATION_WORDS), "limit": self._told(JUDGEMENT_WORDS)}

    def _guide(self, view: DebateView, name: str) -> str:
        render = self._prompts.render
        seen = {passage.action for passage in view.passages if passage.side != view.side}
        challenge = render("challenge_criticize_raise" if CRITICIZE in seen else "challenge_raise")
        task = render(f"task_{'_'.join(view.actions)}" if seen else "task_first", challenge=challenge)
        form = "\n".join(render(f"form_{action}") for action in view.actions)
        return render(name, task=task, form=form, limit=self._told(view.words))

    def _told(self, words: int) -> int:
        return self._counter.told(self._counter.budget(words))

    def read(self, reply: str, view: DebateView) -> Action:
        """Reads a question, a turn of the debate, a reference answer or a judgement, by the stage.

        Raises:
            ParseError: if there is none, or a turn is incomplete.
        """
        if view.stage == EXAMINE:
            return self._read_query(reply, view)
        if view.stage == DEBATE:
            return self._read_turn(reply, view)
        if view.stage == REFERENCE:
            text = own_words(reply)
            if not text:
                raise ParseError(Failure.EMPTY, "empty")
            return Reference("" if is_abstention(text) else text)
        return read_judgement(reply, self._counter)

    def _read_query(self, reply: str, view: DebateView) -> Query:
        """Returns the first usable question of a reply."""
        drafts = screen(read_questions(reply), view.domain, self.language)
        if not drafts:
            raise ParseError(Failure.UNPARSABLE, "nothing_stated")
        for text in [draft.text for draft in drafts if draft.refused is None]:
            if read_questions(_numbered(text)) == [text]:
                return Query(text)
        refused = next((draft.refused for draft in drafts if draft.refused), Reason("nothing_stated"))
        raise ParseError(Failure.ILLEGAL, refused.name, **refused.fields)

    def _read_turn(self, reply: str, view: DebateView) -> Speech:
        speech = read_speech(reply, view.actions)
        given = {part.action for part in speech.parts}
        missing = [action for action in view.actions if action not in given]
        if missing:
            allowed = allowed_parts(speech, view.actions)
            raise ParseError(
                Failure.UNPARSABLE,
                "missing_actions",
                kept=self._kept(allowed, view),
                missing=", ".join(f"<{action}>" for action in missing),
                left=self._counter.told(room_for(missing, allowed, view.words, self._counter)),
            )
        return speech

    def _kept(self, parts: list[Part], view: DebateView) -> str:
        """Writes the parts of an incomplete turn, with thoughts cut to the budget; drops thoughts without other parts."""
        if all(part.action == THINK for part in parts):
            return ""
        budget = self._counter.budget(view.words)
        shown = [Part(action, self._counter.cut(text, budget) if action == THINK else text) for action, text in parts]
        return write_speech(Speech(tuple(shown)))

    def read_as_given(self, reply: str, view: DebateView) -> Action | None:
        """Returns the action of an incomplete reply without a retry: parts of a turn, or an abstention.

        An examiner's question has no substitute.
        """
        if view.stage == DEBATE:
            return read_speech(reply, view.actions)
        if view.stage == REFERENCE:
            return Reference("")
        return None if view.stage == EXAMINE else Abstention()

    def explain(self, reason: Reason, view: DebateView) -> str:
        """Returns the text of a reason; the examiner's texts explain refused questions."""
        name, texts = f"reason_{reason.name}", examiner_prompts(self.language)
        return texts.render(name, **reason.fields) if name in texts else super().explain(reason, view)

    def parts(self, view: DebateView) -> tuple[ReplyPart, ...]:
        """Returns thoughts and the required actions, a request, or an explanation and a verdict, by the stage."""
        label = self._prompts.render
        if view.stage == DEBATE:
            thoughts = ReplyPart(THINK, label(f"part_{THINK}"), lines=2)
            return thoughts, *(ReplyPart(action, label(f"part_{action}")) for action in view.actions)
        if view.stage == EXAMINE:
            return (ReplyPart("request", label("part_request")),)
        if view.stage == REFERENCE:
            return ()
        verdict = ReplyPart("verdict", label("part_verdict"), (*SIDES, "Tie"))
        return ReplyPart("explanation", label("part_explanation")), verdict

    def join_parts(self, texts: Mapping[str, str], view: DebateView) -> str:
        """Writes a turn in tags, a numbered request, or an explanation with a verdict."""
        if view.stage == DEBATE:
            return join_speech(texts, view.actions)
        if view.stage == EXAMINE:
            request = " ".join(texts.get("request", "").split())
            return _numbered(request) if request else ""
        return join_judgement(texts.get("explanation", ""), texts.get("verdict", ""))

    def example(self, view: DebateView) -> str:
        """Returns the reader's answer format."""
        if view.stage == DEBATE:
            return " ".join(self._prompts.render(f"form_{action}") for action in view.actions)
        return self._prompts.render("example_query" if view.stage == EXAMINE else "example_verdict")

    def format(self, action: Action, view: DebateView) -> str:
        """Writes a question with its number, a turn in tags, other texts as they are, ``abstain`` for none."""
        if isinstance(action, Query):
            return _numbered(action.text)
        if isinstance(action, Speech):
            return write_speech(action, view.actions)
        if isinstance(action, Reference):
            return action.text or ABSTENTION
        return write_judgement(action)

    def picture(self, game: Any) -> str:
        """Writes the question, all passages, and all judgements."""
        assert isinstance(game, Debate)
        render = self._prompts.render
        question = quote(game.question.text) if game.question.text else render("no_question")
        parts = [f"{render('picture_question', domain=game.question.domain or '-')}\n{question}"]
        for passage in game.passages:
            readers = ", ".join(passage.hidden_from)
            heading = render(
                "picture_passage",
                round=passage.round,
                side=passage.side,
                agent=game.sides["AB".index(passage.side)],
                action=passage.action,
                hidden=render("picture_hidden", readers=readers) if readers else "",
            )
            parts.append(f"{heading}\n{self._quoted(passage)}")
        if game.reference:
            parts.append(f"{render('picture_reference')}\n{quote(game.reference)}")
        for number, session in enumerate(game.committee.sessions):
            order = number // game.committee.times
            for judge, given in zip(game.judges, session, strict=True):
                parts.append(self._pictured(given, judge=judge, session=number + 1, order=order))
        if game.committee.winner:
            parts.append(render("picture_winner", verdict=game.committee.winner))
        return "\n\n".join(parts)

    def _pictured(self, given: Given, *, judge: str, session: int, order: int) -> str:
        """Writes a judgement; in the second order its words use the exchanged side names."""
        render = self._prompts.render
        verdict = given.verdict if isinstance(given, Judgement) else render("picture_abstention")
        shown = render("picture_order") if order else ""
        heading = render("picture_judgement", judge=judge, session=session, order=shown, verdict=verdict)
        return f"{heading}\n{quote(given.text)}" if isinstance(given, Judgement) else heading


def _numbered(question: str) -> str:
    return f"(1). {question}"


def _own_turns(view: DebateView) -> Iterator[tuple[int, list[Passage]]]:
    """Yields the debater's turns: the number of the first passage, and the passages."""
    start = 0
    for (_, side), turn in groupby(view.passages, key=lambda passage: (passage.round, passage.side)):
        passages = list(turn)
        if side == view.side:
            yield start, passages
        start += len(passages)
