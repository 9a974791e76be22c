"""Observations of bargaining and the parsing of replies."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from llmarena_envs.bargain.game import ITEMS, Action, Bargain, BargainView, Offer, rest_of
from llmarena_envs.bargain.grammar import MAX_MESSAGE, plan_text, read_action, read_message, write_action
from llmarena_envs.bargain.scenarios import Triple, worth
from llmarena_envs.core.codec import Codec, ReplyPart
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import quote, without_marks


@cache  # per language at most 216 plans, and fewer triples of values
def _items(language: str, name: str, numbers: Triple) -> str:
    """Returns the numbers of each kind of item in words: counts with ``name="plan"``, values with ``name="values"``."""
    hats, balls, apples = numbers
    return Prompts("llmarena_envs.bargain", language).render(name, hats=hats, balls=balls, apples=apples)


class _Told(NamedTuple):
    """The text of a match already shown to a side.

    Attributes:
        reader: the side, the first speaker, the counts and the side's values.
        offers: the offers in the text.
        text: the lines about the items and these offers.
    """

    reader: tuple[str, str, Triple, Triple]
    offers: tuple[Offer, ...]
    text: str


class BargainCodec(Codec[Action, BargainView]):
    """Texts and grammar of bargaining.

    Args:
        language: language of the texts.
        show_offer_value: whether an offer is shown with its value to the reader.
        game: the game with the parameters for the rules.
    """

    def __init__(self, language: str, show_offer_value: bool, game: Bargain) -> None:
        self._prompts = prompts = Prompts("llmarena_envs.bargain", language)
        self.language = language
        self._ends = ending_texts(language)
        self._is_contest = game.reward == "win"
        self._max_rounds = game.max_turns // 2
        self._max_turns = game.max_turns
        aim = prompts.render(f"aim_{game.reward}")
        self._rules = prompts.render("rules", max_rounds=self._max_rounds, aim=aim, max_message=MAX_MESSAGE)
        self._texts = {
            name: prompts[name]
            for name in (
                "state",
                "own_offer",
                "own_message",
                "other_offer",
                "other_message",
                "open",
                "answer",
                "answer_reminder",
                "last_answer",
                "wait",
                "agreed_by_own",
                "agreed_by_other",
                "failed",
                "picture",
            )
        }
        self._told: dict[str, _Told] = {}
        self._worth = prompts["worth"] if show_offer_value else None

    def rules(self, agent: str) -> str:
        """Returns the rules."""
        return self._rules

    def observation(self, view: BargainView) -> str:
        """Returns items, own values, messages, offers, the standing offer and the instruction."""
        return self._history(view) + self._instruction(view)

    def update(self, view: BargainView, since: BargainView) -> str:
        """Returns new messages, offers and the instruction, shortened if the side has read it."""
        told = len(since.offers)
        lines = [self._past_turn(view, turn) for turn in range(told, len(view.offers))]
        again = view.to_move and told > 0 and len(view.offers) < self._max_turns - 1
        instruction = self._open_round("answer_reminder", view) if again else self._instruction(view)
        return "\n".join([*lines, instruction])

    def ending(self, view: BargainView, ending: Ending) -> str:
        """Returns items, own values, messages, offers, the cause of the end, and the reader's share."""
        result = (self._ends.contest if self._is_contest else self._ends.points)(ending.reward)
        return self._history(view) + self._ends.over(self._cause(view, ending), result)

    def _history(self, view: BargainView) -> str:
        """Returns the items and all past turns, one line each.

        Extends the cached text of the previous position, one per reader.
        """
        reader = view.agent, view.first, view.counts, view.values
        told = self._told.get(view.agent)
        if told is None or told.reader != reader or view.offers[: len(told.offers)] != told.offers:
            told = _Told(reader, (), self._state(view) + "\n")
        text = told.text
        for turn in range(len(told.offers), len(view.offers)):
            text += self._past_turn(view, turn) + "\n"
        self._told[view.agent] = _Told(reader, view.offers, text)
        return text

    def _state(self, view: BargainView) -> str:
        """Returns the reader, the items and their values to the reader."""
        return self._texts["state"].render(
            agent=view.agent, other=view.other, counts=self._plan(view.counts), values=self._values(view.values)
        )

    def _plan(self, counts: Triple) -> str:
        return _items(self.language, "plan", counts)

    def _values(self, values: Triple) -> str:
        return _items(self.language, "values", values)

    def _past_turn(self, view: BargainView, turn: int) -> str:
        """Returns a past turn as lines: the quoted message, and the plan from the reader's side."""
        offer = view.offers[turn]
        own = (turn % 2 == 0) == (view.first == view.agent)
        rest = rest_of(view.counts, offer.counts)
        fields = {"round": turn // 2 + 1, "agent": view.agent, "other": view.other}
        text = self._texts["own_offer" if own else "other_offer"].render(
            **fields,
            kept=self._plan(offer.counts),
            rest=self._plan(rest),
            worth=self._worth_text(view, offer.counts if own else rest),
        )
        if not offer.message:
            return text
        wrote = self._texts["own_message" if own else "other_message"].render(**fields)
        return f"{wrote}\n{quote(offer.message)}\n{text}"

    def _worth_text(self, view: BargainView, share: Triple) -> str:
        return self._worth.render(worth=worth(share, view.values)) if self._worth else ""

    def _cause(self, view: BargainView, ending: Ending) -> str:
        """Returns the cause of the end."""
        if ending.offenders:
            return self._ends.forfeit(view.agent, ending.offenders)
        if not view.agreed:
            return self._texts["failed"].render()
        own = (len(view.offers) % 2 == 0) == (view.first == view.agent)
        kept = view.offers[-1].counts
        share = rest_of(view.counts, kept) if own else kept
        agreed = self._texts["agreed_by_own" if own else "agreed_by_other"]
        return agreed.render(
            agent=view.agent, other=view.other, share=self._plan(share), total=worth(share, view.values)
        )

    def _instruction(self, view: BargainView) -> str:
        """Returns the standing offer and the instruction."""
        if not view.to_move:
            return self._texts["wait"].render(agent=view.agent, other=view.other)
        if not view.offers:
            return self._open_round("open", view)
        kept = view.offers[-1].counts
        rest = rest_of(view.counts, kept)
        offer = {"kept": self._plan(kept), "rest": self._plan(rest), "worth": self._worth_text(view, rest)}
        return self._open_round("last_answer" if len(view.offers) == self._max_turns - 1 else "answer", view, **offer)

    def _open_round(self, name: str, view: BargainView, **offer: str) -> str:
        """Returns the round and its instruction."""
        present = {"agent": view.agent, "other": view.other, "round": view.round, "max_rounds": self._max_rounds}
        return self._texts[name].render(**present, **offer)

    def read(self, reply: str, view: BargainView) -> Action:
        """Reads a plan with its message or ``Deal``; see ``grammar.read_action``."""
        return read_action(reply, view.agent)

    def example(self, view: BargainView) -> str:
        """Returns the answer format: a plan, and ``Deal`` if there is an offer."""
        plan = f"{view.agent}: {plan_text((1, 1, 1))}"
        return self._prompts.render("example_or_deal", plan=plan, deal=f"{view.agent}: Deal") if view.offers else plan

    def format(self, action: Action, view: BargainView) -> str:
        """Writes ``player_0: 2 hats 1 ball 0 apples`` after the message, or ``player_0: Deal``."""
        return write_action(view.agent, action)

    def parts(self, view: BargainView) -> tuple[ReplyPart, ...]:
        """Returns a message and the items of an offer; the last offer is accepted from the list of moves."""
        items = (
            ReplyPart(item, self._prompts.render(f"part_{item}"), tuple(map(str, range(count + 1))))
            for item, count in zip(ITEMS, view.counts, strict=True)
        )
        return ReplyPart("message", self._prompts.render("part_message", other=view.other)), *items

    def join_parts(self, texts: Mapping[str, str], view: BargainView) -> str:
        """Writes a message and an offer."""
        counts = [texts.get(item, "") for item in ITEMS]
        if not all(count.isdecimal() for count in counts):
            return ""
        hats, balls, apples = map(int, counts)
        for message in (texts.get("message", ""), without_marks(texts.get("message", ""))):
            offer = Offer((hats, balls, apples), read_message(message))
            if (written := write_action(view.agent, offer)) != write_action(view.agent, offer._replace(message="")):
                break
        return written

    def picture(self, game: Any) -> str:
        """Shows the items, both sides' values, and all messages and offers."""
        counts, values = game.scenario
        first = game.view(game.agents[0]).first
        lines = [
            self._texts["picture"].render(
                counts=self._plan(counts), values_0=self._values(values[0]), values_1=self._values(values[1])
            )
        ]
        order = game.agents if first == game.agents[0] else game.agents[::-1]
        for turn, offer in enumerate(game.offers):
            if offer.message:
                lines.append(quote(offer.message))
            lines.append(write_action(order[turn % 2], Offer(offer.counts)))
        if game.agreed:
            lines.append(f"{order[len(game.offers) % 2]}: Deal")
        return "\n".join(lines)
