"""Reading and writing of judgements."""

import json

from llmarena_envs.core.judging import Score, own_words, read_scores
from llmarena_envs.core.quoting import printable
from llmarena_envs.core.replies import clean_text
from llmarena_envs.writer_editor.game import (
    CODE_REVIEW,
    MAX_REASON,
    SCALE,
    TRANSLATION,
    Abstention,
    Given,
    Scores,
)

NAMES = {CODE_REVIEW: ("Programmer", "Reviewer"), TRANSLATION: ("Translator", "Proofreader")}
"""Role names of writer and editor in a judgement."""


def read_judgement(reply: str, task: str, abstention: str) -> Scores | Abstention:
    """Reads a judgement: a JSON object with a score for both roles, or only the word for an abstention.

    Raises:
        ParseError: if it is neither; see ``core.judging.read_scores``.
    """
    if len(reply) < 100 and clean_text(own_words(reply)).strip(" .!。").lower() == abstention:
        return Abstention()
    writer, editor = NAMES[task]
    scores = read_scores(reply, (writer, editor), SCALE)
    return Scores(_given(scores[writer]), _given(scores[editor]))


def _given(score: Score) -> Given:
    return Given(score.score, " ".join(printable(score.reason).split())[:MAX_REASON].rstrip())


def write_scores(scores: Scores, task: str) -> str:
    """Writes scores with their reasons as JSON, the format for judges."""
    judgement = {
        name: {"evaluation": given.reason, "score": int(given.score) if given.score.is_integer() else given.score}
        for name, given in zip(NAMES[task], scores, strict=True)
    }
    return json.dumps(judgement, ensure_ascii=False)
