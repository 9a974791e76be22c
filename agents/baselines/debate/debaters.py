"""Debaters that follow the instructions, and the examiner; each is also a configurable judge."""

from collections.abc import Sequence

from agents.baselines.debate.judges import POINTS_PER_LOGIT, Honest
from agents.baselines.debate.phrases import MARK, count_words, phrases_for, sign, terms
from agents.baselines.debate.seats import tagged
from llmarena_envs.core.options import check_number
from llmarena_envs.debate.actions import DebateView
from llmarena_envs.debate.protocol import RESPOND, THINK
from llmarena_envs.debate.questions import load_questions

ANSWERS = 3
"""Number of answers of each side in a debate."""

LINES = (10, 16)
"""Minimum and maximum number of lines of an answer, unless it has more points.

Drawn independently of the points, because quality must not depend on length.
"""

_POINTS_AT_ZERO = 8
_MAX_POINTS = 40


class Debater(Honest):
    """Makes a number of points that depends on strength and luck.

    Args:
        strength: in logits, -10 to 10; outside -1 to 5 the number of points is often clipped.
        noise: see ``Honest``, as for all following arguments.
        position: as a judge.
        length: as a judge.
        family: its signature in answers, and the family it favours as a judge by ``kinship``.
        kinship: as a judge.
        conformity: as a judge.
    """

    def __init__(
        self,
        strength: float = 0.0,
        noise: float = 0.0,
        position: float = 0.0,
        length: float = 0.0,
        family: str = "",
        kinship: float = 0.0,
        conformity: float = 0.0,
    ) -> None:
        super().__init__(noise, position, length, family, kinship, conformity)
        check_number("strength", strength, -10, 10)
        self.strength = strength

    def reset(self, agent: str, seed: int) -> None:
        """Starts a match: draws the number of points and the length of answers."""
        super().reset(agent, seed)
        quality = self.strength + self.rng.gumbel()
        self.points = min(_MAX_POINTS, max(0, round(_POINTS_AT_ZERO + POINTS_PER_LOGIT * quality)))
        self.lines = int(self.rng.integers(*LINES, endpoint=True))

    def speech(self, view: DebateView) -> str:
        """Returns a thought and the requested actions, or single words if the budget is too small for sentences."""
        thought = phrases_for(view.question).thought.format(count=self.points_now(view))
        said = f"{tagged(THINK, thought)}\n{super().speech(view)}"
        return said if count_words(said) <= view.words else self.brief(view)

    def passage(self, view: DebateView, action: str) -> str:
        """Returns the text of one action; answers include the points of this turn and the signature."""
        text = super().passage(view, action)
        if action != RESPOND:
            return text
        phrases = phrases_for(view.question)
        lines = [text, *self.points_with(view, phrases.points), *self.remarks(view, phrases.remarks)]
        if self.family:
            lines.append(sign(view.question, self.family))
        return "\n".join(lines)

    def brief(self, view: DebateView) -> str:
        """Returns the same points in two words each, and one word for every other action."""
        points = "\n".join(self.points_with(view, ("{term}",)))
        parts = {action: points if action == RESPOND else self.mention(view, "{term}?") for action in view.actions}
        return "\n".join(tagged(action, text) for action, text in parts.items())

    def points_now(self, view: DebateView) -> int:
        """Returns the number of points in this turn: a share of all of them in an answer."""
        said = sum(passage.side == view.side and passage.action == RESPOND for passage in view.passages)
        if RESPOND not in view.actions or said >= ANSWERS:
            return 0
        return self.points * (said + 1) // ANSWERS - self.points * said // ANSWERS

    def points_with(self, view: DebateView, sentences: Sequence[str]) -> list[str]:
        """Returns a line for each point of this turn."""
        words = terms(view.question)
        first_word, first_sentence = (int(self.rng.integers(len(of))) for of in (words, sentences))
        return [
            MARK + sentences[(first_sentence + k) % len(sentences)].format(term=words[(first_word + k) % len(words)])
            for k in range(self.points_now(view))
        ]

    def remarks(self, view: DebateView, sentences: Sequence[str]) -> list[str]:
        """Returns the lines of an answer without a point."""
        first = int(self.rng.integers(len(sentences)))
        return [sentences[(first + k) % len(sentences)] for k in range(self.lines - self.points_now(view))]


class Verbose(Debater):
    """Makes its points and adds meaningless text beyond its budget."""

    def speech(self, view: DebateView) -> str:
        """Returns more than allowed, the important part first; the last end tag is missing."""
        said = super().speech(view)
        padding = " ".join(phrases_for(view.question).padding)
        times = 1 + int(view.words / count_words(padding))
        return "\n".join([said[: said.rindex("</")], *[padding] * times])


class OffTopic(Honest):
    """Talks about another topic."""

    def passage(self, view: DebateView, action: str) -> str:
        """Returns a sentence unrelated to the question."""
        return str(self.choose(phrases_for(view.question).asides))


class Empty(Honest):
    """Says nothing as a debater."""

    def speech(self, view: DebateView) -> str:
        """Returns an empty reply."""
        return ""


class Examiner(Honest):
    """Asks questions from a file as an examiner; in other seats an honest judge and a plain debater.

    Args:
        questions: ``builtin``, or the path of a JSONL or CSV file of questions.
        language: of the built-in questions, ``en`` or ``zh``.
    """

    def __init__(self, questions: str = "builtin", language: str = "en") -> None:
        super().__init__()
        self.questions = load_questions(questions, language)

    def query(self, view: DebateView) -> str:
        """Returns a question of the domain."""
        return self.draw_question(self.questions, view.domain)
