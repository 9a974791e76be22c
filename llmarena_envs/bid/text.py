"""What a bidder reads, and how a reply is read back."""

import re
from decimal import Decimal
from typing import Any

from llmarena_envs.bid.game import CENTS, BidView, PastRound, SealedBid, write_cents
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, EndingTexts
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import json_objects, last_match, normalise

_MINUS_SIGNS = str.maketrans("−–", "--")

# Who speaks; the statement is what follows, to the end of its line.
_SPEAKER = re.compile(r"\bplayer(?:\\?_| )?(\d{1,3})[\"']?\s*[:=]\s*", re.IGNORECASE)

_AMOUNT = re.compile(
    r"[\"'(\[]*(?:(?:i bid|my bid(?: is)?|bid|出价)\s*:?\s*)?(?P<sign>[-+]?)\s*"
    r"(?P<currency>(?:us)?\\?\$|usd|[€£¥₹])?\s*(?P<sign2>[-+]?)\s*"
    r"(?P<number>\d+(?:,\d+)*(?:\.\d+)?|\.\d+)"
    r"(?:\s*(?P<unit>dollars?\b|usd\b|cents?\b|¢|美元|美分|元|块|分))?",
    re.IGNORECASE,
)
# What makes an amount part of a longer number, of a sum or of a range: 3.5.2, 3k, 50%, 3 million, $7 / 2, 3-4, 3 or 4.
_GOES_ON = re.compile(
    r"[.,]\d|\s*\.\s*\d|\w|\s*(?:%|percent|hundred|thousand|million)|\s*(?:[-+*/^=~×÷]|to\b|or\b|and\b|至|到|或)?\s*\\?\$?\d",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}")
_CENTS = ("c", "¢", "美分", "分")

_BARE = re.compile(r"[-+]?\s*\\?(?:\$\s*\d[\d,]*(?:\.\d+)?\.?|\d+(?:[.,]\d+)?)")
# What may stand before an amount on the last line: "I bid", "My final bid is", "Action:" and the like.
_ANNOUNCEMENT = re.compile(
    r"^(?:(?:i|i will|i'll) bid\b|(?:my |the )?(?:final |best )?(?:bid|answer|action)\b(?: is\b)?"
    r"|我?(?:的|最终)*出价(?:是|为)?)\s*:?\s*",
    re.IGNORECASE,
)
# How an amount is written. An example in digits would be copied, and all bids would gather about it.
_FORM = "$d.cc"
_MAX_DIGITS = 15
_MAX_STATEMENT = 1_000


