"""# Debate.

| | |
|---|---|
| Creation | `debate_v0.env()` or `pettingzoo.make("aec", "llmarena/debate-v0")` |
| Agents | `debater_0`, `debater_1`, `judge_0` to `judge_4`; 0 to 9 judges by option; `examiner_0` if no question is given |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play debate_v0` with a `--policy` for each agent, `human` for your own |
| Action values | a question; `<think>`, `<respond>`, `<criticize>`, `<raise>` in tags; `[[A]]`, `[[B]]`, `[[Tie]]` |
| Observation | two texts, and whether the turn is played without memory of earlier ones |

Two assistants answer a user's question, then criticize each other and put follow-up requests to each other; a committee of
judges decides which is better, after one discussion.

A debate has three rounds. In the first A answers, B criticizes and raises a request, A responds. In the second B answers the
question without seeing the first round, A criticizes and raises, B responds. In the third A criticizes and raises,
B responds, criticizes and raises, A responds. Each side responds three times, criticizes twice and raises twice, and both have
the same number of words: a turn has 300, thoughts included, the one with three actions has 600 (400 and 800 in writing,
roleplay, coding and humanities). A longer turn is cut, thoughts first. If the other parts alone exceed the limit they share
it: short parts stay whole, longer ones share the rest equally. So neither long reasoning nor an overlong part takes words from
another part. Every cut part is marked. The sides are drawn from the seed.

Then all judges give a verdict at once, read the others' judgements, and give another one. The most frequent verdict
decides; a tie between the most frequent ones is a tie. A judge without a verdict in the discussion keeps its first one.

In reasoning, math and coding, if the question has no reference answer, the first judge answers it
before reading the debate; judges compare with this answer.

Source: Auto-Arena (arXiv 2405.20267v1, section 3, for the protocol; arXiv 2405.20267v4, appendix A, for prompts and lengths).

### Arguments

* `question=None`: the question, as a text, instead of a list of questions.
* `questions=None`: the questions to draw from: `builtin` for the questions of the package, the path of a file, or a list of
  records (below). With `examiner`, or without both options, `examiner_0` sets the question; in rated matches the default is
  `builtin`, so name `examiner` there.
* `number=None`: number of the question in the list, from 0; `None` draws it from the seed.
* `domain=None`: domain of the question: `writing`, `roleplay`, `extraction`, `reasoning`, `math`, `coding`, `stem` or
  `humanities`. It restricts the list, or the examiner's task; `None` takes all.
* `n_judges=5`: number of judges, 0 to 9. Without judges a match has no result.
* `discussion=True`: whether judges read the others' judgements and judge again. A single judge never does.
* `discussion_rounds=1`: number of discussions, 1 to 3.
* `quorum=1`: minimum number of verdicts; with fewer a match has no result.
* `both_orders=False`: judge everything twice, the second time with A and B exchanged; a judge's verdict is the one that it
  gives both times, else a tie, and none if it abstains in one of them.
* `reference="auto"`: the answer for judges to compare with: `auto` for the question's reference answer or, in reasoning, math
  and coding, the first judge's; `None` for nothing; another text is the reference answer to `question`.
* `words=None`: words of a turn, 10 to 1000; the turn with three actions has twice as many. `None` for the default of the
  domain.
* `counter="words"`: unit of lengths: `words`, where a word is a run of at most 24 letters and digits, or in Chinese
  1.5 characters, and words joined by a sign or a capital, as in `well-known`, count one by one; or `tiktoken`, 4/3 tokens a
  word in English and 1.5 in Chinese (`pip install 'llmarena-envs[tokens]'`).
* `round3_opener="A"`: side that opens the third round, `A` or `B`; the other side has the turn with three actions.
* `visibility="paper"`: `paper`: a debater reads everything but the opponent's thoughts; `restricted`: only the opponent's
  responses and requests.
* `judge_sees_think=True`: whether judges read thoughts.
* `judge_initial_only=False`: no battle: both give their first answers, and these are judged.
* `language="en"`: language of the texts, `en` or `zh`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Questions of Your Own

Questions are records in JSON lines, or a file `*.csv` with the same columns: `domain`, `id`, `question`, and optionally
`reference`, an answer that judges compare with. Domains are read in common spellings, such as `STEM knowledge`. Errors name
the file and the line.

### Observation Space

`rules` (the own role, the same at every turn), `text`, and `fresh_history`. The text holds the question, all visible parts of
the debate so far, including the own thoughts, and the instruction; agents need no memory. Agents' words are quoted, with `>`
before every line, so they cannot pass for a line of the environment or for a verdict. Judges know the debaters as A and B and
each other as Judge 1, Judge 2, and so on.

A language model reads the debate in native turns by default: a debater its own turns as `assistant`, with tags and thoughts,
and the opponent's words with the action guide as `user`; a judge who discusses reads its first judgement as `assistant`.
`history="single_turn"` gives it the text in one message.

`fresh_history` is 1 for turns to be played without memory of earlier ones; the text then omits these: B's
first answer, the reference answer, and judging in the second order.

### Action Space

Text. A debater's turn consists of tags, `<respond>A bridge.</respond>`, in upper or lower case, with optional end tags. If an
action is repeated, the last one that is not empty counts, while thoughts add up; text outside of all tags counts as the
response if one is required and missing. Tags in code, inside an action with an end tag, are text. Actions that the turn must
not have are dropped and counted. `parse` refuses a turn that lacks an action; `step` accepts it.

A judge ends its reply with its verdict in double brackets, on a line of its own; it is read by the [rule for all
judges](../judges.md#how-a-judges-reply-is-read). `abstain` gives no verdict; neither does a text without a clear one that is
passed to `step`. An examiner's question has a number before it, `(1).`; of several the first valid one counts.

The standard fallback is `noop`: an incomplete turn, or an abstention; for an examiner, one of the shipped questions
in its domain.

### Rewards

At the end +1 for the better debater, -1 for the other one, 0 for both if it is a tie; examiner and judges receive 0. If there
are fewer verdicts than the quorum the match has no result: it is counted and not rated. An illegal action (`None`, no text, or
an examiner's text that is no question) ends the match: the offender receives -1, the opponent of a debater +1, all others
0; if the offender is an examiner or a judge, the match has no result.

### Infos

Numbers, -1 before the end or if undefined. For all agents: `question` (its number in the list), `domain` (its position in the
list above, from 0), `winner_first` and `winner` (by the judges' first and last verdicts: 0 for A, 1 for B, 2 for a tie),
`abstentions` (judges without a verdict). For judges: `verdict_first`, `verdict_final` (0, 1 or 2), `verdict_swapped` (the last
verdict in the second order, translated to the true sides; with `both_orders`), and the number of missing judgements
(`abstained`). For debaters: `side` (0 for A, 1 for B), the number of its `words` that the judges read, its `truncated` turns,
its `missing` and `forbidden` actions, and its votes, `votes_first` and `votes_final`.

### Episode End

When the judges have given their last verdicts: after at most 1 turn of the examiner, 9 of the debaters, 1 for a reference
answer and `n_judges` for each round of judging (two with a discussion, doubled with both orders), 21 by default; or
by an illegal action.

### Version History

* v0: Initial version
"""

