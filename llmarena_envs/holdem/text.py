"""What a player of hold'em reads, and how a reply is read back."""

from functools import lru_cache
from itertools import pairwise

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import find
from llmarena_envs.holdem.betting import STANDARD, Action
from llmarena_envs.holdem.cards import card_names
from llmarena_envs.holdem.game import BOARD_SIZES, Event, HandResult, Holdem, HoldemView
from llmarena_envs.holdem.replies import ACTION_NAMES, GRAMMAR

_PUBLISHED = {f"Action: {name}": action for action, name in zip(Action, ACTION_NAMES, strict=True)}
_STREETS = ("flop", "turn", "river")
_EVENTS = ("small_blind", "big_blind", "fold", "check", "call", "raise_half_pot", "raise_full_pot", "all_in")
_CARDS = "<cards>"
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
        self._templates = _Templates(prompts, game, hint, cot)
        self._you = [prompts.render("you", player=name) for name in game.agents]
        self._out = prompts.joined("no_hole", "betting").render()
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
        templates = self._templates
        if view.hole:
            before, after = _opening(templates, view.seat, view.button, view.blinds)
            parts.append(f"{before}{card_names(view.hole)}{after}")
        else:
            parts.append(self._out)
        deals, board = _board(templates, view.board)
        parts += _with_deals(_betting(templates, view.history), deals)
        if len(view.results) == view.hand:
            parts.append(self._results(view.results)[-1])
        before, after = _ending(templates, view.stacks, view.put_in, view.to_move, view.to_call, view.legal, view.costs)
        parts.append(f"{before}{board}{after}")
        return "\n".join(parts)

    def read(self, reply: str, view: HoldemView) -> int:
        """Reads ``Action: Fold`` and the like.

        All-In means a call where no raise is left: where a call takes all chips, or everybody else is all-in.
        """
        action = _PUBLISHED.get(reply)
        if action is None:
            action = find(reply, GRAMMAR, view.agent).value
        if action == Action.ALL_IN and action not in view.legal and Action.CHECK_CALL in view.legal:
            opponents = [seat for seat, live in enumerate(view.live) if live and seat != view.seat]
            if view.to_call == view.stacks[view.seat] or not any(view.stacks[seat] for seat in opponents):
                return int(Action.CHECK_CALL)
        return int(action)

    def format(self, action: int, view: HoldemView) -> str:
        """Writes e.g. ``Action: Fold``."""
        return f"Action: {ACTION_NAMES[action]}"

    def example(self, view: HoldemView) -> str:
        """Returns the action that is always legal."""
        return self.format(Action.CHECK_CALL, view)

    def picture(self, game: Holdem) -> str:
        """Draws the table with everybody's cards."""
        lines = []
        for seat, name in enumerate(game.agents):
            marks = " *" if name in game.to_move else ""
            button = " (button)" if seat == game.betting.button else ""
            folded = "" if game.betting.live[seat] else " out"
            chips = f"{game.betting.stacks[seat]} left, {game.betting.put_in[seat]} in"
            lines.append(f"{name}{button}: {card_names(game.hole(seat)) or '-'}{folded}, {chips}{marks}")
        lines += _with_deals(_betting(self._templates, game.history), _board(self._templates, game.board)[0])
        lines += self._results(game.results)[game.hand - 1 :]
        return "\n".join(lines)

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


