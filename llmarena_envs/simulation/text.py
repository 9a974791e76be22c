"""Observations of users, simulators and judges and the parsing of replies."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from llmarena_envs.core.codec import ChatMessage, Codec, ReplyPart, Role
from llmarena_envs.core.committee import Abstention
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import printable, quote
from llmarena_envs.core.updates import new_parts
from llmarena_envs.simulation.actions import (
    SIMULATOR,
    USER,
    Action,
    Answer,
    Given,
    Rating,
    Request,
    SimulationView,
    Utterance,
)
from llmarena_envs.simulation.game import Simulation
from llmarena_envs.simulation.judgement import LETTERS, join_judge, read_judge, write_judge
from llmarena_envs.simulation.protocol import ANSWER, PAIRWISE, REQUEST, SCALE, SIDES
from llmarena_envs.simulation.speech import as_said, read_request, write_request

_ROLES: dict[str, Role] = {USER: "user", SIMULATOR: "assistant"}


class SimulationCodec(Codec[Action, SimulationView]):
    """Texts and grammar of simulation.

    Args:
        language: language of the texts.
        mode: ``"dialogue"``, ``"script"`` or ``"pairwise"``.
    """

    def __init__(self, language: str, mode: str) -> None:
        self._prompts = Prompts("llmarena_envs.simulation", language)
        self.language = language
        self._ends = ending_texts(language)
        self._mode = mode

    def rules(self, agent: str) -> str:
        """Returns the rules for the agent's role."""
        role = role_of(agent)
        if role != "judge":
            return self._prompts.render(f"rules_{role}")
        return self._prompts.render("rules_compare" if self._mode == PAIRWISE else "rules_rate")

    def observation(self, view: SimulationView) -> str:
        """Returns the dialogue, the responses to judge, and the instruction."""
        return "\n\n".join([*self._history(view), self._instruction(view)])

    def for_person(self, view: SimulationView) -> str:
        """Returns the observation; asks a user only for the request, without a strategy."""
        return "\n\n".join([*self._history(view), self._instruction(view, "ask_person")])

    def update(self, view: SimulationView, since: SimulationView) -> str:
        """Returns new messages and the instruction; the full observation for a fresh turn."""
        if view.fresh:
            return self.observation(view)
        said = new_parts(self._history(view), self._history(since))
        asks = view.to_move and view.stage == REQUEST
        again = {"turn": view.turn, "turns": view.turns}
        instruction = self._prompts.render("ask_reminder", **again) if asks else self._instruction(view)
        return "\n\n".join([*said, instruction])

    def chat(self, view: SimulationView) -> tuple[ChatMessage, ...] | None:
        """Returns the dialogue verbatim for a simulator, and one prompt for users and judges.

        Servers refuse empty messages, so an empty answer is written as ``simulator_0:``, which is also read as empty.
        """
        if not view.to_move:
            return None
        if role_of(view.agent) != SIMULATOR:
            return ChatMessage("system", self.rules(view.agent)), ChatMessage("user", self.observation(view))
        empty = {SIMULATOR: _empty(view), USER: self._prompts.render("nothing")}
        said = [
            ChatMessage(_ROLES[message.speaker], message.text if message.text.strip() else empty[message.speaker])
            for message in view.messages
        ]
        return ChatMessage("system", self._prompts.render("system_simulator")), *said

    def ending(self, view: SimulationView, ending: Ending) -> str:
        """Returns the dialogue, the judged responses, and the reader's reward."""
        cause = self._ends.forfeit(view.agent, ending.offenders) if ending.offenders else self._ends.played_out()
        compared = view.mode == PAIRWISE and role_of(view.agent) == SIMULATOR
        result = self._ends.contest(ending.reward) if compared else self._ends.received(ending.reward)
        if view.undecided:
            result = self._prompts.render("no_result")
        return "\n".join(["\n\n".join(self._history(view)), self._ends.over(cause, result)])

    def _history(self, view: SimulationView) -> list[str]:
        render = self._prompts.render
        if role_of(view.agent) == "judge":
            return self._case(view)
        parts = [render("simulation", act=view.task.act)] if role_of(view.agent) == USER else []
        turn = 0
        for message in view.messages:
            turn += message.speaker == USER
            who = "own" if role_of(view.agent) == message.speaker else message.speaker
            parts.append(f"{render(f'said_{who}', turn=turn)}\n{self._quoted(message)}")
        for response in view.responses:
            parts.append(f"{render('said_own', turn=turn)}\n{self._quoted(response)}")
        return parts

    def _case(self, view: SimulationView) -> list[str]:
        """Returns the dialogue for a judge, and separately the responses to judge."""
        render, judged = self._prompts.render, view.responses
        dialogue = view.messages[:-1] if judged and view.mode != PAIRWISE else view.messages
        parts = [render("case", act=view.task.act, dialogue=quote(_listed(dialogue)))]
        for side, response in zip(SIDES, judged, strict=False):
            heading = render("response_side", side=side) if view.mode == PAIRWISE else render("response")
            parts.append(f"{heading}\n{self._quoted(response)}")
        return parts

    def _quoted(self, message: Utterance) -> str:
        # Texts of agents cannot imitate a line of the host, or a rating.
        said = quote(message.text) if message.text else self._prompts.render("nothing")
        return f"{said}\n{self._prompts.render('cut')}" if message.truncated else said

    def _instruction(self, view: SimulationView, ask: str = "ask") -> str:
        render = self._prompts.render
        if not view.to_move:
            return render("wait")
        if view.stage == REQUEST:
            kind = view.task.request_type or render("any_request")
            return render(ask, turn=view.turn, turns=view.turns, request_type=kind)
        if view.stage == ANSWER:
            return render("answer")
        return render("compare" if view.mode == PAIRWISE else "rate", act=view.task.act)

    def may_be_empty(self, view: SimulationView) -> bool:
        """Returns whether an empty reply is valid, as for a simulator."""
        return role_of(view.agent) == SIMULATOR

    def read(self, reply: str, view: SimulationView) -> Action:
        """Reads a request, an answer or a judgement, by the reader's role.

        Raises:
            ParseError: if a request is empty, or there is no rating or verdict.
        """
        role = role_of(view.agent)
        if role == SIMULATOR:
            text = as_said(reply)
            return Answer("" if text == _empty(view) else text)
        if role == USER:
            return read_request(reply)
        return read_judge(reply, compares=self._mode == PAIRWISE)

    def parts(self, view: SimulationView) -> tuple[ReplyPart, ...]:
        """Returns an explanation and a rating or verdict for a judge; requests and answers are one text."""
        if role_of(view.agent) != "judge":
            return ()
        compares = self._mode == PAIRWISE
        values = tuple(LETTERS.values()) if compares else tuple(map(str, range(int(SCALE.low), int(SCALE.high) + 1)))
        label = self._prompts.render
        return (
            ReplyPart("explanation", label("part_explanation")),
            ReplyPart("value", label("part_verdict" if compares else "part_rating"), values),
        )

    def join_parts(self, texts: Mapping[str, str], view: SimulationView) -> str:
        """Writes an explanation with a rating or a verdict."""
        return join_judge(texts.get("explanation", ""), texts.get("value", ""), compares=self._mode == PAIRWISE)

    def example(self, view: SimulationView) -> str:
        """Returns the reader's answer format."""
        role = role_of(view.agent)
        if role == USER:
            return '{"user": {"strategy": 2, "request": "..."}}'
        if role == SIMULATOR:
            return "..."
        return "[[A]], [[B]], [[C]]" if self._mode == PAIRWISE else self._prompts.render("example_rating")

    def format(self, action: Action, view: SimulationView) -> str:
        """Writes a request as JSON, an answer as it is, an empty one as ``simulator_0:``, a judgement as its text."""
        if isinstance(action, Request):
            return write_request(action)
        if isinstance(action, Answer):
            return action.text or _empty(view)
        return write_judge(action)

    def picture(self, game: Any) -> str:
        """Writes the dialogue, the answers, engine answers, and judgements."""
        assert isinstance(game, Simulation)
        render = self._prompts.render
        parts = [render("picture_task", act=game.task.act, type=game.task.type, engine=game.task.engine or "-")]
        turn = 0
        for message in game.messages:
            turn += message.speaker == USER
            parts.append(f"{render('picture_said', turn=turn, speaker=message.speaker)}\n{self._quoted(message)}")
            if message.speaker == USER and turn <= len(game.truths):
                parts.append(f"{render('picture_truth')}\n{quote(game.truths[turn - 1])}")
        for agent, answer in zip(game.simulators, game.answers, strict=False):
            parts.append(f"{render('picture_said', turn=turn, speaker=agent)}\n{self._quoted(answer)}")
        for number, session in enumerate(game.sessions):
            for judge, given in zip(game.judges, session, strict=True):
                parts.append(self._pictured(given, judge, number))
        return "\n\n".join(parts)

    def _pictured(self, given: Given, judge: str, order: int) -> str:
        render = self._prompts.render
        shown = render("picture_order") if order else ""
        if isinstance(given, Abstention):
            return render("picture_judgement", judge=judge, order=shown, given=render("picture_abstention"))
        what = f"{given.score:g}" if isinstance(given, Rating) else LETTERS[given.verdict]
        return f"{render('picture_judgement', judge=judge, order=shown, given=what)}\n{quote(given.text)}"


def _listed(messages: Iterable[Utterance]) -> str:
    """Returns a dialogue as a JSON list, one message per line."""
    lines = [
        json.dumps({"role": each.speaker, "content": printable(each.text)}, ensure_ascii=False) for each in messages
    ]
    return "[\n" + ",\n".join(lines) + "\n]"


def _empty(view: SimulationView) -> str:
    return f"{view.agent}:"
