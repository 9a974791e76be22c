"""Observations of the auction and the parsing of replies."""

from collections.abc import Callable
from typing import Any

from llmarena_envs.bid.game import CENTS, BidView, SealedBid, write_cents
from llmarena_envs.bid.grammar import GRAMMAR, PUBLISHED
from llmarena_envs.bid.state import PastRound
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.phrases import Phrases
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import find
from llmarena_envs.core.updates import new_parts

# Format of an amount. An example in digits would anchor bids.
_FORM = "$d.cc"


class BidCodec(Codec[int, BidView]):
    """Texts and grammar of the auction.

    Args:
        language: language of the texts.
        cot: whether the instruction asks for reasoning before the bid.
        game: the game with the parameters for the rules.
    """

    def __init__(self, language: str, cot: bool, game: SealedBid) -> None:
        self._prompts = prompts = Prompts("llmarena_envs.bid", language)
        self.language = language
        self._amounts = tuple(write_cents(units * game.step) for units in range(game.units + 1))
        grid = self._amounts[1]
        parts = [prompts.render("rules", n_bidders=len(game.agents), v_max=self._amounts[-1], grid=grid)]
        if game.rounds > 1:
            parts.append(prompts.render("rules_rounds", rounds=game.rounds))
        self._rules = "\n".join(parts)
        self._grid = grid
        self._past = prompts["past_round"].by_position("round", "valuation", "bid", "winner", "winning_bid", "gain")
        state = "state_of_rounds" if game.rounds > 1 else "state"
        instruction = "instruction_cot" if cot else "instruction"
        present = ("agent", "round", "rounds", "valuation")
        self._state = prompts[state].by_position(*present)
        self._to_move = prompts.joined(state, "turn", instruction).by_position(*present, "highest", "grid")
        plain = prompts.joined(state, "turn", "instruction")
        self._to_move_plain = plain.by_position(*present, "highest", "grid")
        self._to_move_reminder = prompts.joined(state, "turn", "reminder").by_position(*present, "highest", "grid")
        self._waiting = prompts.joined(state, "wait").by_position(*present)
        self._all_held = prompts.render("all_held", rounds=game.rounds)
        self._earned = Phrases(self._earned_text)
        self._ends = ending_texts(language)
        self._picture_round = prompts["picture_round"]
        self._picture_secret = prompts["picture_secret"]
        self._picture_winner = prompts["picture_winner"]
        self._picture_loser = prompts["picture_loser"]

    def rules(self, agent: str) -> str:
        """Returns the rules."""
        return self._rules

    def observation(self, view: BidView) -> str:
        """Returns past results, the valuation and the instruction."""
        return "\n".join([*self._history(view), self._task(view, self._to_move)])

    def for_person(self, view: BidView) -> str:
        """Returns the observation with an instruction that asks only for the bid."""
        return "\n".join([*self._history(view), self._task(view, self._to_move_plain)])

    def update(self, view: BidView, since: BidView) -> str:
        """Returns new results, the valuation and the format of a bid."""
        results = new_parts(self._history(view), self._history(since))
        return "\n".join([*results, self._task(view, self._to_move_reminder)])

    def _task(self, view: BidView, to_move: Callable[..., str]) -> str:
        """Returns the valuation and the instruction."""
        present = self._present(view)
        if not view.to_move:
            return self._waiting(*present)
        return to_move(*present, self._amounts[view.valuation - 1], self._grid)

    def ending(self, view: BidView, ending: Ending) -> str:
        """Returns the results of all rounds, the cause of the end, and the bidder's earnings."""
        lines, cause = self._history(view), self._all_held
        if ending.offenders:
            lines.append(self._state(*self._present(view)))
            cause = self._ends.forfeit(view.agent, ending.offenders)
        return "\n".join([*lines, self._ends.over(cause, self._earned[ending.reward])])

    def _present(self, view: BidView) -> tuple[str, int, int, str]:
        """Returns the template fields of the current round."""
        return view.agent, view.round, view.rounds, self._amounts[view.valuation]

    def _history(self, view: BidView) -> list[str]:
        """Returns past results, one line per finished round."""
        return [self._past_round(view.agent, number, past) for number, past in enumerate(view.history, start=1)]

    def _past_round(self, agent: str, number: int, past: PastRound) -> str:
        """Returns a finished round in one line."""
        gain = past.valuation - past.bid if past.winner == agent else 0
        amounts = self._amounts
        valuation, bid, winning_bid = amounts[past.valuation], amounts[past.bid], amounts[past.winning_bid]
        return self._past(number, valuation, bid, past.winner, winning_bid, amounts[gain])

    def _earned_text(self, reward: float) -> str:
        cents = round(reward * CENTS)
        return self._prompts.render("earned", amount=f"{'-' if cents < 0 else ''}{write_cents(abs(cents))}")

    def read(self, reply: str, view: BidView) -> int:
        """Reads ``player_0: $1.08`` and the like; see ``bid.grammar``."""
        published = PUBLISHED.fullmatch(reply)
        if published and published[1] == view.agent:
            cents = int(published[2]) * CENTS + int(published[3])
        else:
            cents = find(reply, GRAMMAR, view.agent).value
        units, rest = divmod(cents, view.step)
        if rest:
            raise ParseError(Failure.ILLEGAL, "off_grid", grid=write_cents(view.step))
        return units

    def example(self, view: BidView) -> str:
        """Returns the format of a bid, without an amount."""
        return f"{view.agent}: {_FORM}"

    def format(self, action: int, view: BidView) -> str:
        """Writes name and amount, e.g. ``player_0: $1.08``."""
        return f"{view.agent}: {write_cents(action * view.step)}"

    def picture(self, game: Any) -> str:
        """Lists the valuations of all finished and current rounds, and the bids of finished ones."""
        lines = []
        for number, valuations in enumerate(game.valuations[: len(game.histories[0]) + 1]):
            lines.append(self._picture_round.render(round=number + 1))
            for agent, units, history in zip(game.agents, valuations, game.histories, strict=True):
                valuation = self._amounts[units]
                if number == len(history):
                    lines.append(self._picture_secret.render(agent=agent, valuation=valuation))
                    continue
                template = self._picture_winner if history[number].winner == agent else self._picture_loser
                bid = self._amounts[history[number].bid]
                lines.append(template.render(agent=agent, valuation=valuation, bid=bid))
        return "\n".join(lines)
