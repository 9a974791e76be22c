"""Rebuilds the prompts of recorded matches and checks them against the recorded fingerprints."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from pettingzoo import AECEnv

from agents.models.prompts.history import Message
from agents.models.prompts.prompter import FORM, FREE_REPLY, PROMPT, Prompter, PromptForm, fingerprint, read_form
from agents.models.server.abilities import change_roles
from agents.player import Player
from agents.records import Attempt, Turn
from agents.retelling import retell
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.core.options import OptionError
from rating.store.environments import recorded_environment
from rating.store.match import Match
from rating.store.record import Record


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
        self._prompter = Prompter(form)

    def hear(self, observation: Mapping[str, Any], attempt: Attempt) -> list[Message]:
        """Returns the messages of an attempt, of the second call if there were two, and records the reply."""
        messages = self._prompter.hear(observation)
        if FREE_REPLY in (attempt.detail or {}):
            messages = self._prompter.restate(str((attempt.detail or {})[FREE_REPLY]), observation["form"])
        self._prompter.remember(attempt.reply)
        return messages

    def __call__(self, observation: Any) -> Any:
        raise NotImplementedError("nobody is asked when a match is told again")


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
