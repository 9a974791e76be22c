"""# Simulation.

| | |
|---|---|
| Creation | `simulation_v0.env()` or `pettingzoo.make("aec", "llmarena/simulation-v0")` |
| Agents | `user_0`, `simulator_0`, `judge_0`; `simulator_1` instead of a user to compare two; 0 to 9 judges by option |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play simulation_v0 --policy user_0=human --policy simulator_0=random --policy judge_0=random` |
| Action values | a request as JSON; an answer, as it is; `Rating: [[5]]`, or `[[A]]`, `[[B]]`, `[[C]]` |
| Observation | two texts, and whether the turn is played without memory of earlier ones |

A model simulates something that answers requests (a terminal, a machine, a service), following the description of a task;
judges rate its answers.

With `mode="dialogue"` a user and a simulator talk. The user's first turn is the description of the task, which ends with
the first request. Then they alternate until the simulator has answered four times, and the judges rate its last
response, from 1 to 10. The user chooses a strategy for each request: 1, it is not content or there is an error; 2, a
related request; 3, a rarer or harder one; 4, another.

With `mode="script"` a dialogue that ends with a request is given; the simulator answers once, and that is rated. With
`mode="pairwise"` two simulators answer the same script at once, without seeing each other, and judges compare the answers,
always in both orders: a judge prefers an answer that it calls better both times, else neither.

Some tasks have an *engine*: a program that answers exactly as described, such as a database. It also answers every
request, so each answer is checked for exactness in addition to the judges' ratings. No agent ever reads the engine's
answers.

Source: SimulBench (arXiv 2409.07641), section 2.

### Arguments

* `mode="dialogue"`: `dialogue`, `script` or `pairwise`.
* `tasks="builtin"`: the tasks to simulate: `builtin` for the tasks of the package, the path of a file, or a list of
  records (below). A script has the engine of the task with the same description.
* `scripts=None`: the scripts of the modes `script` and `pairwise`: the path of a file, or a list of records; below. Without
  any, the description of each task is a script of one turn.
* `number=None`: number of the task or script in its list, from 0; `None` draws it from the seed.
* `task=None`: the name (`act`) of the task; `None` takes all.
* `turns=4`: number of the simulator's answers in a dialogue, 1 to 10.
* `n_judges=1`: number of judges, 0 to 9. Without judges a match has no result.
* `engine="auto"`: compare answers with the task's engine, if it has one; `"no_programs"`: except the engines of
  Python and the terminal, which run requests in the sandbox; `None`: never.
* `language="en"`: language of the texts and of the tasks that come with the package, `en` or `zh`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Tasks and Scripts of Your Own

Files are JSON lines or one JSON list in the fields of SimulBench's public files. A task has `act`, `task_description`
(which ends with the first request), `request_type`, `type` (`stateless` or `stateful`), and optionally `id`, `engine`,
`language`. The description of a task with an engine ends with a line `First request: ...`, the engine's first
request.

A CSV file of prompts with the columns `act` and `prompt` is accepted as well, such as the public prompt collections: `act`
is the name, `prompt` the description, and no `request_type` is known. A third column `type` says `stateless` or `stateful`;
without that column all tasks are stateful. Rows are not filtered: apply the paper's selection, which removes role-play and
fills placeholders, yourself.

A script has `id`, `source_id`, `act`, `task_description`, `type`, `source_file_name`, `turn_num` and
`dialogue_history`, a list of messages with `role` and `content` that ends with a user's request. Errors name the file
and the line.

### Observation Space

`rules` (the own role, the same at every turn), `text`, and `fresh_history`. The text holds the whole dialogue, the answers to
judge, and the instruction; agents need no memory. All messages, and the description of the task,
are quoted, with `>` before every line, so they cannot pass for a line of the environment or for a rating;
judges read the dialogue as a JSON list. `fresh_history` is 1 if judges compare in the second order, without
memory of the first.

A simulator that is a language model reads the dialogue in native turns by default, word for word and behind a plain system
prompt, its own answers as `assistant`. `history="single_turn"` gives it the quoted text.

### Action Space

Text. A user replies with `{"user": {"strategy": 2, "request": "..."}}`; a reply in another form is taken as the request
itself, with the strategy 4, and counted. A simulator's reply is its answer, without reasoning, control
characters and surrounding blank lines; other text around the content is judged as part of the answer. It can be empty;
`simulator_0:` and nothing else is an empty answer too. Requests and answers are cut after 15,000 characters.

A judge ends its reply with its rating in double brackets, a number from 1 to 10 with decimals or without, or with its
verdict, `[[C]]` for neither, on a line of its own; it is read by the
[rule for all judges](../judges.md#how-a-judges-reply-is-read). `abstain` gives no rating; neither does a text without a clear
one that is passed to `step`.

The standard fallback is `noop`: an empty request, an empty answer, or an abstention.

### Rewards

At the end. The simulator receives the mean of the judges' ratings, 1 to 10; with `pairwise` +1 for the one that most judges
prefer, -1 for the other one, 0 for both if it is a tie. User and judges receive 0. If all judges abstained the match has no
result: it is counted and not rated. An illegal action (`None`, or no text) ends the match: the offender receives -1, the
other one of two simulators +1, all others 0; if the offender is a user or a judge, the match has no result.

### Infos

Numbers, -1 before the end or if undefined. For all agents: `task` (number of the task or script), `stateful` (0 or 1),
`engine` (whether the task has one), `abstentions` (judges without a rating or verdict). For simulators: `exact` (whether the
last answer equals the engine's, 1 or 0, up to blanks at the ends of lines and a fence around it), `exact_share` (the same over
all own answers), in dialogues `exact_1` and so on by turn, `format_flawed` (whether the last answer has the right content
within other text), `turns` (of the dialogue, history included), `words` (of the last answer), numbers of `empty` and
`truncated` answers; `spread` (standard deviation of the judges' ratings), or with `pairwise` `side` (0 for A, 1 for B) and
`votes`. For users: `strategy_2` and so on by turn, numbers of `unformatted`, `empty` and `truncated` requests, `turns`. For
judges: `rating`, or with `pairwise` `verdict` and `verdict_swapped` (in the second order, translated to the true sides): 0 for
A, 1 for B, 2 for neither; the number of missing judgements (`abstained`). With `pairwise` all agents have `winner`.

### Episode End

When the judges have judged: after at most `turns` answers, one request less, and `n_judges` turns in a dialogue, 8 by
default; 1 + `n_judges` for a script, and 2 + 2 * `n_judges` with `pairwise`; or by an illegal action.

### Version History

* v0: Initial version
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from llmarena_envs.core.declaration import Declaration, Truth, Verdicts
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.core.options import check_choice
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.source import Source
from llmarena_envs.core.text_env import MAX_ACTION_TEXT, TextEnv
from llmarena_envs.core.transcript import Scene
from llmarena_envs.simulation.drawing import SimulationDrawing
from llmarena_envs.simulation.game import CHANNELS, Simulation
from llmarena_envs.simulation.protocol import AUTO, DIALOGUE, NO_PROGRAMS
from llmarena_envs.simulation.scripts import Scripts, load_scripts
from llmarena_envs.simulation.tasks import BUILTIN, Tasks, load_tasks, task_source
from llmarena_envs.simulation.text import SimulationCodec
from llmarena_envs.simulation.transcript import Transcriber


class raw_env(TextEnv):
    """Simulation as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "simulation_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="mean_reward",
        channels=CHANNELS,
        rated_roles=("simulator",),
        results="scores",
        verdicts=Verdicts(
            first="verdict",
            final="verdict",
            swapped="verdict_swapped",
            length="words",
            score="rating",
        ),
        truths=(Truth("engine", "exact", "simulator"),),
        abilities=("simulation", "instruction following", "state tracking"),
        history="full",
        unparsable="noop",
        illegal="noop",
    )
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    fresh_turns: ClassVar[bool] = True
    # All hold a request, an answer and a judgement; the role selects one.
    action_examples: ClassVar[tuple[str, ...]] = tuple(
        f'{{"user": {{"strategy": {strategy}, "request": "show {strategy}"}}}}\n[[{strategy}]] [[{verdict}]]'
        for strategy, verdict in enumerate("ABCA", start=1)
    )
    game: Simulation
    codec: SimulationCodec

    def __init__(
        self,
        *,
        mode: str = DIALOGUE,
        tasks: Tasks = BUILTIN,
        scripts: Scripts | None = None,
        number: int | None = None,
        task: str | None = None,
        turns: int = 4,
        n_judges: int = 1,
        engine: str | None = AUTO,
        language: str = "en",
        obs_type: str = "text",
        render_mode: str | None = None,
    ) -> None:
        check_choice("language", language, Prompts.languages("llmarena_envs.simulation"))
        loaded = load_tasks(tasks, language)
        game = Simulation(
            loaded,
            () if scripts is None else load_scripts(scripts, loaded),
            mode=mode,
            number=number,
            act=task,
            turns=turns,
            n_judges=n_judges,
            engine=engine,
            language=language,
        )
        self._sources = [task_source(tasks, language, len(loaded))]
        if scripts is not None:
            self._sources.append(task_source(scripts, language, len(game.scripts)))
        super().__init__(game, SimulationCodec(language, mode), obs_type=obs_type, render_mode=render_mode)

    def read_action(self, action: Any, agent: str) -> Any:
        """Converts a text to an action of the game; an incomplete one is an empty request or an abstention.

        Raises:
            InvalidReply: if it is not a string.
        """
        try:
            return super().read_action(action, agent)
        except InvalidReply:
            if not isinstance(action, str) or len(action) > MAX_ACTION_TEXT:
                raise
            return self.game.default_action(agent)

    def cases(self) -> dict[str, list[int]]:
        """Returns task or script numbers, cycling through the types: all simulators play the same ones."""
        return {"number": self.game.numbers_by_turns()}

    def sources(self) -> tuple[Source, ...]:
        """Returns the sources and numbers of the tasks and scripts."""
        return tuple(self._sources)

    def make_drawing(self) -> SimulationDrawing:
        """Returns the drawing of the dialogue and judgements."""
        return SimulationDrawing(self.codec.language, self.game)

    def transcript(self) -> tuple[Scene, ...]:
        """Returns the dialogue with engine answers, the judgements, and the result."""
        prompts = Prompts("llmarena_envs.simulation", self.codec.language)
        return tuple(Transcriber(self.game, prompts).scenes())

    @classmethod
    def transcript_options(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the options without engines that run programs."""
        return {**options, "engine": NO_PROGRAMS if options.get("engine", AUTO) else None}

    def lacks_sandbox(self) -> bool:
        """Returns whether the task's engine is unavailable for lack of an isolating sandbox."""
        return self.game.lacks_engine


env = order_checked(raw_env)
