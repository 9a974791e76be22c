"""Deals as a taskset of verifiers, each played as a match: against opponents, or in self-play with a trace per seat.

Every rated seat of the game is a role of the environment, e.g. ``player_0``: it can have a model of its own, and trainers that
keep a baseline per role, as prime-rl's ``rae`` does, keep one per seat.

The name of the taskset is ``llmarena-verifiers``:

    vf-eval llmarena-verifiers --env.taskset.environment tictactoe_v0 --env.taskset.opponent minimax -m MODEL -r 8 --no-push

A trace holds the conversation of one seat; its nodes hold token ids, masks and log probabilities in the format of verifiers. Its
reward is the match's, its metrics count outcomes of replies, and its task's key is the deal's group: rollouts of the same task
play the same deal.
"""

import ssl
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Literal

from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic import Field, ValidationError, create_model

from agents.errors import ProviderError
from agents.integrations import importing
from agents.policy import Reply
from agents.training import Deal, Match, Question, deals
from agents.training.deals import rated_seats
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError

with importing("verifiers"):
    import verifiers.v1 as vf
    from verifiers.v1.configs.agent import agent_config_fields
    from verifiers.v1.dialects.chat import message_to_wire

_KINDS = [kind.name.lower() for kind in Failure if kind <= Failure.ILLEGAL]

_SEAT = vf.AgentConfig(runtime=vf.SubprocessConfig())

_TLS = ssl.create_default_context()  # created once: reading the certificates takes longer than a reply over loopback


class DealData(vf.TaskData):
    """A row: the deal in the format of ``Deal.to_json``."""

    deal: str


class DealTask(vf.Task[DealData, vf.State, vf.TaskConfig]):
    """A deal to play."""

    @property
    def key(self) -> str:
        """The deal's group."""
        return self.deal.group

    @property
    def deal(self) -> Deal:
        """The deal."""
        return Deal.from_json(self.data.deal, trusted=True)


class DealsConfig(vf.TasksetConfig):
    """Options of the deals; other fields are as in ``agents.training.deals``.

    Attributes:
        first_seed: the first seed.
        seeds: number of seeds.
        history: earlier turns in a question; see ``agents.chat.Chat``.
    """

    environment: str = "tictactoe_v0"
    opponent: str | None = "random"
    staff: dict[str, str] = Field(default_factory=dict)
    options: dict[str, Any] | None = None
    first_seed: int = Field(0, ge=0)
    seeds: int = Field(1000, ge=1)
    history: Literal["updates", "full", "single_turn"] = "updates"


class DealTaskset(vf.Taskset[DealTask, DealsConfig]):
    """Every seed once per rated seat of the learner; in self-play every seed once."""

    def load(self) -> Iterator[DealTask]:
        """Yields the tasks."""
        config = self.config
        seeds = range(config.first_seed, config.first_seed + config.seeds)
        for deal in deals(config.environment, seeds, config.opponent, staff=config.staff, options=config.options):
            name = f"{deal.environment}#{deal.seed}:{','.join(deal.learners)}"
            yield DealTask(DealData(name=name, deal=deal.to_json()), config.task)


class DealHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model in this process: one call per reply, no tools."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Sends the conversation from its last rules message."""
        messages = [message_to_wire(message) for message in data.prompt]
        begin = max(index for index, message in enumerate(messages) if message["role"] == "system")
        http = DefaultAsyncHttpxClient(verify=_TLS)
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, http_client=http) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages[begin:])
        return vf.ProgramResult(0, "", "")


