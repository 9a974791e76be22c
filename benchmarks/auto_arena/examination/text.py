"""Prompts of the examiner, and the parser of its replies."""

import json

from benchmarks.auto_arena.examination.game import Drafts, Examination, ExaminationView
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import quote
from llmarena_envs.debate.questions import examiner_prompt, read_questions
from llmarena_envs.debate.questions.examiner import Draft, examiner_prompts
from llmarena_envs.debate.questions.replies import plain_text

MAX_DRAFTS = 80_000
"""Maximum characters of questions read from one reply."""

MAX_REFUSED = 200
"""Maximum characters shown of a refused question."""

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
        """Returns the task."""
        return self._rules

    def observation(self, view: ExaminationView) -> str:
        """Returns the accepted questions, the refused ones with reasons, and the present request."""
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
        """Returns the cause of the end of the match, with the reward."""
        cause = self._prompts.render("over", number=len(view.accepted), count=view.total)
        if ending.offenders:
            cause = self._ends.forfeit(view.agent, ending.offenders)
        return self._ends.over(cause, self._ends.received(ending.reward))

    def read(self, reply: str, view: ExaminationView) -> Drafts:
        """Reads numbered questions in any usual form; see ``llmarena_envs.debate.questions.replies``."""
        drafts = _exact(reply) or _within_limit(read_questions(reply))
        if not drafts:
            raise ParseError(Failure.UNPARSABLE, "no_queries")
        return drafts

    def example(self, view: ExaminationView) -> str:
        """Returns the form of a reply."""
        return "(1). ..."

    def format(self, action: Drafts, view: ExaminationView) -> str:
        """Writes numbered questions, or JSON if the numbers would be misread, e.g. because a question contains a list."""
        numbered = "\n".join(f"({number}). {text}" for number, text in enumerate(action, start=1))
        return numbered if tuple(read_questions(numbered)) == action else _as_json(action)

    def picture(self, game: Examination) -> str:
        """Lists the questions accepted up to now."""
        lines = [f"({number}). {text}" for number, text in enumerate(game.accepted, start=1)]
        return "\n".join([f"{game.domain}: {len(lines)} / {game.count}", *lines])


def _as_json(action: Drafts) -> str:
    return json.dumps({_QUERIES: list(action)}, ensure_ascii=False)


def _exact(reply: str) -> Drafts | None:
    """Returns the questions of a reply in the JSON form of ``format``."""
    if not reply.startswith(f'{{"{_QUERIES}": ['):
        return None
    try:
        texts = json.loads(reply)[_QUERIES]
    except (ValueError, RecursionError):
        return None
    exact = all(isinstance(text, str) and plain_text(text) == text for text in texts)
    return tuple(texts) if exact and _as_json(tuple(texts)) == reply and _within_limit(texts) == tuple(texts) else None


def _within_limit(texts: list[str]) -> Drafts:
    """Returns the first texts within the size limit of an action."""
    room = MAX_DRAFTS
    drafts = []
    for text in texts:
        room -= len(text)
        if room < 0:
            break
        drafts.append(text)
    return tuple(drafts)
