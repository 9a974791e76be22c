"""An examiner's work: questions in one domain, in batches; good ones are kept, missing ones requested again.

Source: Auto-Arena (arXiv 2405.20267v1), section 3.1; the authors' code asks for 30 questions in each of
eight domains, ten at a time. Everything that the examiner wrote is quoted.
"""

from typing import NamedTuple

from benchmarks.experiments.asking import Case
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.options import check_choice
from llmarena_envs.core.quoting import quote
from llmarena_envs.debate.questions import DOMAINS, examiner_prompt, read_questions
from llmarena_envs.debate.questions.examiner import Draft, examiner_prompts, screen

EXAMINER = "examiner_0"

MAX_DRAFTS = 80_000
"""Maximum characters of questions read from one reply."""

MAX_REFUSED = 200
"""Maximum characters shown of a refused question."""


class QuestionRequest(NamedTuple):
    """A request for questions.

    Attributes:
        domain: the domain.
        language: of the questions.
        total: number of questions in all batches.
        wanted: number of questions requested now.
        accepted: the questions accepted up to now.
        last: all questions of the last reply to the present batch, each with its reason for refusal.
    """

    domain: str
    language: str
    total: int
    wanted: int
    accepted: tuple[str, ...]
    last: tuple[Draft, ...]


class Examination(Case):
    """The questions of one domain; an item is a question.

    Args:
        domain: of the questions.
        language: of the questions and of the texts.
        count: number of questions wanted.
        batch: questions per request.
        calls: maximum number of requests per batch.
    """

    def __init__(self, domain: str, language: str, *, count: int, batch: int, calls: int) -> None:
        check_choice("domain", domain, DOMAINS)
        super().__init__(domain, "benchmarks.auto_arena.examination", language, count=count, batch=batch, calls=calls)
        self.reply_tokens = 100 * batch

    @property
    def example(self) -> str:
        """The form of a reply."""
        return "(1). ..."

    def request(self, accepted: tuple[str, ...], last: tuple[Draft, ...], wanted: int) -> QuestionRequest:
        """Returns the request as scripted examiners read it."""
        return QuestionRequest(self.name, self.language, self.count, wanted, accepted, last)

    def texts(self, request: QuestionRequest) -> tuple[str, str]:
        """Returns the task, and the accepted questions, the refused ones with reasons and the present request."""
        parts = []
        if request.accepted:
            kept = "\n".join(quote(f"({number}). {text}") for number, text in enumerate(request.accepted, start=1))
            parts.append(self.prompts.render("kept", number=len(request.accepted), count=request.total, queries=kept))
        refused = [draft for draft in request.last if draft.refused]
        if request.last:
            parts.append(self.prompts.render("missing", drafted=len(request.last), wanted=request.wanted))
        if refused:
            parts.append("\n".join([self.prompts.render("refused"), *map(self._refused, refused)]))
        wanted = examiner_prompt(request.domain, request.wanted, request.language)
        return self.prompts.render("rules"), "\n\n".join([*parts, wanted])

    def _refused(self, draft: Draft) -> str:
        assert draft.refused is not None
        cut = draft.text if len(draft.text) <= MAX_REFUSED else f"{draft.text[:MAX_REFUSED]} ..."
        reason = examiner_prompts(self.language).render(f"reason_{draft.refused.name}", **draft.refused.fields)
        return f"{quote(cut)}\n{self.prompts.render('because', reason=reason)}"

    def read(self, reply: str) -> tuple[str, ...]:
        """Reads numbered questions in any usual form; see ``llmarena_envs.debate.questions.replies``."""
        drafts = read_drafts(reply)
        if not drafts:
            raise ParseError(Failure.UNPARSABLE, "no_queries")
        return drafts

    def check(self, items: tuple[str, ...], accepted: tuple[str, ...]) -> list[Draft]:
        """Returns the questions of a reply, each with its reason for refusal."""
        return screen(items, self.name, self.language, accepted)


def read_drafts(reply: str) -> tuple[str, ...]:
    """Returns the first questions of a reply within the size limit."""
    room = MAX_DRAFTS
    drafts = []
    for text in read_questions(reply):
        room -= len(text)
        if room < 0:
            break
        drafts.append(text)
    return tuple(drafts)
