"""Observations of Hanabi and the parsing of replies."""

from collections.abc import Callable
from typing import NamedTuple

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.phrases import Phrases
from llmarena_envs.core.prompts import Prompts, Template
from llmarena_envs.core.replies import find, quoted
from llmarena_envs.hanabi.actions import Action, Kind
from llmarena_envs.hanabi.cards import COLORS, Card, Knowledge, copies, full_deck
from llmarena_envs.hanabi.game import Event, Hanabi, HanabiView
from llmarena_envs.hanabi.grammar import GRAMMAR
from llmarena_envs.hanabi.variant import Variant

# Kinds of actions in the order of examples.
_EXAMPLES = (Kind.REVEAL_RANK, Kind.REVEAL_COLOR, Kind.DISCARD, Kind.PLAY)

# Fields that change between turns, in the order of ``HanabiCodec._render``.
_CHANGING = (
    "history",
    "fireworks",
    "info_tokens",
    "life_tokens",
    "deck_size",
    "turns_left",
    "discards",
    "hands",
    "own_hand",
    "last_action",
    "last_card",
    "legal",
    "example",
)


class _Choice(NamedTuple):
    """Text of a set of legal actions.

    Attributes:
        listed: the actions in one line.
        examples: their replies, by legal kind.
    """

    listed: str
    examples: tuple[tuple[str, ...], ...]


