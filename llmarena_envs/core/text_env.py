"""TextEnv: the PettingZoo base class of all games."""

import operator
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import logger, spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.drawing import Drawing, TextDrawing
from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import Failure, InvalidReply, ParseError
from llmarena_envs.core.game import NO_CHANCE, Game
from llmarena_envs.core.options import check_choice
from llmarena_envs.core.pixels import pixels_of
from llmarena_envs.core.reading.markup import ends_in_reasoning
from llmarena_envs.core.source import Source
from llmarena_envs.core.space import UnicodeText
from llmarena_envs.core.terminal import printable
from llmarena_envs.core.transcript import Scene

MAX_TEXT = 1_000_000
"""Maximum number of characters of a text observation."""

MAX_ACTION_TEXT = 100_000
"""Maximum number of characters of a text action."""

_TRUTH_VALUES = (bool, np.bool_)


@lru_cache(maxsize=4096)
def _mask(legal: Sequence[int], size: int) -> NDArray[np.int8]:
    mask = np.zeros(size, dtype=np.int8)
    mask[list(legal)] = 1
    return mask


Language = Literal["en", "zh"]
ObsType = Literal["text", "vector"]
RenderMode = Literal["ansi", "human", "svg", "rgb_array"]


class TextEnv(AECEnv):
    """A PettingZoo AEC environment made of a game and a codec.

    A subclass sets its name in ``metadata``, passes its game and codec, and overrides ``encode`` and ``vector_space`` if
    it has numeric observations.

    Args:
        game: the rules.
        codec: texts for players, and parsing of replies.
        obs_type: ``"text"`` for ``Dict(rules, text[, action_mask])``, ``"vector"`` for ``Dict(observation, action_mask)``.
        render_mode: ``"ansi"`` returns the position as text, ``"svg"`` as a drawing, ``"rgb_array"`` its pixels (only if all
            drawings of a match have the same size), ``"human"`` prints the text after every step, ``None`` does nothing.

    Attributes:
        game: the rules and the present position; for spectators only, never for players.
        codec: the codec.
        max_turns: upper bound on the agent turns of a match.

    Every ``infos[agent]`` holds ``"illegal"`` (0, or the number of the ``Failure`` that made this agent forfeit the match)
    and the game's ``statistics`` for the agent; numbers only.
    """

    metadata: ClassVar[dict[str, Any]]
    title: ClassVar[str] = ""
    """Name of the game for people; by default the heading of the module's documentation."""
    declaration: ClassVar[Declaration] = Declaration()
    """The declaration: rating scheme, roles, options of rated matches."""
    obs_types: ClassVar[tuple[str, ...]] = ("text", "vector")
    fresh_turns: ClassVar[bool] = False
    """Whether some turns are answered without the history: views have ``fresh``, texts ``fresh_history``."""
    can_resample: ClassVar[bool] = True
    """Whether the game can redraw hidden information, which search needs; see ``Game.resample``."""
    action_examples: ClassVar[tuple[str, ...]] = ()
    """Texts that a text action space samples, for games without enumerated actions."""

    def __init__(
        self, game: Game[Any, Any], codec: Codec[Any, Any], *, obs_type: str = "text", render_mode: str | None = None
    ) -> None:
        check_choice("obs_type", obs_type, self.obs_types)
        if render_mode is not None:
            check_choice("render_mode", render_mode, self.metadata["render_modes"])
        super().__init__()
        self.game = game
        self.codec = codec
        self.obs_type = obs_type
        self.render_mode = render_mode
        self.possible_agents = list(game.agents)
        self.agents: list[str] = []
        self.max_turns = game.max_turns
        self._seed: int | None = None
        self._np_random: np.random.Generator | None = None
        self._rules = {agent: codec.rules(agent) for agent in game.agents}
        self._numeric = obs_type == "vector"
        self._num_actions = self.discrete_actions()
        # Created lazily: play by views and texts does not need them, and there can be thousands of environments.
        self._action_spaces: dict[str, spaces.Space[Any]] = {}
        self._observation_spaces: dict[str, spaces.Space[Any]] = {}
        self._has_statistics = type(game).statistics is not Game.statistics
        self._pending: dict[str, Any] = {}
        self._parsed: tuple[str, Any, Any] | None = None  # agent, text and move of the last parse in this position
        self._offences: dict[str, Failure] = {}
        self._totals: tuple[float, ...] = ()
        self._endings: dict[str, Ending] = {}
        self._over = False
        self._rewarded = False

    # Hooks for subclasses.

    def vector_space(self) -> spaces.Box:
        """Returns the space of ``encode``."""
        raise NotImplementedError(f"{self.metadata['name']} has no numeric observation")

    def encode(self, view: Any) -> NDArray[Any]:
        """Returns the numeric form of a view."""
        raise NotImplementedError(f"{self.metadata['name']} has no numeric observation")

    def discrete_actions(self) -> int | None:
        """Returns the size of the ``Discrete`` action space, or ``None`` for a text action space."""
        return self.game.num_actions

    def read_action(self, action: Any, agent: str) -> Any:
        """Converts a member of the action space to an action of the game.

        Raises:
            InvalidReply: if it is not a member.
        """
        if self._num_actions is None:
            if not isinstance(action, str) or len(action) > MAX_ACTION_TEXT:
                raise self._invalid(ParseError(Failure.UNPARSABLE, "no_text", limit=MAX_ACTION_TEXT), agent)
            return self._parse(action, self.game.view(agent))
        if type(action) is int:
            return action
        if isinstance(action, _TRUTH_VALUES):
            raise self._invalid(ParseError(Failure.UNPARSABLE, "no_integer", got=action), agent)
        try:
            return operator.index(action)
        except TypeError:
            raise self._invalid(
                ParseError(Failure.UNPARSABLE, "no_integer", got=type(action).__name__), agent
            ) from None

    def references(self) -> dict[str, float]:
        """Returns reference values for results of this environment, by name."""
        return {}

    def cases(self) -> Mapping[str, Sequence[Any]]:
        """Returns options varied across the deals of a run by default: name -> values, cycled.

        Every pairing of a tournament thus plays the same questions.
        """
        return {}

    def sources(self) -> tuple[Source, ...]:
        """Returns the sources of the data of matches, for the record of a run."""
        return ()

    def transcript(self) -> tuple[Scene, ...]:
        """Returns the transcript of the match, for a spectator who sees everything; empty by default."""
        return ()

    def make_drawing(self) -> Drawing[Any]:
        """Returns the drawing of positions; by default of their texts."""
        return TextDrawing(self.codec, self.metadata["name"])

    @classmethod
    def transcript_options(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the options for setting up a recorded match to get its transcript.

        They disable costly parts that do not affect the transcript. Up to the last turn every agent's texts must be the same
        as with the options of the match.

        Args:
            options: options of the match.
        """
        return options

    @classmethod
    def replaying_options(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the options for the replay of a recorded match.

        Records are untrusted: programs always run in an isolating sandbox, regardless of the options.

        Args:
            options: options of the match.
        """
        return options

    def lacks_sandbox(self) -> bool:
        """Says whether programs of this match are not run because this machine has no sandbox."""
        return False

    # PettingZoo's interface.

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the observation space of ``agent``: the same object at every call."""
        if agent not in self._observation_spaces:
            self._check_agent(agent)
            self._observation_spaces[agent] = self._make_observation_space()
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the action space of ``agent``: the same object at every call."""
        if agent not in self._action_spaces:
            self._check_agent(agent)
            self._action_spaces[agent] = self._make_action_space()
        return self._action_spaces[agent]

    @property
    def observation_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The observation spaces by agent, as in PettingZoo's own environments."""
        return {agent: self.observation_space(agent) for agent in self.possible_agents}

    @property
    def action_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The action spaces by agent."""
        return {agent: self.action_space(agent) for agent in self.possible_agents}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a new match.

        Args:
            seed: seed of the environment's own generator, a Python or NumPy integer; without a seed the generator continues, or
                is seeded by the operating system at the first reset.
            options: not used.
        """
        if seed is not None:
            self._seed, self._np_random = int(seed), None
        self.game.reset(self.np_random if self.game.has_chance else NO_CHANCE)
        agents = self.possible_agents
        self.agents = agents[:]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = self.rewards.copy()
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = self.terminations.copy()
        self.infos = self._new_infos()
        self.agent_selection = self.game.to_move[0]
        self._pending = {}
        self._parsed = None
        self._offences = {}
        self._totals = tuple(self.rewards.values())
        self._endings = {}
        self._over = False
        self._rewarded = False

    @property
    def np_random(self) -> np.random.Generator:
        """The generator of the environment; created at its first use, since this takes longer than a turn of a board game."""
        if self._np_random is None:
            self._np_random, _ = seeding.np_random(self._seed)
        return self._np_random

    def step(self, action: Any) -> None:
        """Acts for the selected agent.

        A legal action is applied immediately, or hidden until the last agent of a simultaneous stage has acted. Any other
        action (``None``, a value outside the action space, a text without a move) forfeits the match and never raises.

        Raises:
            ValueError: if the selected agent is terminated and ``action`` is not ``None``.
        """
        agent = self.agent_selection
        if self._over:
            self._leave(agent, action)
            return
        self._cumulative_rewards[agent] = 0.0
        if self._rewarded:
            self._clear_rewards()
            self._rewarded = False
        move = self._read_move(action, agent)
        stage = self.game.to_move
        if len(stage) == 1:
            self._resolve((move,))
        else:
            self._pending[agent] = move
            if len(self._pending) < len(stage):
                self.agent_selection = stage[len(self._pending)]
            else:
                moves = tuple(self._pending.values())
                self._pending = {}
                self._resolve(moves)
        if self.render_mode == "human":
            self.render()

    def _read_move(self, action: Any, agent: str) -> Any:
        """Returns the legal move of an action; otherwise records an offence of the agent."""
        parsed, self._parsed = self._parsed, None
        if parsed is not None and isinstance(action, str) and parsed[:2] == (agent, action):
            return parsed[2]
        try:
            move = self.read_action(action, agent)
        except InvalidReply as error:
            self._offences[agent] = error.kind
            return None
        if self.game.why_illegal(agent, move):
            self._offences[agent] = Failure.ILLEGAL
        return move

    def _leave(self, agent: str, action: Any) -> None:
        """Removes an agent from a finished match: PettingZoo's last step of each agent, here always for all agents in order."""
        if action is not None:
            raise ValueError(f"when an agent is dead, the only valid action is None, got {action!r}")
        for table in (self.rewards, self._cumulative_rewards, self.terminations, self.truncations, self.infos):
            del table[agent]
        if self._rewarded:
            self._clear_rewards()
            self._rewarded = False
        self.agents.remove(agent)
        if self.agents:
            self.agent_selection = self.agents[0]

    def _clear_rewards(self) -> None:
        """Clears the rewards; PettingZoo's own method writes ``int``, this one ``float``."""
        self.rewards = dict.fromkeys(self.rewards, 0.0)

    def _resolve(self, moves: tuple[Any, ...]) -> None:
        """Applies a complete stage, or ends the match if it contains an illegal action."""
        game = self.game
        if self._offences:
            rewards = game.forfeit(tuple(self._offences))
            self._over = True
        else:
            game.apply(moves)
            rewards = game.rewards
            self._over = not game.to_move
        if any(rewards):
            self.rewards = dict(zip(game.agents, rewards, strict=True))
            self._accumulate_rewards()
            self._totals = tuple(map(operator.add, self._totals, rewards))
            self._rewarded = True
        if self._has_statistics:
            self.infos = self._new_infos()
        if self._over:
            self._end()
        else:
            self.agent_selection = game.to_move[0]

    def _new_infos(self) -> dict[str, dict[str, float]]:
        if not self._has_statistics:
            return {agent: {"illegal": 0} for agent in self.possible_agents}
        statistics = self.game.statistics
        return {agent: {"illegal": 0, **statistics(agent)} for agent in self.possible_agents}

    def _end(self) -> None:
        """Ends the match for every agent."""
        agents, offenders = self.agents, tuple(self._offences)
        for agent, kind in self._offences.items():
            self.infos[agent] = {**self.infos[agent], "illegal": int(kind)}
        self._endings = {agent: Ending(total, offenders) for agent, total in zip(agents, self._totals, strict=True)}
        self.terminations = dict.fromkeys(agents, True)
        self.agent_selection = agents[0]

    def observe(self, agent: str) -> dict[str, Any]:
        """Returns the observation of ``agent``, also if it is not selected.

        Raises:
            KeyError: if there is no such agent.
        """
        rules = self._rules.get(agent)
        if rules is None:
            raise KeyError(f"expected one of {self.possible_agents}, got {agent!r}")
        if self._numeric:
            return self.vector(agent)
        view = self.view(agent) if self._over or self._pending else self.game.view(agent)
        text = self.codec.ending(view, self._endings[agent]) if self._over else self.codec.observation(view)
        observation: dict[str, Any] = {"rules": rules, "text": text}
        if self._num_actions is not None:
            observation["action_mask"] = self._action_mask(view)
        if self.fresh_turns:
            observation["fresh_history"] = int(view.fresh)
        return observation

    def render(self) -> str | NDArray[np.uint8] | None:
        """Returns (``"ansi"``, ``"svg"``, ``"rgb_array"``) or prints (``"human"``) the whole position.

        Raises:
            DependencyNotInstalled: with ``"rgb_array"``, if the extra ``pictures`` is not installed.
        """
        if self.render_mode is None:
            logger.warn(
                "render() does nothing without render_mode; make the environment with render_mode='ansi' or 'human'"
            )
            return None
        if self.render_mode == "svg":
            return self.draw()
        if self.render_mode == "rgb_array":
            return pixels_of(self.draw())
        picture = self.codec.picture(self.game)
        if self.render_mode == "ansi":
            return picture
        print(printable(picture))
        return None

    def close(self) -> None:
        """Releases nothing: the environment holds no resources."""

    # Texts and drawings outside the spaces: for policies, the harness and people.

    def draw(self, agent: str | None = None) -> str:
        """Draws the position as SVG.

        Args:
            agent: the agent whose view is drawn; by default a spectator, who sees everything.

        Raises:
            KeyError: if there is no such agent.
            ResetNeeded: before the first match.
        """
        if agent is not None:
            self._check_agent(agent)
        if not (self.agents or self._over):
            raise ResetNeeded("expected a match to draw: call reset() before draw()")
        if agent is not None:
            view, ending = self.view(agent), self.ending(agent)
            if ending and ending.offenders:
                return self._drawing.forfeited(view, ending.offenders)
            return self._drawing.seat(view)
        game = self.game
        if self._over and game.to_move:  # after a forfeit the game still has agents to move
            game = copy(game)
            game.to_move = ()
        return self._drawing.spectator(game)

    @cached_property
    def _drawing(self) -> Drawing[Any]:
        return self.make_drawing()

    def view(self, agent: str) -> Any:
        """Returns the view of ``agent``, without legal actions after the match or after its move."""
        view = self.game.view(agent)
        if view.to_move and (self._over or agent in self._pending):
            return view._replace(to_move=False, legal=())
        return view

    def ending(self, agent: str) -> Ending | None:
        """Returns the end of the match for ``agent``, or ``None`` while the match is running."""
        return self._endings[agent] if self._over else None

    def vector(self, agent: str) -> dict[str, NDArray[Any]]:
        """Returns the numeric observation of ``agent`` for any ``obs_type``: ``observation`` and ``action_mask``."""
        view = self.view(agent)
        return {"observation": self.encode(view), "action_mask": self._action_mask(view)}

    def parse(self, reply: str, agent: str) -> Any:
        """Parses a member of ``agent``'s action space from a reply.

        Raises:
            InvalidReply: with the kind of failure and a message for the player.
        """
        move = self._parse(reply, self.game.view(agent))
        self._check_move(move, agent)
        action = self.write_action(move, agent)
        if isinstance(action, str):
            self._parsed = agent, action, move
        return action

    def check_action(self, action: Any, agent: str) -> None:
        """Checks that ``action`` is a legal member of ``agent``'s action space.

        Raises:
            InvalidReply: with the reason, if it is not.
        """
        self._check_move(self.read_action(action, agent), agent)

    def write_action(self, move: Any, agent: str) -> Any:
        """Converts an action of the game to a member of the action space: the inverse of ``read_action``."""
        return self.codec.format(move, self.game.view(agent)) if self._num_actions is None else move

    def format(self, action: Any, agent: str) -> str:
        """Writes a legal member of ``agent``'s action space as a reply in the published grammar.

        Raises:
            InvalidReply: if ``action`` is not a member of the action space.
        """
        return self.codec.format(self.read_action(action, agent), self.game.view(agent))

    def random_action(self, agent: str, rng: np.random.Generator) -> Any:
        """Draws a legal member of ``agent``'s action space."""
        return self.write_action(self.game.random_action(agent, rng), agent)

    def default_action(self, agent: str) -> Any | None:
        """Returns the harmless member of ``agent``'s action space that the game declares, or ``None``."""
        move = self.game.default_action(agent)
        return None if move is None else self.write_action(move, agent)

    def _check_agent(self, agent: str) -> None:
        if agent not in self.possible_agents:
            raise KeyError(f"expected one of {', '.join(self.possible_agents)}, got {agent!r}")

    def _check_move(self, move: Any, agent: str) -> None:
        """Raises an ``InvalidReply`` with the reason if an action of the game is not legal."""
        reason = self.game.why_illegal(agent, move)
        if reason:
            raise InvalidReply(Failure.ILLEGAL, self.codec.explain(reason, self.game.view(agent)))

    def _parse(self, reply: str, view: Any) -> Any:
        if ends_in_reasoning(reply) if self.codec.may_be_empty(view) else not reply.strip():
            raise self._invalid(ParseError(Failure.EMPTY, "empty"), view.agent)
        return self.codec.parse(reply, view)

    def _invalid(self, error: ParseError, agent: str) -> InvalidReply:
        return InvalidReply(error.kind, self.codec.explain(error.reason, self.game.view(agent)))

    def _make_action_space(self) -> spaces.Space[Any]:
        if self._num_actions is None:
            return UnicodeText(MAX_ACTION_TEXT, examples=self.action_examples)
        return spaces.Discrete(self._num_actions)

    def _make_observation_space(self) -> spaces.Dict:
        size = self._num_actions
        members: dict[str, spaces.Space[Any]]
        if self._numeric:
            members = {"observation": self.vector_space()}
        else:
            members = {"rules": UnicodeText(MAX_TEXT), "text": UnicodeText(MAX_TEXT)}
        if size is not None:
            members["action_mask"] = spaces.Box(0, 1, (size,), np.int8)
        if self.fresh_turns and not self._numeric:
            members["fresh_history"] = spaces.Discrete(2)
        return spaces.Dict(list(members.items()))  # Gymnasium preserves the order of a list in every version

    def _action_mask(self, view: Any) -> NDArray[np.int8]:
        return _mask(view.legal, self._num_actions).copy()
