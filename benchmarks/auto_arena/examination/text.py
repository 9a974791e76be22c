"""What the examiner reads, and how a reply is read back."""

import json

from benchmarks.auto_arena.examination.game import Drafts, Examination, ExaminationView
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, Refusal
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import quote
from llmarena_envs.debate.questions import examiner_prompt, read_questions
from llmarena_envs.debate.questions.examiner import Draft, examiner_prompts
from llmarena_envs.debate.questions.replies import plain_text

MAX_DRAFTS = 80_000
"""Characters of questions that are taken from one reply."""

MAX_REFUSED = 200
"""Characters that are shown of a question that is not kept."""

_QUERIES = "queries"


class ExaminationCodec(Codec[Drafts, ExaminationView]):
    """Texts and grammar of the examiner.

    Args:
        language: language of the texts.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._prompts = Prompts("benchmarks.auto_arena.examination", language)
        self._reasons = examiner_prompts(language)
        self._ends = ending_texts(language)
        self._rules = self._prompts.render("rules")

    def rules(self, agent: str) -> str:
        """Returns what the work is."""
        return self._rules

    def observation(self, view: ExaminationView) -> str:
        """Returns what was kept, what was not and why, and what is wanted now."""
        parts = []
        if view.accepted:
            kept = "\n".join(quote(f"({number}). {text}") for number, text in enumerate(view.accepted, start=1))
            parts.append(self._prompts.render("kept", number=len(view.accepted), count=view.total, queries=kept))
        refused = [draft for draft in view.last if draft.refused]
        if view.last:
            parts.append(self._prompts.render("missing", drafted=len(view.last), wanted=view.wanted))
        if refused:
            parts.append("\n".join([self._prompts.render("refused"), *map(self._refused, refused)]))
        wanted = (
            examiner_prompt(view.domain, view.wanted, view.language) if view.to_move else self._prompts.render("wait")
        )
        return "\n\n".join([*parts, wanted])

    def _refused(self, draft: Draft) -> str:
        assert draft.refused is not None
        cut = draft.text if len(draft.text) <= MAX_REFUSED else f"{draft.text[:MAX_REFUSED]} ..."
        reason = self._reasons.render(f"reason_{draft.refused.name}", **draft.refused.fields)
        return f"{quote(cut)}\n{self._prompts.render('because', reason=reason)}"

    def ending(self, view: ExaminationView, ending: Ending) -> str:
        """Returns by what the match ended."""
        cause = self._prompts.render("over", number=len(view.accepted), count=view.total)
        if ending.offenders:
            cause = self._ends.forfeit(view.agent, ending.offenders)
        return self._ends.over(cause, self._ends.received(ending.reward))

    def read(self, reply: str, view: ExaminationView) -> Drafts:
        """Reads numbered questions in any usual form; see ``llmarena_envs.debate.questions.replies``."""
        drafts = _exact(reply) or _within_limit(read_questions(reply))
        if not drafts:
            raise Refusal(Failure.UNPARSABLE, "no_queries")
        return drafts

    def example(self, view: ExaminationView) -> str:
        """Returns the form of a reply."""
        return "(1). ..."

    def format(self, action: Drafts, view: ExaminationView) -> str:
        """Writes numbered questions; as JSON where the numbers would be read otherwise, e.g. since a question holds a list."""
        numbered = "\n".join(f"({number}). {text}" for number, text in enumerate(action, start=1))
        return numbered if tuple(read_questions(numbered)) == action else _as_json(action)

    def picture(self, game: Examination) -> str:
        """Lists the questions kept so far."""
        lines = [f"({number}). {text}" for number, text in enumerate(game.accepted, start=1)]
        return "\n".join([f"{game.domain}: {len(lines)} / {game.count}", *lines])


def _as_json(action: Drafts) -> str:
    return json.dumps({_QUERIES: list(action)}, ensure_ascii=False)


def _exact(reply: str) -> Drafts | None:
    """Returns the questions of a reply that ``format`` has written as JSON."""
    if not reply.startswith(f'{{"{_QUERIES}": ['):
        return None
    try:
        texts = json.loads(reply)[_QUERIES]
    except (ValueError, RecursionError):
        return None
    exact = all(isinstance(text, str) and plain_text(text) == text for text in texts)
    return tuple(texts) if exact and _as_json(tuple(texts)) == reply and _within_limit(texts) == tuple(texts) else None


def _within_limit(texts: list[str]) -> Drafts:
    """Returns the first texts that an action has room for."""
    room = MAX_DRAFTS
    drafts = []
    for text in texts:
        room -= len(text)
        if room < 0:
            break
        drafts.append(text)
    return tuple(drafts)