class MatchEnvConfig(vf.EnvConfig):
    """Has a role for each rated seat of the game, named as the seat.

    ``model_validate`` adds the roles, because only the options of the taskset name the game. A seat without a model of its own
    plays with the model of the run.
    """

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> "MatchEnvConfig":
        """Returns a configuration with the seats of the game as roles.

        Raises:
            OptionError: if there is no such environment or option, or the name of a seat cannot name a role.
        """
        has_roles = any(isinstance(each.default, vf.AgentConfig) for each in cls.model_fields.values())
        if has_roles or not isinstance(obj, dict) or obj.get("taskset") is None:
            return super().model_validate(obj, **options)
        try:
            taskset = DealsConfig.model_validate(obj["taskset"])
        except ValidationError:
            return super().model_validate(obj, **options)  # its error names the field of the whole configuration
        seats = rated_seats(taskset.environment, taskset.options)
        for seat in seats:
            if not seat.isidentifier() or hasattr(cls, seat) or seat in cls.model_fields:
                raise OptionError(f"seat {seat!r} of {taskset.environment}: expected the name of a role, e.g. player_0")
        roles: dict[str, Any] = dict.fromkeys(seats, (vf.AgentConfig, _SEAT))
        return create_model(cls.__name__, __base__=cls, **roles).model_validate(obj, **options)


class MatchEnv(vf.Env[MatchEnvConfig]):
    """Plays one match per task.

    Traces of a seat with its own model or client are not trainable. A provider failure of a learner or an opponent makes the
    match void: the episode fails, and can be retried. A learner whose run has ended by a limit on tokens or turns gives empty
    replies; the match continues with fallbacks.
    """

    async def setup(self, agents: vf.Agents) -> None:
        """Freezes the seats that another model plays."""
        for seat, role in agent_config_fields(self.config).items():
            getattr(agents, seat).trainable = role.model is None and role.client is None

    async def run(self, task: DealTask, agents: vf.Agents) -> None:
        """Plays the match and records its result."""
        deal = task.deal
        opponents = deal.drawn_opponents()
        match = replace(deal, opponents=opponents).match(history=self.taskset.config.history)
        task_of_seat = task.with_data(prompt=None, system_prompt=None)
        seats: dict[str, vf.Interaction] = {}
        try:
            async with AsyncExitStack() as stack:

                async def sit(agent: str) -> None:
                    seats[agent] = await stack.enter_async_context(getattr(agents, agent).interaction(task_of_seat))
                    seats[agent].trace.info.update(
                        group=deal.group,
                        match=match.id,
                        seat=agent,
                        baseline=deal.baseline(agent),
                        opponents=opponents,
                    )

                question = await match.start()
                while question is not None:
                    agent = question.agent
                    if agent not in seats:  # the trace of a learner that is never asked would have no tokens
                        await sit(agent)
                    question = await match.reply(await _ask(seats[agent], question, task.data.system_prompt))
                for agent in () if seats else match.learners:  # an episode must have a trace
                    await sit(agent)
        except ProviderError as error:
            raise vf.ProviderError(f"{error.agent}: {error}", status_code=error.http_status or 502) from error
        finally:
            await match.close()
        for agent, seat in seats.items():
            _record(seat.trace, match, agent)


async def _ask(seat: vf.Interaction, question: Question, preface: str | None) -> Reply:
    """Returns the reply of the learner on a seat."""
    messages = list(question.unsent)
    if preface and not question.continues:
        messages[0] = {"role": "system", "content": f"{preface}\n\n{messages[0]['content']}"}
    if seat.trace.stop_condition is None:
        segment = await seat.turn(messages)
        if not segment.terminated:
            text = segment.messages[-1].content or ""
            cut = seat.trace.calls[-1].finish_reason == "length"
            return Reply(text, Failure.TRUNCATED if cut else Failure.OK)
    if seat.trace.errors:
        raise vf.EnvError(
            f"the match is void, since {question.agent} could not be asked: {seat.trace.last_error.message}"
        )
    return Reply("")


def _record(trace: vf.Trace, match: Match, agent: str) -> None:
    assert match.episode is not None
    trace.record_reward("match", match.reward(agent))
    kinds = Counter(step.kind.name.lower() for step in match.steps if step.agent == agent)
    trace.record_metrics({f"replies_{kind}": kinds[kind] for kind in _KINDS})
    trace.record_metric("forfeit", bool(match.episode.forfeit(agent)))
    trace.record_metric("undecided", match.episode.undecided)
    trace.info["digest"] = match.episode.digest
