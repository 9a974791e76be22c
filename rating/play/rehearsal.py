"""Rehearsals: matches between scripted players, with real prompts that are measured but not sent."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pettingzoo import AECEnv

from agents.baselines.general import BASELINES
from agents.errors import ProviderError
from agents.models.service import ModelService, Target
from agents.play import play_async
from agents.player import seat_players
from agents.policy import Policy, Reply
from agents.registry import baselines, make_policy
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.text_length import TOKEN, WordCounter
from rating.config.run_file import RunConfig
from rating.store.environments import load_environment, make_environment
from rating.store.match import Match
from rating.store.outcome import Outcome
from rating.store.record import outcome_of

MODELS = "openai:"
"""Spec prefix of the policies with requests sent by our service, which can be intercepted."""

RANDOM = "random"

Part = tuple[str, ...]
"""The roles of a policy in a match."""

_FRAME = 4
"""Tokens that a chat template adds per message."""

_WORDS_PER_TOKEN = 0.75
_NO_LIMIT = 2**31


@dataclass
class Talk:
    """Usage of a policy in one match."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


def parts_of(match: Match, agents: Sequence[str]) -> dict[str, Part]:
    """Returns the roles of each policy of a match by name, one role per seat."""
    parts: dict[str, Part] = {}
    for agent, policy in zip(agents, match.policies, strict=True):
        parts[policy] = tuple(sorted((*parts.get(policy, ()), role_of(agent))))
    return parts


@dataclass(frozen=True)
class Rehearsal:
    """A match between scripted players.

    Attributes:
        match: the match.
        outcome: its outcome.
        parts: of each policy; see ``parts_of``.
        talks: usage of each policy that is a model.
    """

    match: Match
    outcome: Outcome
    parts: Mapping[str, Part]
    talks: Mapping[str, Talk] = field(repr=False)


async def rehearse(config: RunConfig, match: Match, reply_tokens: int) -> list[Rehearsal]:
    """Plays a match once per script of its game, with the requests that its models would send.

    Args:
        config: the run.
        match: a match of the run.
        reply_tokens: tokens per reply, unless the request allows fewer.
    """
    played = []
    for style in _styles(match.environment):
        try:
            played.append(await _play(config, match, style, reply_tokens))
        except ProviderError:  # the script does not support all seats or these options
            if style == RANDOM:
                raise
    return played


def _styles(environment: str) -> list[str]:
    """Returns the scripts for rehearsals: random play, and the game's own baselines if moves are enumerated.

    The baselines make matches longer or shorter. Baselines with text moves play roles, some of them absurd, and are left out.
    """
    if load_environment(environment).action_examples:
        return [RANDOM]
    return [RANDOM, *sorted(baselines(environment).keys() - BASELINES.keys())]


async def _play(config: RunConfig, match: Match, style: str, reply_tokens: int) -> Rehearsal:
    env = make_environment(match.environment, match.options)
    talks: defaultdict[str, Talk] = defaultdict(Talk)
    players: dict[str, Policy] = {}
    for agent, name in zip(env.possible_agents, match.policies, strict=True):
        policy = config.find_policy(name)
        model = None
        if policy.spec.startswith(MODELS):
            service = _Meter(talks[name], reply_tokens)
            model = make_policy(policy.spec, match.environment, policy.options, service=service)
        players[agent] = _Rehearser(env, make_policy(style, match.environment), model)
    try:
        episode = await play_async(env, seat_players(players), match.seed, config.turn_settings(match.environment))
    finally:
        env.close()
    agents = list(env.possible_agents)
    return Rehearsal(match, outcome_of(match, agents, episode), parts_of(match, agents), dict(talks))


class _Rehearser:
    """Plays by script after a model has made its request."""

    def __init__(self, env: AECEnv, script: Policy, model: Policy | None) -> None:
        self._env = env.unwrapped
        self._script: Any = script
        self._model: Any = model
        self.wants_legal = bool(getattr(model, "wants_legal", False))
        self.wants_update = bool(getattr(model, "wants_update", False))
        self.wants_form = bool(getattr(model, "wants_form", False))
        self.wants_chat = bool(getattr(model, "wants_chat", False))

    def reset(self, agent: str, seed: int) -> None:
        self._agent = agent
        self._replies: list[str] = []
        self._script.reset(agent, seed)
        if self._model is not None:
            self._model.reset(agent, seed)

    async def __call__(self, observation: Any) -> Any:
        if self._model is not None:
            self._replies.append((await self._model(self._with_replies(observation))).text)
        if self._script.reads == "draw":
            return self._script(partial(self._env.random_action, self._agent))
        return self._script(self._env.view(self._agent))

    def _with_replies(self, observation: Any) -> Any:
        """Returns an observation with the model's replies in its chat instead of the script's."""
        if "chat" not in observation:
            return observation
        chat = list(observation["chat"])
        own = [number for number, message in enumerate(chat) if message.role == "assistant"]
        for number, reply in zip(reversed(own), reversed(self._replies), strict=False):
            chat[number] = chat[number]._replace(content=reply)
        return {**observation, "chat": tuple(chat)}


class _Meter(ModelService):
    """Measures requests instead of sending them, and replies with placeholder text of the expected length."""

    def __init__(self, talk: Talk, reply_tokens: int) -> None:
        super().__init__(offline=True)
        self._talk = talk
        self._reply_tokens = reply_tokens
        self._counter = WordCounter("en")

    async def complete(self, target: Target, request: Mapping[str, Any], *, agent: str, sample: str) -> Reply:
        written = min(self._reply_tokens, *(_limit(request, name) for name in ("max_completion_tokens", "max_tokens")))
        read = sum(_FRAME + self._length(message.get("content")) for message in request["messages"])
        self._talk.calls += 1
        self._talk.prompt_tokens += read
        self._talk.completion_tokens += written
        text = " ".join(["word"] * max(1, round(_WORDS_PER_TOKEN * written)))
        return Reply(text, prompt_tokens=read, completion_tokens=written)

    def _length(self, content: object) -> int:
        return -(-self._counter.length(content if isinstance(content, str) else str(content)) // TOKEN)


def _limit(request: Mapping[str, Any], name: str) -> int:
    value = request.get(name)
    return value if type(value) is int else _NO_LIMIT
