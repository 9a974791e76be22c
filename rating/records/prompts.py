"""What models were sent in recorded matches: put together again by the same code, and compared with its fingerprint."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from pettingzoo import AECEnv

from agents.models.prompts.history import Message
from agents.models.prompts.prompter import FORM, PROMPT, Prompter, PromptForm, fingerprint, read_form
from agents.models.server.abilities import change_roles
from agents.player import Player
from agents.records import Attempt, Turn
from agents.retelling import retell
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.core.options import OptionError
from rating.records.environments import recorded_environment
from rating.records.match import Match
from rating.records.record import Record


class Prompts(NamedTuple):
    """What models were sent in a match.

    Attributes:
        sent: the messages by the numbers of the turn and of the attempt in it; those of which it is certain.
        missing: why those of other attempts are not known, or an empty string.
    """

    sent: Mapping[tuple[int, int], list[Message]]
    missing: str = ""


class PromptReader:
    """Finds out what models were sent.

    Args:
        settings: by environment, what was done about replies that are no legal move.
    """

    def __init__(self, settings: Mapping[str, TurnSettings]) -> None:
        self._settings = settings
        self._environments: dict[str, AECEnv] = {}

    def read(self, record: Record) -> Prompts:
        """Plays a match again, as far as it goes, and listens to what its models are told."""
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
            # Of an environment that may be gone, or somebody's own: its matches are shown all the same.
            return Prompts(sent, f"{type(error).__name__}: {error}")
        return Prompts(sent, "" if len(sent) == len(asked) else "they do not come out as they were sent")

    def _hear(self, record: Record) -> Iterator[tuple[Turn, int, list[Message]]]:
        """Yields what was said to the models of a match: turn, number of the reply in it, messages."""
        match = record.match
        env = self._environment(match)
        listeners = {agent: listener for agent in env.possible_agents if (listener := _listener(agent, record.turns))}
        players = {agent: Player(listener) for agent, listener in listeners.items()}
        settings = self._settings.get(match.environment, STANDARD_TURNS)
        for turn, number, observation in retell(env.unwrapped, record.turns, match.seed, settings, players):
            yield turn, number, listeners[turn.agent].hear(observation, turn.attempts[number].reply)

    def _environment(self, match: Match) -> AECEnv:
        key = json.dumps([match.environment, match.options], sort_keys=True)
        if key not in self._environments:
            self._environments = {key: recorded_environment(match)}
        return self._environments[key]


class _Listener:
    """Sits where a model played, and is never asked."""

    reads: ClassVar[str] = "text"

    def __init__(self, form: PromptForm) -> None:
        self.wants_update = form.memory.updates
        self.wants_chat = form.memory.wants_chat
        self._prompter = Prompter(form)

    def hear(self, observation: Mapping[str, Any], reply: str) -> list[Message]:
        """Returns what was sent, and takes note of the reply."""
        messages = self._prompter.hear(observation)
        self._prompter.remember(reply)
        return messages

    def __call__(self, observation: Any) -> Any:
        raise NotImplementedError("nobody is asked when a match is told again")


def _listener(agent: str, turns: tuple[Turn, ...]) -> _Listener | None:
    """Returns who listens in place of an agent, or ``None`` where no model played.

    Raises:
        OptionError: if its messages cannot be put together again.
    """
    for turn in turns:
        for attempt in turn.attempts if turn.agent == agent else ():
            if FORM in (attempt.detail or {}):
                return _Listener(read_form((attempt.detail or {})[FORM]))
    return None


def _adapted(attempt: Attempt) -> Mapping[str, str]:
    adapted = (attempt.detail or {}).get("adapted")
    return adapted if isinstance(adapted, dict) else {}