class HanabiCodec(Codec[int, HanabiView]):
    """Texts and grammar of Hanabi.

    Actions and cards have English names in every language; the cards of a hand are counted from 1, the oldest first.

    Args:
        variant: the variant.
        language: language of the texts.
        hint: whether the legal actions are listed.
        cot: whether the instruction asks for an explanation before the action.

    Attributes:
        events: the text of each past event.
    """

    def __init__(self, variant: Variant, language: str, hint: bool, cot: bool) -> None:
        prompts = Prompts("llmarena_envs.hanabi", language)
        self.language = language
        self._prompts = prompts
        self._variant = variant
        self._agents = variant.agents
        self._numbers = {action: number for number, action in enumerate(variant.actions)}
        self._names = tuple(
            tuple(self._action_name(seat, action) for action in variant.actions) for seat in range(variant.players)
        )
        self._published = tuple(
            {f"Action: {name}": number for number, name in enumerate(names)} for names in self._names
        )
        instruction = "instruction_reasoning" if cot else "instruction"
        self._ends = ending_texts(language)
        to_move = prompts.joined("observation", *(["hint"] if hint else []), instruction)
        plain = prompts.joined("observation", *(["hint"] if hint else []), "instruction")
        to_move_reminder = prompts.joined("update", *(["hint"] if hint else []), "reminder")
        waiting = prompts.joined("observation", "wait")
        self._to_move = tuple(self._with_constants(to_move, seat) for seat in range(variant.players))
        self._to_move_plain = tuple(self._with_constants(plain, seat) for seat in range(variant.players))
        self._to_move_reminder = tuple(self._with_constants(to_move_reminder, seat) for seat in range(variant.players))
        self._waiting = tuple(self._with_constants(waiting, seat) for seat in range(variant.players))
        self._final = tuple(self._with_constants(prompts["observation"], seat) for seat in range(variant.players))
        self._others = tuple(self._agents[seat + 1 :] + self._agents[:seat] for seat in range(variant.players))
        self._none = prompts.render("none")
        self._titles = {agent: prompts.render("hand", player=agent) for agent in self._agents}
        self._cards = {card: card.name for card in full_deck(variant.colors, variant.ranks)}
        self._stages = [[f"{color} {rank}" for rank in range(variant.ranks + 1)] for color in COLORS[: variant.colors]]
        self.events = Phrases(self._event_text)
        self._known = Phrases(self._known_text)
        self._fireworks = Phrases(self._fireworks_text)
        self._hands = Phrases(self._hand_text, limit=1024)
        self._own_hands = Phrases(self._own_hand_text, limit=1024)
        self._choices = Phrases(self._choice, limit=1024)
        self._no_life, self._complete = prompts.render("no_life"), prompts.render("complete")
        self._no_turn = prompts.render("no_turn")

    def _with_constants(self, template: Template, seat: int) -> Callable[..., str]:
        """Fills in the constants of a match; returns a function for the changing fields."""
        constants = {
            "agent": self._agents[seat],
            "max_info_tokens": self._variant.info_tokens,
            "max_life_tokens": self._variant.life_tokens,
        }
        fields = {name: f"{{{name}}}" for name in template.placeholders}
        return Template(template.render(**{**fields, **constants}), template.where).by_position(*_CHANGING)

    def _action_name(self, seat: int, action: Action) -> str:
        kind, value, offset = action
        if kind in (Kind.PLAY, Kind.DISCARD):
            return f"{'Play' if kind is Kind.PLAY else 'Discard'} card {value + 1}"
        named = COLORS[value] if kind is Kind.REVEAL_COLOR else f"rank {value}"
        players = len(self._agents)
        return f"Reveal {named}" if players == 2 else f"Reveal {named} to {self._agents[(seat + offset) % players]}"

    def _event_text(self, event: Event) -> str:
        fields = {"player": self._agents[event.player], "action": self._names[event.player][event.action]}
        if event.card is None:
            positions = ", ".join([str(position + 1) for position in event.marked])
            return self._prompts.render("hinted", positions=positions, count=len(event.marked), **fields)
        is_play = self._variant.actions[event.action].kind is Kind.PLAY
        key = "discarded" if not is_play else "played" if event.scored else "misplayed"
        return self._prompts.render(key, card=event.card.name, **fields)

    def _known_text(self, known: Knowledge) -> str:
        colors = "/".join([COLORS[color] for color in known.colors])
        ranks = "/".join(map(str, known.ranks))
        return self._prompts.render(
            "known",
            colors=self._prompts.render("told", value=colors) if known.color_told else colors,
            ranks=self._prompts.render("told", value=ranks) if known.rank_told else ranks,
        )

    def rules(self, agent: str) -> str:
        """Returns the rules of the variant."""
        variant = self._variant
        ranks = [str(rank) for rank in range(1, variant.ranks + 1) for _ in range(copies(rank, variant.ranks))]
        return self._prompts.render(
            "rules",
            agent=agent,
            others=", ".join([other for other in self._agents if other != agent]),
            first=self._agents[0],
            deck_size=variant.deck_size,
            n_colors=variant.colors,
            colors=", ".join([self._prompts.render(f"color_{color.lower()}") for color in COLORS[: variant.colors]]),
            ranks=", ".join(ranks),
            top_rank=variant.ranks,
            top_score=variant.top_score,
            hand_size=variant.hand_size,
            info_tokens=variant.info_tokens,
            life_tokens=variant.life_tokens,
            to="" if variant.players == 2 else " to PLAYER",
            bomb=self._prompts.render(f"bomb_{variant.bomb_score}"),
        )

    def observation(self, view: HanabiView) -> str:
        """Returns history, table, hands, legal actions and the instruction."""
        return self._render((self._to_move if view.to_move else self._waiting)[view.seat], view)

    def for_person(self, view: HanabiView) -> str:
        """Returns the observation with an instruction that asks only for the action."""
        return self._render((self._to_move_plain if view.to_move else self._waiting)[view.seat], view)

    def update(self, view: HanabiView, since: HanabiView) -> str:
        """Returns new actions, table, hands, legal actions and the answer format."""
        if not view.to_move:
            return self.observation(view)
        return self._render(self._to_move_reminder[view.seat], view, len(since.history))

    def ending(self, view: HanabiView, ending: Ending) -> str:
        """Returns history, table, hands, the cause of the end, and the score."""
        if ending.offenders:
            cause = self._ends.forfeit(view.agent, ending.offenders)
        elif not view.life_tokens:
            cause = self._no_life
        elif sum(view.fireworks) == self._variant.top_score:
            cause = self._complete
        else:
            cause = self._no_turn
        return (
            f"{self._render(self._final[view.seat], view)}\n{self._ends.over(cause, self._ends.points(ending.reward))}"
        )

    def _render(self, fill: Callable[..., str], view: HanabiView, told: int = 0) -> str:
        """Fills in a template, with the history after the first ``told`` actions."""
        events, hands, none = self.events, self._hands, self._none
        history = [events[event] for event in view.history[told:]]
        others = zip(self._others[view.seat], view.hands, view.knowledge[1:], strict=True)
        return fill(
            "\n".join(history) or none,
            self._fireworks[view.fireworks],
            view.info_tokens,
            view.life_tokens,
            view.deck_size,
            view.turns_left,
            self._cards_text(view.discards),
            "\n".join([hands[hand] for hand in others]),
            self._own_hands[view.knowledge[0]],
            history[-1] if history else none,
            self._last_card(view.history),
            self._choices[view.seat, view.legal].listed,
            self.example(view) if view.to_move else "",
        )

    def _last_card(self, history: tuple[Event, ...]) -> str:
        """Returns the last played or discarded card."""
        for event in reversed(history):
            if event.card:
                return self._cards[event.card]
        return self._none

    def _choice(self, key: tuple[int, tuple[int, ...]]) -> _Choice:
        """Returns the text of a seat's legal actions."""
        seat, legal = key
        names, kinds = self._names[seat], [action.kind for action in self._variant.actions]
        examples = [
            tuple([f"Action: {names[action]}" for action in legal if kinds[action] is kind]) for kind in _EXAMPLES
        ]
        return _Choice(", ".join([names[action] for action in legal]), tuple(filter(None, examples)))

    def example(self, view: HanabiView) -> str:
        """Returns a legal action as an example of the answer format, a hint on the player's first turn.

        Players favour the example. Its kind therefore changes with every turn of the player, and its card or hint after each
        cycle of kinds.
        """
        examples = self._choices[view.seat, view.legal or (0,)].examples
        rounds, kind = divmod(len(view.history) // len(self._agents), len(examples))
        return examples[kind][rounds % len(examples[kind])]

    def _fireworks_text(self, fireworks: tuple[int, ...]) -> str:
        return ", ".join([stages[rank] for stages, rank in zip(self._stages, fireworks, strict=True)])

    def _cards_text(self, cards: tuple[Card, ...]) -> str:
        return ", ".join([self._cards[card] for card in cards]) or self._none

    def _hand_text(self, key: tuple[str, tuple[Card, ...], tuple[Knowledge, ...]]) -> str:
        """Returns a hand visible to the reader, below its title."""
        agent, cards, told = key
        lines = [f"{n}: {self._cards[card]} - {self._known[told[n - 1]]}" for n, card in enumerate(cards, 1)]
        return "\n".join([self._titles[agent], *(lines or [self._none])])

    def _own_hand_text(self, told: tuple[Knowledge, ...]) -> str:
        """Returns the knowledge about the reader's own cards."""
        return "\n".join([f"{n}: {self._known[known]}" for n, known in enumerate(told, 1)]) or self._none

    def read(self, reply: str, view: HanabiView) -> int:
        """Reads ``Action: Play card 1`` and the like."""
        published = self._published[view.seat].get(reply)
        if published is not None:
            return published
        kind, value, target = find(reply, GRAMMAR, view.agent).value
        offset = self._receiver(view.seat, target) if kind in (Kind.REVEAL_COLOR, Kind.REVEAL_RANK) else 0
        number = self._numbers.get(Action(kind, value, offset))
        if number is None:
            raise self._off_limits(kind)
        return number

    def _receiver(self, seat: int, target: str | None) -> int:
        """Returns the number of seats from ``seat`` to the receiver of a hint."""
        players = len(self._agents)
        if target is None:
            if players == 2:
                return 1
            raise ParseError(Failure.UNPARSABLE, "no_receiver")
        if target not in self._agents or target == self._agents[seat]:
            others = ", ".join([agent for agent in self._agents if agent != self._agents[seat]])
            raise ParseError(Failure.ILLEGAL, "wrong_receiver", others=others, target=quoted(target))
        return (self._agents.index(target) - seat) % players

    def _off_limits(self, kind: Kind) -> ParseError:
        variant = self._variant
        if kind is Kind.REVEAL_COLOR:
            return ParseError(Failure.ILLEGAL, "no_such_color", colors=", ".join(COLORS[: variant.colors]))
        if kind is Kind.REVEAL_RANK:
            return ParseError(Failure.ILLEGAL, "no_such_rank", ranks=variant.ranks)
        return ParseError(Failure.ILLEGAL, "no_such_position", hand_size=variant.hand_size)

    def format(self, action: int, view: HanabiView) -> str:
        """Writes the action line, e.g. ``Action: Play card 1``."""
        return f"Action: {self._names[view.seat][action]}"

    def picture(self, game: Hanabi) -> str:
        """Draws the table and all hands."""
        return self._prompts.render(
            "picture",
            fireworks=self._fireworks[game.fireworks],
            info_tokens=game.info_tokens,
            max_info_tokens=self._variant.info_tokens,
            life_tokens=game.life_tokens,
            max_life_tokens=self._variant.life_tokens,
            score=game.score,
            deck_size=game.deck_size,
            discards=self._cards_text(game.discards),
            hands="\n".join([self._hands[hand] for hand in zip(game.agents, game.hands, game.knowledge, strict=True)]),
            last_action=self.events[game.history[-1]] if game.history else self._none,
        )
