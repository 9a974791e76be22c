"""A game of OpenSpiel behind the game contract."""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from gymnasium.error import DependencyNotInstalled

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.named_moves import Spellings, reason_of_number
from llmarena_envs.core.options import OptionError, check_int

if TYPE_CHECKING:
    import pyspiel

MAX_OPENING = 20
"""Maximum number of random moves before play."""


def import_pyspiel() -> Any:
    """Returns the module ``pyspiel``.

    Raises:
        DependencyNotInstalled: if it is not installed.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise DependencyNotInstalled("OpenSpiel is not installed: pip install 'llmarena-envs[openspiel]'") from error
    return pyspiel


class Move(NamedTuple):
    """A move of the past.

    Attributes:
        player: index of the player.
        name: the move as OpenSpiel writes it.
    """

    player: int
    name: str


class SpielView(NamedTuple):
    """The view of a player.

    Attributes:
        agent: the player.
        to_move: whether the player is to move.
        legal: the legal actions if the player is to move.
        names: the names of the legal actions, as OpenSpiel writes them.
        observation: OpenSpiel's observation string, or its information state string if it has no other.
        information: OpenSpiel's information state string, or its observation string if it has no other.
        moves: the moves of all players if the game has perfect information; else empty.
        player: index of the player.
        spellings: further accepted spellings, each with the index of its legal action: for chess, squares such as ``g1f3``.
    """

    agent: str
    to_move: bool
    legal: tuple[int, ...]
    names: tuple[str, ...]
    observation: str
    information: str
    moves: tuple[Move, ...]
    player: int
    spellings: Spellings = ()


class SpielGame(Game[int, SpielView]):
    """A position of a game of OpenSpiel; actions are numbered as in OpenSpiel.

    Attributes:
        spiel_game: OpenSpiel's game.
        state: OpenSpiel's state.
        is_public: whether every player knows all past events.

    Args:
        name: OpenSpiel's short name.
        parameters: parameters of the game.
        random_opening: number of random moves before play; none of them ends the match.
        seed_parameter: the parameter that seeds the game's own generator, if it has one.
        can_resample: whether OpenSpiel can redraw hidden information.

    Raises:
        DependencyNotInstalled: if OpenSpiel is not installed.
        OptionError: if a parameter is not valid.
    """

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, Any],
        random_opening: int = 0,
        seed_parameter: str = "",
        can_resample: bool = True,
    ) -> None:
        check_int("random_opening", random_opening, 0, MAX_OPENING)
        self.name = name
        self.parameters = dict(parameters)
        self.random_opening = random_opening
        self.seed_parameter = seed_parameter
        self.can_resample = can_resample
        self._load()
        spiel = import_pyspiel().GameType
        kind = self.spiel_game.get_type()
        self.agents = tuple(f"player_{player}" for player in range(self.spiel_game.num_players()))
        self.num_actions: int = self.spiel_game.num_distinct_actions()
        simultaneous = kind.dynamics == spiel.Dynamics.SIMULTANEOUS
        self.max_turns = self.spiel_game.max_game_length() * (len(self.agents) if simultaneous else 1)
        deterministic = kind.chance_mode == spiel.ChanceMode.DETERMINISTIC
        self.is_public = kind.information != spiel.Information.IMPERFECT_INFORMATION
        self.perfect_information = self.is_public and deterministic
        self.has_chance = not deterministic or random_opening > 0
        self._observes, self._informs = kind.provides_observation_string, kind.provides_information_state_string

    def _load(self, seed: int | None = None) -> None:
        """Loads OpenSpiel's game; with a seed, with a generator of its own."""
        given = self.parameters if seed is None else {**self.parameters, self.seed_parameter: seed}
        spiel = import_pyspiel()
        try:
            loaded = spiel.load_game(self.name, given) if given else spiel.load_game(self.name)
        except spiel.SpielError as error:
            reason = str(error).partition("\n")[0]
            raise OptionError(f"openspiel/{self.name}: {self.parameters}: {reason}") from error
        self.spiel_game: pyspiel.Game = loaded

    def reset(self, rng: np.random.Generator) -> None:
        """Begins a match: draws the first chance events and plays the random opening."""
        self._seed = int(rng.integers(2**31)) if self.has_chance else 0
        self._drawn = 0
        if self.seed_parameter:
            self._load(self._seed)
        self.state: pyspiel.State = self.spiel_game.new_initial_state()
        self._moves: tuple[Move, ...] = ()
        self._returns = (0.0,) * len(self.agents)
        self._draw_chance()
        for _ in range(self.random_opening):
            self._open(rng)
        self._update()

    def _open(self, rng: np.random.Generator) -> None:
        """Plays one random move that does not end the match, if there is one."""
        actions = tuple([int(rng.choice(self.state.legal_actions(player))) for player in self._movers()])
        after = self.state.clone()
        _apply(after, actions)
        if not after.is_terminal():
            self._advance(actions)

    def _movers(self) -> list[int]:
        state = self.state
        if state.is_terminal():
            return []
        if state.is_simultaneous_node():
            return [player for player in range(len(self.agents)) if state.legal_actions(player)]
        return [state.current_player()]

    def _draw_chance(self) -> None:
        """Draws chance events until a player is to move."""
        state = self.state
        while state.is_chance_node():
            outcomes = state.chance_outcomes()
            draw = random.Random(self._seed * 1_000_003 + self._drawn)
            self._drawn += 1
            ((action, _),) = draw.choices(outcomes, [weight for _, weight in outcomes])
            state.apply_action(action)

    def _advance(self, actions: tuple[int, ...]) -> None:
        """Applies the actions of a stage and the chance events after them."""
        state = self.state
        chosen = dict(zip(self._movers(), actions, strict=True))
        self._keep_moves(chosen)
        if state.is_simultaneous_node():
            actions = tuple([chosen.get(player, 0) for player in range(len(self.agents))])
        _apply(state, actions)
        self._draw_chance()

    def _keep_moves(self, chosen: Mapping[int, int]) -> None:
        """Adds the actions of a stage, by player, to the public moves."""
        if self.is_public:
            name = self.state.action_to_string
            self._moves += tuple([Move(player, name(player, action)) for player, action in chosen.items()])

    def go_to(self, history: Sequence[int]) -> None:
        """Moves to the position after a history of OpenSpiel, which includes the chance events."""
        self._seed = self._drawn = 0
        self._moves = ()
        for actions in self._replay(history):
            if not self.state.is_chance_node():
                self._keep_moves({player: actions[player if len(actions) > 1 else 0] for player in self._movers()})
        self._returns = tuple(self.state.returns())
        self._update()

    def _replay(self, history: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Plays a history of OpenSpiel from the beginning; yields the actions of each stage before they are applied."""
        self.state = self.spiel_game.new_initial_state()
        rest = list(history)
        while rest:
            count = len(self.agents) if self.state.is_simultaneous_node() else 1
            actions, rest = tuple(rest[:count]), rest[count:]
            yield actions
            _apply(self.state, actions)

    def _update(self) -> None:
        """Sets the agents to move and the rewards since the previous stage."""
        self._views: dict[str, SpielView] = {}
        self.to_move = tuple([self.agents[player] for player in self._movers()])
        before, self._returns = self._returns, tuple(self.state.returns())
        self.rewards = tuple([now - then for now, then in zip(self._returns, before, strict=True)])

    def apply(self, actions: tuple[int, ...]) -> None:
        """Applies the actions of a stage."""
        self._advance(actions)
        self._update()

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns why an action is illegal."""
        return reason_of_number(self, agent, action)

    def view(self, agent: str) -> SpielView:
        """Returns the view of ``agent``, made once at each position."""
        if agent not in self._views:
            self._views[agent] = self._make_view(agent)
        return self._views[agent]

    def _make_view(self, agent: str) -> SpielView:
        state, player = self.state, self.agents.index(agent)
        to_move = agent in self.to_move
        legal = self.legal_actions(agent)
        names = tuple([state.action_to_string(player, action) for action in legal])
        observation = state.observation_string(player) if self._observes else ""
        information = state.information_state_string(player) if self._informs else observation
        return SpielView(
            agent,
            to_move,
            legal,
            names,
            observation or information,
            information,
            self._moves,
            player,
            _squares(state, legal) if self.name == "chess" else (),
        )

    def legal_actions(self, agent: str) -> tuple[int, ...]:
        """Returns the legal actions if ``agent`` is to move."""
        return tuple(self.state.legal_actions(self.agents.index(agent))) if agent in self.to_move else ()

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Returns the last rewards of a forfeited match: offenders end with the lowest total that the game has.

        In a zero-sum game of two players the other player receives what the offender loses.
        """
        return self.forfeit_to(self.spiel_game.min_utility(), self._returns, offenders, zero_sum=self._is_zero_sum)

    @cached_property
    def _is_zero_sum(self) -> bool:
        return bool(self.spiel_game.get_type().utility == import_pyspiel().GameType.Utility.ZERO_SUM)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws what is hidden from ``agent``, and future chance events.

        Raises:
            NotImplementedError: if OpenSpiel cannot redraw hidden information of this game.
        """
        if self.perfect_information:
            return
        if not self.is_public:
            if not self.can_resample:
                raise NotImplementedError(
                    f"openspiel/{self.name}: OpenSpiel cannot redraw hidden information of this game"
                )
            self.state = self.state.resample_from_infostate(self.agents.index(agent), rng.random)
        self._seed = int(rng.integers(2**31))
        self._views = {}

    def tensor(self, agent: str) -> np.ndarray[Any, Any]:
        """Returns the information state or observation tensor, ``float32``, flat."""
        player = self.agents.index(agent)
        kind = self.spiel_game.get_type()
        read = (
            self.state.information_state_tensor
            if kind.provides_information_state_tensor
            else self.state.observation_tensor
        )
        return np.asarray(read(player), dtype=np.float32)

    @property
    def tensor_shape(self) -> tuple[int]:
        """Shape of ``tensor``."""
        game = self.spiel_game
        informs = game.get_type().provides_information_state_tensor
        return (int(np.prod(game.information_state_tensor_shape() if informs else game.observation_tensor_shape())),)

    def __copy__(self) -> Self:
        """Returns an independent position."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if "state" in self.__dict__:
            twin.state, twin._views = self.state.clone(), dict(self._views)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Returns an independent position: all values but OpenSpiel's state are immutable."""
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        """Returns the history in place of OpenSpiel's objects."""
        values = {name: value for name, value in self.__dict__.items() if name not in ("spiel_game", "state", "_views")}
        if "state" in self.__dict__:
            values["history"] = self.state.history()
        return values

    def __setstate__(self, values: dict[str, Any]) -> None:
        """Replays the history."""
        history = values.pop("history", None)
        self.__dict__.update(values)
        self._load(self._seed if history is not None and self.seed_parameter else None)
        if history is None:
            return
        self._views = {}
        for _ in self._replay(history):
            pass


def _squares(state: "pyspiel.State", legal: tuple[int, ...]) -> Spellings:
    """Returns the moves of chess as squares, such as ``g1f3``."""
    chess, board = import_pyspiel().chess, state.board()
    return tuple([(chess.action_to_move(action, board).to_lan(), index) for index, action in enumerate(legal)])


def _apply(state: "pyspiel.State", actions: tuple[int, ...]) -> None:
    if state.is_simultaneous_node():
        state.apply_actions(list(actions))
    else:
        state.apply_action(actions[0])
