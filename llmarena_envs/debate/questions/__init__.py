"""Debate questions: domains, files, and an examiner for new ones."""

from llmarena_envs.debate.questions.checks import check_question
from llmarena_envs.debate.questions.domains import DOMAINS
from llmarena_envs.debate.questions.examiner import examiner_prompt
from llmarena_envs.debate.questions.files import Question, Questions, load_questions
from llmarena_envs.debate.questions.replies import read_questions

__all__ = [
    "DOMAINS",
    "Question",
    "Questions",
    "check_question",
    "examiner_prompt",
    "load_questions",
    "read_questions",
]
