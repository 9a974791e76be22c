"""A judge of descriptions reads a word and a clue, and decides whether the clue describes the word correctly.

Word and clue are quoted to keep a clue from imitating a line of the instruction. The judge sees one item at a time, and neither
its author nor earlier verdicts.

Source: LLMArena (arXiv 2402.16499), Table 3, with human judges.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.experiments.asking import Case
from llmarena_envs.core.judging import read_ruling
from llmarena_envs.core.quoting import without_tokens
from llmarena_envs.core.reading.grammar import NOBODY
from llmarena_envs.core.replies import Grammar

JUDGE = "judge_0"

_WORDS = {"yes": True, "true": True, "是": True, "是的": True, "no": False, "false": False, "否": False, "不是": False}
_VERDICT = re.compile(r"(?:(?:yes|true|no|false)|不是|是的?|否)(?!\w)", re.IGNORECASE)
_PUBLISHED = {"Verdict: yes": True, "Verdict: no": False}


class DescriptionRequest(NamedTuple):
    """A request for a verdict.

    Attributes:
        word: the word.
        clue: the clue.
    """

    word: str
    clue: str


class Description(Case):
    """The judgement of one clue; the item is whether it describes its word correctly.

    Args:
        name: ID of the item.
        word: the word.
        clue: the clue.
        language: of the texts.
    """

    def __init__(self, name: str, word: str, clue: str, language: str) -> None:
        super().__init__(name, "benchmarks.llmarena.description_judge", language)
        self._request = DescriptionRequest(word, clue)

    @property
    def example(self) -> str:
        """Both forms of a verdict."""
        return self.prompts.render("verdict_form")

    def request(self, accepted: tuple[bool, ...], last: tuple[object, ...], wanted: int) -> DescriptionRequest:
        """Returns the request as scripted judges read it."""
        return self._request

    def texts(self, request: DescriptionRequest) -> tuple[str, str]:
        """Returns the task, and the item with the instruction."""
        word, clue = (json.dumps(without_tokens(text), ensure_ascii=False) for text in request)
        item = self.prompts.render("item", word=word, clue=clue)
        return self.prompts.render("rules"), f"{item}\n{self.prompts.render('instruction')}"

    def read(self, reply: str) -> tuple[bool]:
        """Reads ``Verdict: yes`` or ``Verdict: no``, ``是`` and ``否`` as well, and JSON such as ``{"verdict": true}``."""
        published = _PUBLISHED.get(reply)
        return (read_ruling(reply, GRAMMAR) if published is None else published,)


def _read_verdict(text: str, labelled: bool) -> tuple[bool, int] | None:
    """Returns the verdict at the beginning of a text and the index of its end."""
    match = _VERDICT.match(text)
    return (_WORDS[match[0].lower()], match.end()) if match else None


def _read_field(fields: Mapping[str, Any]) -> bool | None:
    """Returns a verdict given as a truth value."""
    verdict = fields.get("verdict")
    return verdict if isinstance(verdict, bool) else None


GRAMMAR = Grammar(_read_verdict, nouns="verdict|判定", seats=NOBODY, fields=_read_field, bare="last")