class _Templates:
    """Texts in which what changes from turn to turn is left open, to be filled in by ``str.format``.

    Cards are left open as ``_CARDS``, for they come last: the same betting comes up again and again with other cards, so the
    functions below keep what they return for it.
    """

    def __init__(self, prompts: Prompts, game: Holdem, hint: bool, cot: bool) -> None:
        names = game.agents
        seats = range(len(names))
        self.opening = prompts.joined("hole", "position", "betting").render(cards=_CARDS, position="{0}")
        self.positions = {name: prompts.render(f"position_{name}") for name in _POSITIONS}
        self.places = [
            prompts.render("position_other", distance=distance) if distance else self.positions["button"]
            for distance in seats
        ]
        self.events = {
            event: [prompts.render(event, player=name, chips="{0}", total="{1}") for name in names] for event in _EVENTS
        }
        self.deals = [prompts.render(street, cards="{0}") for street in _STREETS]
        self.no_cards = prompts.render("no_cards")
        self.state = prompts.render(
            "state",
            board=_CARDS,
            pot="{0}",
            stacks=", ".join([f"{names[seat]} {{{1 + seat}}}" for seat in seats]),
            put_in=", ".join([f"{names[seat]} {{{1 + len(names) + seat}}}" for seat in seats]),
        )
        # A check is told in other words than a call.
        self.legal = [
            *(prompts.render(f"legal_{kind}", chips="{0}") for kind in ("fold", "check", "call")),
            *(prompts.render("legal_raise", action=name, chips="{0}") for name in ACTION_NAMES[2:]),
        ]
        instruction = "instruction_cot" if cot else "instruction"
        self.to_act = prompts.joined("to_call", *(["hint"] if hint else []), instruction).render(
            to_call="{0}", legal="{1}"
        )
        self.waiting = prompts.joined("to_call", "wait").render(to_call="{0}")


@lru_cache(maxsize=256)
def _opening(templates: _Templates, seat: int, button: int, blinds: tuple[int, int]) -> tuple[str, str]:
    """Returns what stands before and after the hole cards: their line, the position and the title of the betting."""
    if seat in blinds:
        blind = "small_blind" if seat == blinds[0] else "big_blind"
        position = templates.positions[f"button_{blind}" if seat == button else blind]
    else:
        position = templates.places[(seat - button) % len(templates.places)]
    return _around_cards(templates.opening.format(position))


@lru_cache(maxsize=1024)
def _betting(templates: _Templates, history: tuple[Event, ...]) -> tuple[str, ...]:
    """Returns one text for each street up to the last one on which somebody has acted, with a line for each action."""
    earlier, (street, seat, kind, chips, total) = history[:-1], history[-1]
    line = templates.events[kind][seat].format(chips, total)
    if not earlier:
        return (line,)
    texts = _betting(templates, earlier)
    return (*texts[:-1], f"{texts[-1]}\n{line}") if street == earlier[-1].street else (*texts, line)


@lru_cache(maxsize=256)
def _board(templates: _Templates, cards: tuple[int, ...]) -> tuple[list[str], str]:
    """Returns a line for each deal of community cards, and the names of all of them."""
    deals = [
        template.format(card_names(cards[first:last]))
        for template, (first, last) in zip(templates.deals, pairwise(BOARD_SIZES), strict=True)
        if last <= len(cards)
    ]
    return deals, card_names(cards) or templates.no_cards


@lru_cache(maxsize=1024)
def _ending(
    templates: _Templates,
    stacks: tuple[int, ...],
    put_in: tuple[int, ...],
    to_move: bool,
    to_call: int,
    legal: tuple[int, ...],
    costs: tuple[int, ...],
) -> tuple[str, str]:
    """Returns what stands before and after the community cards: the state, the legal actions and the instruction."""
    state = templates.state.format(sum(put_in), *stacks, *put_in)
    if not to_move:
        return _around_cards(f"{state}\n{templates.waiting.format(to_call)}")
    actions = [templates.legal[action + (costs[action] > 0)].format(costs[action]) for action in legal]
    return _around_cards(f"{state}\n{templates.to_act.format(to_call, ', '.join(actions))}")


def _around_cards(text: str) -> tuple[str, str]:
    before, _, after = text.partition(_CARDS)
    return before, after


def _with_deals(betting: tuple[str, ...], deals: list[str]) -> list[str]:
    """Returns the betting of the streets with the deals between; no betting is left after an all-in that was called."""
    parts = [betting[0]]
    for street, deal in enumerate(deals, start=1):
        parts.append(deal)
        parts += betting[street : street + 1]
    return parts
