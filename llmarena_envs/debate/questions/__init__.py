"""Questions to debate: their domains, their files, and how an examiner is asked for new ones."""

from llmarena_envs.debate.questions.domains import DOMAINS
from llmarena_envs.debate.questions.files import Question, Questions, load_questions

__all__ = ["DOMAINS", "Question", "Questions", "load_questions"]
