"""Observations of hold'em and the parsing of replies."""

from collections.abc import Sequence

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.phrases import Phrases
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import find
from llmarena_envs.core.updates import new_parts
from llmarena_envs.holdem.betting import STANDARD, Action
from llmarena_envs.holdem.cards import card_names
from llmarena_envs.holdem.decision import FlopDecision
from llmarena_envs.holdem.game import BOARD_SIZES, Event, HandResult, Holdem, HoldemView
from llmarena_envs.holdem.replies import ACTION_NAMES, CHECK, FACING_A_BET, GRAMMAR

_PUBLISHED = {f"Action: {name}": action for action, name in zip(Action, ACTION_NAMES, strict=True)}
_STREETS = ("before_flop", "flop", "turn", "river")


class HoldemCodec(Codec[int, HoldemView]):
    """Texts and grammar of hold'em.

    Args:
        game: the game; its options determine the rules.
        language: language of the texts; action names are always English.
        hint: whether the legal actions are listed.
        cot: whether the instruction asks for reasoning before the answer.
    """

    def __init__(self, game: Holdem, language: str, hint: bool, cot: bool) -> None:
        self.language = language
        self._prompts = prompts = Prompts("llmarena_envs.holdem", language)
        self._ends = ending_texts(language)
        self._names = game.agents
        self._hands = game.hands
        self._reward = game.reward
        self._rules = self._render_rules(game)
        self._hint = hint
        self._you = {name: prompts.render("you", player=name) for name in game.agents}
        self._betting_title = prompts.render("betting")
        self._showdown = prompts.render("showdown")
        self._all_folded = [prompts.render("all_folded", player=name) for name in game.agents]
        self._all_chips = [prompts.render("all_chips", player=name) for name in game.agents]
        self._all_hands = prompts.render("all_hands", hands=game.hands)
        self._decided = prompts.render("decided") if isinstance(game, FlopDecision) else ""
        instruction = prompts["instruction_cot" if cot else "instruction"]
        self._instructions = [instruction.render(example=self._answer(action)) for action in Action]
        self._plain_instructions = [prompts["instruction"].render(example=self._answer(action)) for action in Action]
        self._reminders = [prompts.render("reminder", example=self._answer(action)) for action in Action]
        self._wait = prompts.render("wait")
        # Cached texts, reused across turns, readers and hands.
        self._hole = Phrases(self._hole_text)
        self._position = Phrases(self._position_text, limit=256)
        self._betting = Phrases(self._betting_texts)
        self._deals = Phrases(self._deal_texts, limit=256)
        self._board = Phrases(self._board_text, limit=256)
        self._chips = Phrases(self._chips_text, limit=1024)
        self._legal = Phrases(self._legal_text, limit=1024)
        self._result = Phrases(self._result_text, limit=1024)
        self._over = Phrases(self._over_text, limit=256)

    def _render_rules(self, game: Holdem) -> str:
        render = self._prompts.render
        standard_order = "order_two" if len(game.agents) == 2 else "order_many"
        chips = {"stack": game.stack, "small_blind": game.small_blind, "big_blind": game.big_blind}
        aim = render(f"aim_{game.reward}")
        if isinstance(game, FlopDecision):
            match = render("one_decision", **chips, flop=render(f"flop_{game.decision}"), aim=aim)
        elif game.hands == 1:
            match = render("one_hand", **chips, aim=aim)
        else:
            match = render("many_hands", **chips, hands=game.hands, aim=aim)
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
        """Returns cards and betting, which only grow during a hand, then state, legal actions and instruction."""
        return "\n".join([*self._history(view), *self._task(view, self._instructions)])

    def for_person(self, view: HoldemView) -> str:
        """Returns the observation with an instruction that asks only for the action."""
        return "\n".join([*self._history(view), *self._task(view, self._plain_instructions)])

    def update(self, view: HoldemView, since: HoldemView) -> str:
        """Returns results, cards and betting since then, state, legal actions and answer format."""
        lines, told = ("\n".join(self._history(each)).split("\n") for each in (view, since))
        return "\n".join([*new_parts(lines, told), *self._task(view, self._reminders)])

    def _task(self, view: HoldemView, instructions: Sequence[str]) -> list[str]:
        """Returns state, legal actions if listed, and the instruction with an example action."""
        table = view.table
        lines = [self._board[view.board], self._chips[table.stacks, table.put_in, view.to_call]]
        if not view.to_move:
            return [*lines, self._wait]
        if self._hint:
            lines.append(self._legal[view.legal, view.costs])
        return [*lines, instructions[_example_action(view)]]

    def ending(self, view: HoldemView, ending: Ending) -> str:
        """Returns the played hands with shown cards, the cause of the end, and the player's winnings."""
        lines = self._history(view)
        lines.append(self._over[self._cause(view, ending), ending.reward])
        return "\n".join(lines)

    def _history(self, view: HoldemView) -> list[str]:
        """Returns the results of earlier hands, and cards, betting and result of the current hand, as lines."""
        table, results = view.table, view.results
        lines = [self._you[view.agent]]
        if self._hands > 1:
            lines += [self._result[hand, result] for hand, result in enumerate(results[: table.hand - 1], start=1)]
            lines.append(self._prompts.render("hand", hand=table.hand, hands=self._hands))
        if view.hole:
            lines.append(self._hole[view.hole])
            lines.append(self._position[view.seat, table.button, table.blinds])
        else:
            lines.append(self._prompts.render("out"))
        lines.append(self._betting_title)
        lines += self._betting_and_deals(table.history, view.board)
        if len(results) == table.hand:
            lines.append(self._result[table.hand, results[-1]])
        return lines

    def _betting_and_deals(self, history: tuple[Event, ...], board: tuple[int, ...]) -> list[str]:
        """Returns the betting of each street and the deals between; no betting follows a called all-in."""
        betting = self._betting[history]
        lines = [betting[0]]
        for street, deal in enumerate(self._deals[board], start=1):
            lines.append(deal)
            lines += betting[street : street + 1]
        return lines

    def _betting_texts(self, history: tuple[Event, ...]) -> tuple[str, ...]:
        """Returns one text for each street up to the last one with an action, one line per action."""
        earlier, event = history[:-1], history[-1]
        line = self._prompts.render(event.kind, player=self._names[event.seat], chips=event.chips, total=event.total)
        if not earlier:
            return (line,)
        texts = self._betting[earlier]
        return (*texts[:-1], f"{texts[-1]}\n{line}") if event.street == earlier[-1].street else (*texts, line)

    def _deal_texts(self, board: tuple[int, ...]) -> tuple[str, ...]:
        """Returns a line for each deal of community cards."""
        if not board:
            return ()
        street = BOARD_SIZES.index(len(board))
        earlier = BOARD_SIZES[street - 1]
        deal = self._prompts.render(_STREETS[street], cards=card_names(board[earlier:]))
        return (*self._deals[board[:earlier]], deal)

    def _board_text(self, board: tuple[int, ...]) -> str:
        """Returns the street and the community cards, as lines."""
        render = self._prompts.render
        street = render(f"on_{_STREETS[BOARD_SIZES.index(len(board))]}")
        return render("board", street=street, board=card_names(board) or render("no_board"))

    def _hole_text(self, hole: tuple[int, ...]) -> str:
        return self._prompts.render("hole", cards=card_names(hole))

    def _position_text(self, key: tuple[int, int, tuple[int, int]]) -> str:
        """Returns the blind of a seat, or its distance from the button."""
        seat, button, blinds = key
        if seat in blinds:
            blind = "small_blind" if seat == blinds[0] else "big_blind"
            place = self._prompts.render(f"position_button_{blind}" if seat == button else f"position_{blind}")
        elif seat == button:
            place = self._prompts.render("position_button")
        else:
            place = self._prompts.render("position_other", distance=(seat - button) % len(self._names))
        return self._prompts.render("position", position=place)

    def _result_text(self, key: tuple[int, HandResult]) -> str:
        """Returns a finished hand in one line."""
        hand, result = key
        render = self._prompts.render
        net = ", ".join([f"{name} {chips:+d}" for name, chips in zip(self._names, result.net, strict=True)])
        text = render("result", hand=hand, net=net)
        if result.board:
            text += render("result_board", cards=card_names(result.board))
        shown = [f"{name} {card_names(cards)}" for name, cards in zip(self._names, result.shown, strict=True) if cards]
        return text + render("result_shown", shown=", ".join(shown)) if shown else text

    def _chips_text(self, key: tuple[tuple[int, ...], tuple[int, ...], int]) -> str:
        """Returns the remaining and committed chips of each seat, as lines."""
        stacks, put_in, to_call = key
        left, put = (
            ", ".join([f"{name} {number}" for name, number in zip(self._names, chips, strict=True)])
            for chips in (stacks, put_in)
        )
        return self._prompts.render("chips", pot=sum(put_in), stacks=left, put_in=put, to_call=to_call)

    def _legal_text(self, key: tuple[tuple[int, ...], tuple[int, ...]]) -> str:
        """Returns the legal actions with their costs."""
        legal, costs = key
        return self._prompts.render(
            "hint", legal=", ".join([self._legal_action(action, costs[action]) for action in legal])
        )

    def _legal_action(self, action: int, chips: int) -> str:
        if action == Action.FOLD:
            return self._prompts.render("legal_fold")
        if action == Action.CHECK_CALL:
            return self._prompts.render("legal_call", chips=chips) if chips else self._prompts.render("legal_check")
        return self._prompts.render("legal_raise", action=ACTION_NAMES[action], chips=chips)

    def _cause(self, view: HoldemView, ending: Ending) -> str:
        """Returns the cause of the end."""
        table = view.table
        if ending.offenders:
            return self._ends.forfeit(view.agent, ending.offenders)
        if self._decided:
            return self._decided
        if self._hands == 1:
            return self._showdown if any(view.results[-1].shown) else self._all_folded[table.live.index(True)]
        with_chips = [seat for seat, chips in enumerate(table.stacks) if chips]
        return self._all_chips[with_chips[0]] if len(with_chips) == 1 else self._all_hands

    def _over_text(self, key: tuple[str, float]) -> str:
        """Returns that the match is over, its cause, and the player's winnings or losses."""
        cause, reward = key
        if self._reward == "win":
            return self._ends.over(cause, self._ends.contest(reward))
        name = "chips_won" if reward > 0 else "chips_lost" if reward < 0 else "chips_even"
        return self._ends.over(cause, self._prompts.render(name, chips=abs(int(reward))))

    def example(self, view: HoldemView) -> str:
        """Returns the example action of the instruction."""
        return self._answer(_example_action(view))

    def read(self, reply: str, view: HoldemView) -> int:
        """Reads ``Action: Fold`` and the like.

        All-In means a call if no raise is possible: a call takes all chips, or all others are all-in.

        Raises:
            ParseError: if there is no action, or a check when there is a bet to match.
        """
        action = _PUBLISHED[reply] if reply in _PUBLISHED else _stated(reply, view)
        if action == Action.ALL_IN and action not in view.legal and Action.CHECK_CALL in view.legal:
            table = view.table
            opponents = [seat for seat, live in enumerate(table.live) if live and seat != view.seat]
            if view.to_call == table.stacks[view.seat] or not any(table.stacks[seat] for seat in opponents):
                return int(Action.CHECK_CALL)
        return int(action)

    def format(self, action: int, view: HoldemView) -> str:
        """Writes e.g. ``Action: Fold``."""
        return self._answer(action)

    @staticmethod
    def _answer(action: int) -> str:
        return f"Action: {ACTION_NAMES[action]}"

    def picture(self, game: Holdem) -> str:
        """Draws the table with all cards."""
        lines = []
        for seat, name in enumerate(game.agents):
            marks = " *" if name in game.to_move else ""
            button = " (button)" if seat == game.betting.button else ""
            folded = "" if game.betting.live[seat] else " out"
            chips = f"{game.betting.stacks[seat]} left, {game.betting.put_in[seat]} in"
            lines.append(f"{name}{button}: {card_names(game.hole(seat)) or '-'}{folded}, {chips}{marks}")
        lines += self._betting_and_deals(game.history, game.board)
        lines += [self._result[hand, result] for hand, result in enumerate(game.results, start=1) if hand >= game.hand]
        return "\n".join(lines)


def _stated(reply: str, view: HoldemView) -> Action:
    """Parses the action of a reply."""
    action = find(reply, FACING_A_BET if view.to_call else GRAMMAR, view.agent).value
    if action == CHECK:
        raise ParseError(Failure.ILLEGAL, "no_check", chips=view.to_call)
    return action


def _example_action(view: HoldemView) -> int:
    """Returns a legal action as an example of the answer format.

    Players favour the example. It therefore varies with cards and turns, and favours no action in any kind of spot.
    """
    if not view.legal:
        return Action.CHECK_CALL
    return view.legal[(sum(view.hole) + len(view.table.history)) % len(view.legal)]
