"""What a player of hold'em reads, and how a reply is read back."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.holdem.betting import STANDARD, Action
from llmarena_envs.holdem.cards import card_names
from llmarena_envs.holdem.game import BOARD_SIZES, Event, HandResult, Holdem, HoldemView
from llmarena_envs.holdem.replies import ACTION_NAMES, read_action

_STREETS = ("flop", "turn", "river")
_EVENTS = ("small_blind", "big_blind", "fold", "check", "call", "raise_half_pot", "raise_full_pot", "all_in")
_POSITIONS = ("button_small_blind", "button_big_blind", "button", "small_blind", "big_blind")


class HoldemCodec(Codec):
    """Texts and grammar of hold'em.

    Args:
        game: the game, whose options the rules tell.
        language: language of the texts; the names of the actions are English in all of them.
        hint: whether the legal actions are listed.
        cot: whether the player is invited to reason before the answer.
    """

    def __init__(self, game: Holdem, language: str, hint: bool, cot: bool) -> None:
        self.language = language
        self._prompts = prompts = Prompts("llmarena_envs.holdem", language)
        self._names = game.agents
        self._hands = game.hands
        self._rules = self._render_rules(game)
        self._positions = {name: prompts.render(f"position_{name}") for name in _POSITIONS}
        self._places = [
            prompts.render("position_other", distance=distance) if distance else self._positions["button"]
            for distance in range(len(game.agents))
        ]
        self._no_cards = prompts.render("no_cards")
        self._you = [prompts.render("you", player=name) for name in game.agents]
        # What changes from turn to turn is left open and filled in by ``str.format``, for a text is made at every turn.
        self._cards = prompts.joined("hole", "position", "betting").render(cards="{0}", position="{1}")
        self._out = prompts.joined("no_hole", "betting").render()
        self._events = {
            event: [prompts.render(event, player=name, chips="{0}", total="{1}") for name in game.agents]
            for event in _EVENTS
        }
        self._deals = [prompts.render(street, cards="{0}") for street in _STREETS]
        players = len(game.agents)
        self._state = prompts.render(
            "state",
            board="{0}",
            pot="{1}",
            stacks=", ".join([f"{name} {{{2 + seat}}}" for seat, name in enumerate(game.agents)]),
            put_in=", ".join([f"{name} {{{2 + players + seat}}}" for seat, name in enumerate(game.agents)]),
        )
        self._legal = (
            *(prompts.render(f"legal_{kind}", chips="{0}") for kind in ("fold", "check", "call")),
            *(prompts.render("legal_raise", action=name, chips="{0}") for name in ACTION_NAMES[2:]),
        )
        instruction = "instruction_cot" if cot else "instruction"
        self._to_act = prompts.joined("to_call", *(["hint"] if hint else []), instruction).render(
            to_call="{0}", legal="{1}"
        )
        self._waiting = prompts.joined("to_call", "wait").render(to_call="{0}")
        self._rendered_table: tuple[Any, str] = (None, "")
        self._rendered_results: tuple[tuple[HandResult, ...], list[str]] = ((), [])

    def _render_rules(self, game: Holdem) -> str:
        render = self._prompts.render
        standard_order = "order_two" if len(game.agents) == 2 else "order_many"
        match = render(
            "one_hand" if game.hands == 1 else "many_hands",
            hands=game.hands,
            stack=game.stack,
            small_blind=game.small_blind,
            big_blind=game.big_blind,
            aim=render(f"aim_{game.reward}"),
        )
        return render(
            "rules",
            players=len(game.agents),
            names=", ".join(game.agents),
            match=match,
            order=render(standard_order if game.rules == STANDARD else "order_rlcard"),
            when_fold=render(f"when_fold_{game.rules}"),
            raises=render(f"raises_{game.rules}", raise_again=render("raise_again") if len(game.agents) > 2 else ""),
        )

    def rules(self, agent: str) -> str:
        """Returns the rules."""
        return self._rules

    def observation(self, view: HoldemView) -> str:
        """Returns cards and betting, which only grow during a hand, then the state, legal actions and the instruction."""
        parts = [self._you[view.seat]]
        if self._hands > 1:
            parts += self._results(view.results)[: view.hand - 1]
            parts.append(self._prompts.render("hand", hand=view.hand, hands=self._hands))
        parts.append(self._cards.format(card_names(view.hole), self._position(view)) if view.hole else self._out)
        parts.append(self._table(view))
        if view.to_move:
            parts.append(self._to_act.format(view.to_call, _legal_text(self._legal, view.legal, view.costs)))
        else:
            parts.append(self._waiting.format(view.to_call))
        return "\n".join(parts)

    def _table(self, view: HoldemView) -> str:
        """Returns what everybody sees of the hand; kept, because several players may look at one position."""
        finished = view.results[view.hand - 1 :]
        key = (view.hand, view.history, view.board, view.stacks, finished)
        if key != self._rendered_table[0]:
            board = card_names(view.board) or self._no_cards
            lines = self._history(view.history, view.street, view.board)
            lines += self._results(view.results)[view.hand - 1 :]
            lines.append(self._state.format(board, view.pot, *view.stacks, *view.put_in))
            self._rendered_table = (key, "\n".join(lines))
        return self._rendered_table[1]

    def parse(self, reply: str, view: HoldemView) -> int:
        """Reads the action stated last.

        All-In means a call where no raise is left: where a call takes all chips, or everybody else is all-in.
        """
        action = read_action(reply)
        if action == Action.ALL_IN and action not in view.legal and Action.CHECK_CALL in view.legal:
            opponents = [seat for seat, live in enumerate(view.live) if live and seat != view.seat]
            if view.to_call == view.stacks[view.seat] or not any(view.stacks[seat] for seat in opponents):
                return int(Action.CHECK_CALL)
        return int(action)

    def format(self, action: int, view: HoldemView) -> str:
        """Writes e.g. ``Action: Fold``."""
        return f"Action: {ACTION_NAMES[action]}"

    def picture(self, game: Holdem) -> str:
        """Draws the table with everybody's cards."""
        lines = []
        for seat, name in enumerate(game.agents):
            marks = " *" if name in game.to_move else ""
            button = " (button)" if seat == game.betting.button else ""
            folded = "" if game.betting.live[seat] else " out"
            chips = f"{game.betting.stacks[seat]} left, {game.betting.put_in[seat]} in"
            lines.append(f"{name}{button}: {card_names(game.hole(seat)) or '-'}{folded}, {chips}{marks}")
        lines += self._history(game.history, game.street, game.board)
        lines += self._results(game.results)[game.hand - 1 :]
        return "\n".join(lines)

    def _position(self, view: HoldemView) -> str:
        small, big = view.blinds
        if view.seat != small and view.seat != big:
            return self._places[(view.seat - view.button) % len(self._names)]
        blind = "small_blind" if view.seat == small else "big_blind"
        return self._positions[f"button_{blind}" if view.seat == view.button else blind]

    def _history(self, history: Sequence[Event], street: int, board: Sequence[int]) -> list[str]:
        """Returns a line for each action and each deal of the hand."""
        lines = []
        events = self._events
        dealt = 0
        for event_street, seat, kind, chips, total in history:
            if event_street > dealt:
                dealt = event_street
                lines.append(self._deal(dealt, board))
            lines.append(events[kind][seat].format(chips, total))
        while dealt < street:
            dealt += 1
            lines.append(self._deal(dealt, board))
        return lines

    def _deal(self, street: int, board: Sequence[int]) -> str:
        return self._deals[street - 1].format(card_names(board[BOARD_SIZES[street - 1] : BOARD_SIZES[street]]))

    def _results(self, results: tuple[HandResult, ...]) -> list[str]:
        """Returns a line for each finished hand; the lines are kept until another hand is finished."""
        rendered, lines = self._rendered_results
        if rendered is not results:
            lines = [self._result(hand, result) for hand, result in enumerate(results, start=1)]
            self._rendered_results = (results, lines)
        return lines

    def _result(self, hand: int, result: HandResult) -> str:
        render = self._prompts.render
        net = ", ".join([f"{name} {chips:+d}" for name, chips in zip(self._names, result.net, strict=True)])
        text = render("result", hand=hand, net=net)
        if result.board:
            text += render("result_board", cards=card_names(result.board))
        shown = [f"{name} {card_names(cards)}" for name, cards in zip(self._names, result.shown, strict=True) if cards]
        return text + render("result_shown", shown=", ".join(shown)) if shown else text


@lru_cache(maxsize=256)
def _legal_text(templates: tuple[str, ...], legal: tuple[int, ...], costs: tuple[int, ...]) -> str:
    """Returns the legal actions with what they cost; ``templates`` are for a fold, a check, a call and the raises."""
    return ", ".join([templates[action + (costs[action] > 0)].format(costs[action]) for action in legal])
