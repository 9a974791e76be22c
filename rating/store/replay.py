"""Replay of recorded matches, without calling their policies: positions, transcripts, pictures and prompts."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from pettingzoo import AECEnv

from agents.chat import Message
from agents.models.prompts.conversation import FREE_REPLY, PROMPT, Conversation, fingerprint
from agents.models.prompts.form import FORM, PromptForm, read_form
from agents.models.server.abilities import change_roles
from agents.play import Streams
from agents.player import Player
from agents.records import Attempt, Turn
from agents.retelling import retell
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.core.transcript import Scene
from rating.store.environments import load_environment, make_environment
from rating.store.records import Match, Record


def recorded_environment(match: Match) -> AECEnv:
    """Makes the environment to replay a recorded match; raises the errors of ``make_environment``."""
    return make_environment(match.environment, load_environment(match.environment).replaying_options(match.options))


class Replay:
    """Replays a match from its record, turn by turn.

    Args:
        match: the match.

    Attributes:
        env: the environment after the replayed turns.
        turns: number of replayed turns.

    Raises:
        Exception: any error of the environment, e.g. if it is not installed; ``play`` raises these too.
    """

    def __init__(self, match: Match) -> None:
        options = load_environment(match.environment).transcript_options(match.options)
        env = make_environment(match.environment, dict(options))
        env.reset(seed=Streams(match.seed).game())
        self.env: TextEnv = env.unwrapped
        self.turns = 0
        self._digest = ""

    def leads_to(self, turns: tuple[Turn, ...]) -> bool:
        """Returns whether the replayed turns are the first of ``turns``."""
        return self.turns <= len(turns) and (not self.turns or turns[self.turns - 1].digest == self._digest)

    def play(self, turn: Turn) -> str:
        """Plays the next turn and returns an empty string, or the reason why the turn does not match the replay.

        The agent and its observation must be the same as recorded.
        """
        env = self.env
        if env.agent_selection != turn.agent or env.observe(turn.agent)["text"] != turn.read:
            return f"turn {turn.index + 1}: the observation of {turn.agent} differs from the record"
        env.step(turn.action)
        self.turns, self._digest = self.turns + 1, turn.digest
        return ""


class Story(NamedTuple):
    """The transcript of a match.

    Attributes:
        scenes: scenes of the transcript; empty if the environment has none.
        missing: why the transcript and pictures could not be made, or an empty string.
        pictures: SVG of the spectator's view at the beginning and after every turn; empty unless requested.
    """

    scenes: tuple[Scene, ...] = ()
    missing: str = ""
    pictures: tuple[str, ...] = ()


def tell(record: Record, *, draw: bool = False) -> Story:
    """Replays a match and returns its transcript.

    Args:
        record: the match.
        draw: whether to draw pictures.
    """
    match = record.match
    try:
        environment = load_environment(match.environment)
        if not record.turns or (environment.transcript is TextEnv.transcript and not draw):
            return Story()
        replay = Replay(match)
        pictures = [replay.env.draw()] if draw else []
        for turn in record.turns:
            if missing := replay.play(turn):
                return Story(missing=missing)
            if draw:
                pictures.append(replay.env.draw())
        return Story(replay.env.transcript(), pictures=tuple(pictures))
    except Exception as error:
        # Third-party environments can fail or be missing; their matches are shown anyway.
        return Story(missing=f"{type(error).__name__}: {error}")


class Prompts(NamedTuple):
    """Prompts of the models in a match.

    Attributes:
        sent: messages by turn index and attempt number; only prompts that match their fingerprint.
        missing: why other prompts are missing, or an empty string.
    """

    sent: Mapping[tuple[int, int], list[Message]]
    missing: str = ""


class PromptReader:
    """Rebuilds the prompts of matches.

    Args:
        settings: invalid-reply policy by environment.
    """

    def __init__(self, settings: Mapping[str, TurnSettings]) -> None:
        self._settings = settings
        self._environments: dict[str, AECEnv] = {}

    def read(self, record: Record) -> Prompts:
        """Replays a match up to the first error and returns the prompts of its models."""
        asked = [attempt for turn in record.turns for attempt in turn.attempts if PROMPT in (attempt.detail or {})]
        if not asked:
            return Prompts({})
        sent = {}
        try:
            for turn, number, messages in self._hear(record):
                attempt = turn.attempts[number]
                if (attempt.detail or {}).get(PROMPT) == fingerprint(messages):
                    sent[turn.index, number] = change_roles(messages, _adapted(attempt))
        except OptionError as error:
            return Prompts({}, str(error))
        except Exception as error:
            # Third-party environments can fail or be missing; their matches are shown anyway.
            return Prompts(sent, f"{type(error).__name__}: {error}")
        return Prompts(sent, "" if len(sent) == len(asked) else "they do not come out as they were sent")

    def _hear(self, record: Record) -> Iterator[tuple[Turn, int, list[Message]]]:
        """Yields turn, attempt number and messages for every prompt of a match."""
        match = record.match
        env = self._environment(match)
        listeners = {agent: listener for agent in env.possible_agents if (listener := _listener(agent, record.turns))}
        players = {agent: Player(listener) for agent, listener in listeners.items()}
        settings = self._settings.get(match.environment, STANDARD_TURNS)
        for turn, number, observation in retell(env.unwrapped, record.turns, match.seed, settings, players):
            yield turn, number, listeners[turn.agent].hear(observation, turn.attempts[number])

    def _environment(self, match: Match) -> AECEnv:
        key = json.dumps([match.environment, match.options], sort_keys=True)
        if key not in self._environments:
            self._environments = {key: recorded_environment(match)}
        return self._environments[key]


class _Listener:
    """Takes the place of a model in a replay; is never called."""

    reads: ClassVar[str] = "text"

    def __init__(self, form: PromptForm, *, wants_form: bool) -> None:
        self.wants_update = form.memory.updates
        self.wants_form = wants_form
        self.wants_chat = form.memory.wants_chat
        self._conversation = Conversation(form)

    def hear(self, observation: Mapping[str, Any], attempt: Attempt) -> list[Message]:
        """Returns the messages of an attempt, of the second call if there were two, and records the reply."""
        messages = self._conversation.hear(observation)
        if FREE_REPLY in (attempt.detail or {}):
            messages = self._conversation.restate(str((attempt.detail or {})[FREE_REPLY]), observation["form"])
        self._conversation.remember(attempt.reply)
        return messages

    def __call__(self, observation: Any) -> Any:
        raise NotImplementedError("a replay calls no policy")


def _listener(agent: str, turns: tuple[Turn, ...]) -> _Listener | None:
    """Returns the listener for an agent, or ``None`` if it was not a model.

    Raises:
        OptionError: if its prompts cannot be rebuilt.
    """
    details = [attempt.detail or {} for turn in turns if turn.agent == agent for attempt in turn.attempts]
    form = next((detail[FORM] for detail in details if FORM in detail), None)
    if form is None:
        return None
    return _Listener(read_form(form), wants_form=any(FREE_REPLY in detail for detail in details))


def _adapted(attempt: Attempt) -> Mapping[str, str]:
    adapted = (attempt.detail or {}).get("adapted")
    return adapted if isinstance(adapted, dict) else {}