from typing import Any, ClassVar, Literal

from llmarena_envs.core.declaration import Declaration, Verdicts
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.source import Source
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.core.text_length import text_counter
from llmarena_envs.core.transcript import Scene
from llmarena_envs.debate.drawing import DebateDrawing
from llmarena_envs.debate.game import AUTO, CHANNELS, MAX_DISCUSSION_ROUNDS, Debate
from llmarena_envs.debate.questions import DOMAINS, Question, Questions, load_questions
from llmarena_envs.debate.questions.files import BUILTIN, question_source
from llmarena_envs.debate.text import DebateCodec
from llmarena_envs.debate.transcript import Transcriber

ASKED = "examiner"
"""Questions set by an examiner."""

MAX_TEXT = 20_000
"""Maximum number of characters of a question or reference answer in an option."""


class raw_env(TextEnv):
    """Debate as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "debate_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="tournament",
        channels=CHANNELS,
        rated_roles=("debater",),
        verdicts=Verdicts(swapped="verdict_swapped", length="words"),
        abilities=("helpfulness", "critique", "judgement"),
        rated_options={"questions": BUILTIN},
        history="full",
        unparsable="noop",
        illegal="noop",
    )
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    fresh_turns: ClassVar[bool] = True
    # All hold a question, a turn and a judgement; the role selects one.
    action_examples: ClassVar[tuple[str, ...]] = tuple(
        f"(1). What is {number} plus {number}, and why?\n<respond>It is {2 * number}.</respond>\n"
        f"<criticize>You give no reason.</criticize>\n<raise>Why is it so?</raise>\n[[{verdict}]]"
        for number, verdict in enumerate(("A", "B", "Tie"), start=1)
    )
    game: Debate
    codec: DebateCodec

    def __init__(
        self,
        *,
        question: str | None = None,
        questions: Questions | None = None,
        number: int | None = None,
        domain: str | None = None,
        n_judges: int = 5,
        discussion: bool = True,
        discussion_rounds: int = 1,
        quorum: int = 1,
        both_orders: bool = False,
        reference: str | None = AUTO,
        words: int | None = None,
        counter: Literal["words", "tiktoken"] = "words",
        round3_opener: Literal["A", "B"] = "A",
        visibility: Literal["paper", "restricted"] = "paper",
        judge_sees_think: bool = True,
        judge_initial_only: bool = False,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_choice("language", language, Prompts.languages("llmarena_envs.debate"))
        check_int("discussion_rounds", discussion_rounds, 1, MAX_DISCUSSION_ROUNDS)
        for name, value in (
            ("discussion", discussion),
            ("both_orders", both_orders),
            ("judge_sees_think", judge_sees_think),
            ("judge_initial_only", judge_initial_only),
        ):
            check_bool(name, value)
        _check_text("question", question)
        _check_text("reference", reference)
        if reference not in (None, AUTO) and question is None:
            raise OptionError(
                "reference: a text is the reference answer to one question; give that as question=... too"
            )
        self._counter = text_counter(counter, language)
        asked = _questions(question, questions, domain, language)
        self._questions = questions if asked and question is None else None
        game = Debate(
            asked,
            number=number,
            domain=domain,
            n_judges=n_judges,
            discussion_rounds=discussion_rounds if discussion else 0,
            quorum=quorum,
            both_orders=both_orders,
            reference=reference,
            words=words,
            round3_opener=round3_opener,
            visibility=visibility,
            judge_sees_think=judge_sees_think,
            judge_initial_only=judge_initial_only,
            language=language,
            counter=self._counter,
        )
        codec = DebateCodec(
            language, self._counter, initial_only=judge_initial_only, judges_read_thoughts=judge_sees_think
        )
        super().__init__(game, codec, obs_type=obs_type, render_mode=render_mode)

    def read_action(self, action: Any, agent: str) -> Any:
        """Converts a text to an action of the game; accepts an incomplete one, as there is no retry.

        Raises:
            InvalidReply: if it is not a string, or an examiner's without a question.
        """
        try:
            return super().read_action(action, agent)
        except InvalidReply:
            given = self.codec.read_as_given(action, self.game.view(agent)) if isinstance(action, str) else None
            if given is None:
                raise
            return given

    def cases(self) -> dict[str, list[int]]:
        """Returns question numbers, cycling through the domains: the first forty are five of each."""
        return {"number": self.game.numbers_by_turns()} if self._questions is not None else {}

    def sources(self) -> tuple[Source, ...]:
        """Returns the source and number of the questions, and the unit of lengths."""
        measure = self._counter.source()
        if self._questions is None:
            return (measure,)
        return question_source(self._questions, self.codec.language, len(self.game.questions)), measure

    def make_drawing(self) -> DebateDrawing:
        """Returns the drawing of passages and judgements."""
        return DebateDrawing(self.codec.language, self.game)

    def transcript(self) -> tuple[Scene, ...]:
        """Returns the question, all passages, the judgements, and the winner."""
        return tuple(Transcriber(self.game, self.codec.language).scenes())


def _check_text(name: str, value: object) -> None:
    if value is not None and (not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT):
        raise OptionError(f"{name}: expected None or a text of at most {MAX_TEXT} characters, got {value!r:.80}")


def _questions(
    question: str | None, questions: Questions | None, domain: str | None, language: str
) -> tuple[Question, ...]:
    if question is not None and questions not in (None, BUILTIN):
        raise OptionError("question, questions: expected one of them, got both")
    if domain is not None:
        check_choice("domain", domain, DOMAINS)
    if question is not None:
        return (Question("", domain or "", question),)
    return () if questions in (None, ASKED) else load_questions(questions, language)


env = order_checked(raw_env)
