"""Prompts of the judge, and the parser of its replies."""

import json
import re
from collections.abc import Mapping
from typing import Any

from benchmarks.llmarena.description_judge.game import NO, YES, DescriptionJudge, JudgeView
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.judging import read_ruling
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import without_tokens
from llmarena_envs.core.reading.grammar import NOBODY
from llmarena_envs.core.replies import Grammar

_WORDS = {"yes": YES, "true": YES, "是": YES, "是的": YES, "no": NO, "false": NO, "否": NO, "不是": NO}
_VERDICT = re.compile(r"(?:(?:yes|true|no|false)|不是|是的?|否)(?!\w)", re.IGNORECASE)
_PUBLISHED = {"Verdict: yes": YES, "Verdict: no": NO}


def _read_verdict(text: str, labelled: bool) -> tuple[int, int] | None:
    """Returns the verdict at the beginning of a text and the index of its end."""
    match = _VERDICT.match(text)
    return (_WORDS[match[0].lower()], match.end()) if match else None


def _read_field(fields: Mapping[str, Any]) -> int | None:
    """Returns a verdict given as a truth value."""
    verdict = fields.get("verdict")
    return int(verdict) if isinstance(verdict, bool) else None


GRAMMAR = Grammar(_read_verdict, nouns="verdict|判定", seats=NOBODY, fields=_read_field, bare="last")


class JudgeCodec(Codec[int, JudgeView]):
    """Texts and grammar of the judge.

    Args:
        language: language of the texts.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._prompts = Prompts("benchmarks.llmarena.description_judge", language)
        self._ends = ending_texts(language)
        self._rules = self._prompts.render("rules")

    def rules(self, agent: str) -> str:
        """Returns the task."""
        return self._rules

    def observation(self, view: JudgeView) -> str:
        """Returns the item and the instruction."""
        return f"{self._item(view)}\n{self._prompts.render('instruction' if view.to_move else 'wait')}"

    def ending(self, view: JudgeView, ending: Ending) -> str:
        """Returns the cause of the end of the match, with the reward."""
        cause = self._prompts.render("all_judged", n_items=view.n_items)
        if ending.offenders:
            cause = self._ends.forfeit(view.agent, ending.offenders)
        return self._ends.over(cause, self._ends.received(ending.reward))

    def _item(self, view: JudgeView) -> str:
        # Quoted to keep a clue from imitating a line of the instruction.
        word, clue = (json.dumps(without_tokens(text), ensure_ascii=False) for text in (view.word, view.clue))
        return self._prompts.render("item", word=word, clue=clue)

    def read(self, reply: str, view: JudgeView) -> int:
        """Reads ``Verdict: yes`` or ``Verdict: no``, ``是`` and ``否`` as well, and JSON such as ``{"verdict": true}``."""
        published = _PUBLISHED.get(reply)
        return read_ruling(reply, GRAMMAR) if published is None else published

    def example(self, view: JudgeView) -> str:
        """Returns both forms of a verdict."""
        return self._prompts.render("verdict_form")

    def format(self, action: int, view: JudgeView) -> str:
        """Writes ``Verdict: yes`` or ``Verdict: no``."""
        return f"Verdict: {'yes' if action == YES else 'no'}"

    def picture(self, game: DescriptionJudge) -> str:
        """Lists the judged items and the present one."""
        verdicts = [*("yes" if verdict == YES else "no" for verdict in game.verdicts), "?"]
        return "\n".join(
            f"{word} - {clue}: {verdict}" for (word, clue), verdict in zip(game.items, verdicts, strict=False)
        )