class BidCodec(Codec):
    """Texts and grammar of the auction.

    Args:
        language: language of the texts.
        cot: whether the player is invited to reason before bidding.
        game: the game whose parameters the rules state.
    """

    def __init__(self, language: str, cot: bool, game: SealedBid) -> None:
        prompts = Prompts("llmarena_envs.bid", language)
        self.language = language
        self._amounts = tuple(write_cents(units * game.step) for units in range(game.units + 1))
        grid = self._amounts[1]
        parts = [prompts.render("rules", n_bidders=len(game.agents), v_max=self._amounts[-1], grid=grid)]
        if game.rounds > 1:
            parts.append(prompts.render("rules_rounds", rounds=game.rounds))
        self._rules = "\n".join(parts)
        self._past = prompts["past_round"]
        self._state = prompts["state_of_rounds" if game.rounds > 1 else "state"]
        self._turn = prompts["turn"]
        self._grid = grid
        name = "instruction_cot" if cot else "instruction"
        self._instructions = {agent: prompts.render(name, agent=agent) for agent in game.agents}
        self._wait = prompts.render("wait")
        self._all_held = prompts.render("all_held", rounds=game.rounds)
        self._earned = prompts["earned"]
        self._ends = EndingTexts(language)
        self._picture_round = prompts["picture_round"]
        self._picture_secret = prompts["picture_secret"]
        self._picture_winner = prompts["picture_winner"]
        self._picture_loser = prompts["picture_loser"]

    def rules(self, agent: str) -> str:
        """Returns the rules."""
        return self._rules

    def observation(self, view: BidView) -> str:
        """Returns the results so far, the valuation and the instruction."""
        lines = self._history(view)
        if view.to_move:
            valuation, highest = self._amounts[view.valuation], self._amounts[view.valuation - 1]
            lines.append(self._turn.render(valuation=valuation, highest=highest, grid=self._grid))
            lines.append(self._instructions[view.agent])
        else:
            lines.append(self._wait)
        return "\n".join(lines)

    def ending(self, view: BidView, ending: Ending) -> str:
        """Returns the results of all rounds, by what the match ended, and what the bidder earned."""
        cause = self._ends.forfeit(view.agent, ending.offenders) if ending.offenders else self._all_held
        cents = round(ending.reward * CENTS)
        earned = self._earned.render(amount=f"{'-' if cents < 0 else ''}{write_cents(abs(cents))}")
        return "\n".join([*self._history(view), self._ends.over(cause, earned)])

    def _history(self, view: BidView) -> list[str]:
        """Returns the results so far, and the bidder's valuation in the present round if that is not over."""
        lines = [self._past_round(view.agent, number, past) for number, past in enumerate(view.history, start=1)]
        if len(view.history) < view.rounds:
            valuation = self._amounts[view.valuation]
            lines.append(
                self._state.render(agent=view.agent, round=view.round, rounds=view.rounds, valuation=valuation)
            )
        return lines

    def _past_round(self, agent: str, number: int, past: PastRound) -> str:
        """Returns a round that is over in one line."""
        gain = past.valuation - past.bid if past.winner == agent else 0
        return self._past.render(
            round=number,
            valuation=self._amounts[past.valuation],
            bid=self._amounts[past.bid],
            winner=past.winner,
            winning_bid=self._amounts[past.winning_bid],
            gain=self._amounts[gain],
        )

    def parse(self, reply: str, view: BidView) -> int:
        """Reads the last bid stated: ``player_0: $1.08``, JSON with ``bid``, or an amount on the last line.

        Before an amount on the last line ``I bid``, ``Final bid:`` and the like may stand. The dollar sign may be left out or
        written as a word; cents, thousands separators and a decimal comma are read as a person would. Amounts in words, ranges,
        sums and other currencies are refused.
        """
        text = normalise(reply).translate(_MINUS_SIGNS)
        speaker, statement = self._last_statement(text)
        if speaker not in ("", view.agent):
            raise InvalidReply(Failure.ILLEGAL, f"you are {view.agent} and cannot bid for {speaker}")
        match = _AMOUNT.match(statement)
        if match is None:
            last_line = _ANNOUNCEMENT.sub(
                "", text.rpartition("\n")[2].strip().removeprefix("\\boxed{").removesuffix("}")
            )
            if _BARE.fullmatch(last_line):
                statement, match = last_line, _AMOUNT.match(last_line)
        form = self.example(view)
        if match is None:
            raise InvalidReply(
                Failure.UNPARSABLE, f"no bid in digits was found; end the reply with one in the form {form}"
            )
        if _GOES_ON.match(statement, match.end()):
            raise InvalidReply(Failure.UNPARSABLE, f"expected one amount in the form {form}, got {statement[:40]!r}")
        cents = self._read_amount(match)
        units, rest = divmod(cents, view.step)
        if rest:
            raise InvalidReply(Failure.ILLEGAL, f"bids go in steps of {write_cents(view.step)}")
        return units

    def example(self, view: BidView) -> str:
        """Returns the form of a bid, without an amount."""
        return f"{view.agent}: {_FORM}"

    @staticmethod
    def _last_statement(text: str) -> tuple[str, str]:
        """Returns the speaker and what is said in the last labelled line or JSON object; empty texts where there is none."""
        speaker, statement, position = "", "", -1
        match = last_match(_SPEAKER, text)
        if match:
            speaker, position = f"player_{int(match[1])}", match.end()
            statement = text[position:].partition("\n")[0]
        for end, value in json_objects(text):
            if end > position and "bid" in value:
                speaker, statement = "", str(value["bid"])
        return speaker, " ".join(statement[:_MAX_STATEMENT].split())

    def _read_amount(self, match: re.Match[str]) -> int:
        """Returns an amount in cents."""
        currency = (match["currency"] or "$").lower()
        if currency[-1] not in "$d":
            raise InvalidReply(Failure.UNPARSABLE, f"bids are in dollars, not in {currency}")
        number = match["number"]
        if _THOUSANDS.fullmatch(number):
            number = number.replace(",", "")
        elif _DECIMAL_COMMA.fullmatch(number):
            number = number.replace(",", ".")
        elif "," in number:
            raise InvalidReply(Failure.UNPARSABLE, f"{number[:40]} is no amount; write it like {_FORM}")
        in_cents = (match["unit"] or "").lower().startswith(_CENTS)
        if len(number.partition(".")[2]) > (0 if in_cents else 2):
            raise InvalidReply(
                Failure.UNPARSABLE, f"{number[:40]} is too precise: an amount has whole cents, like {_FORM}"
            )
        if len(number) > _MAX_DIGITS:
            raise InvalidReply(Failure.ILLEGAL, "a bid must be below your valuation")
        cents = int(Decimal(number) * (1 if in_cents else CENTS))
        if cents and "-" in (match["sign"], match["sign2"]):
            raise InvalidReply(Failure.ILLEGAL, "a bid cannot be below $0.00")
        return cents

    def format(self, action: int, view: BidView) -> str:
        """Writes name and amount, e.g. ``player_0: $1.08``."""
        return f"{view.agent}: {write_cents(action * view.step)}"

    def picture(self, game: Any) -> str:
        """Lists the valuations of every round that is over or under way, and the bids of those that are over."""
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
