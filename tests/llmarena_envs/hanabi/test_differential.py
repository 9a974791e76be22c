"""Random games beside OpenSpiel's hanabi with the same deck: every fact that it prints is compared after each action."""

import numpy as np
import pytest

from llmarena_envs.hanabi.cards import Card
from llmarena_envs.hanabi.game import Hanabi
from llmarena_envs.hanabi.text import HanabiCodec
from llmarena_envs.hanabi.variant import Variant

pytestmark = pytest.mark.needs("pyspiel")

LETTERS = "RYGWB"
FULL = {"colors": 5, "hand_size": 5, "info_tokens": 8, "life_tokens": 3}
CASES = [
    (Variant(), 200),
    (Variant(life_tokens=3), 133),
    (Variant(**FULL), 40),
    (Variant(**FULL, players=3), 26),
    (Variant(**{**FULL, "hand_size": 4}, players=4), 20),
    (Variant(**{**FULL, "hand_size": 4}, players=5), 20),
    (Variant(players=3, colors=3, ranks=4, hand_size=3, info_tokens=5, life_tokens=2), 50),
    (Variant(colors=1, ranks=5, hand_size=5), 100),
    (Variant(players=5, colors=2, ranks=5, hand_size=4), 33),
    (Variant(colors=4, ranks=1, hand_size=2, info_tokens=1), 50),
    (Variant(colors=3, ranks=2, hand_size=1, info_tokens=2), 50),
]


def load(variant):
    import pyspiel

    return pyspiel.load_game(
        "hanabi",
        {
            "players": variant.players,
            "colors": variant.colors,
            "ranks": variant.ranks,
            "hand_size": variant.hand_size,
            "max_information_tokens": variant.info_tokens,
            "max_life_tokens": variant.life_tokens,
        },
    )


def knowledge_text(known):
    """Writes the knowledge of a card as OpenSpiel does: hinted values, then possible ones, e.g. ``RX|R1245``."""
    told = LETTERS[known.colors[0]] if known.color_told else "X"
    told += str(known.ranks[0]) if known.rank_told else "X"
    return told + "|" + "".join(LETTERS[color] for color in known.colors) + "".join(map(str, known.ranks))


def facts(text):
    """Reads OpenSpiel's text: the open facts by name, and for each hand the pairs of card and knowledge."""
    head, _, rest = text.partition("Hands:\n")
    open_facts = dict(line.split(": ") for line in head.splitlines())
    hands, _, tail = rest.partition("Deck size: ")
    deck_size, _, discards = tail.partition("\nDiscards:")
    players = [
        [tuple(line.split(" || ")) for line in hand.splitlines() if line != "Cur player"]
        for hand in hands.split("-----\n")
    ]
    return open_facts, players, deck_size, discards.split()


def expected_facts(view, own_hand):
    """Returns the same facts as ``view`` has them, with ``own_hand`` for the hand that it leaves out."""
    hands = [own_hand, *([card.code for card in hand] for hand in view.hands)]
    return (
        {
            "Life tokens": str(view.life_tokens),
            "Info tokens": str(view.info_tokens),
            "Fireworks": "".join(f"{LETTERS[color]}{rank} " for color, rank in enumerate(view.fireworks)),
        },
        [
            [(card, knowledge_text(known)) for card, known in zip(hand, told, strict=True)]
            for hand, told in zip(hands, view.knowledge, strict=True)
        ],
        str(view.deck_size),
        [card.code for card in view.discards],
    )


def told_text(possible):
    """Returns hinted and possible values of a piece of our text such as ``Red (told)`` or ``1/2/5``."""
    values = possible.removesuffix(" (told)").split("/")
    codes = "".join(value[0] for value in values)
    return (codes if possible.endswith(" (told)") else "X"), codes


def card_code(name):
    color, rank = name.split(" ")
    return color[0] + rank


def facts_in_text(text):
    """Reads the same facts out of our English text observation, the own hand first."""
    lines = text.splitlines()
    fields = dict(line.split(": ", 1) for line in lines if ": " in line and not line[0].isdigit())
    hands, hand = [], None
    for line in lines:
        if line.startswith(("Cards of player_", "Your own cards")):
            hands.append(hand := [])
        elif hand is not None and line[0].isdigit():
            card, _, known = line.partition(": ")[2].rpartition(" - ")
            color, rank = known.removeprefix("colour ").split(", rank ")
            (told_color, colors), (told_rank, ranks) = told_text(color), told_text(rank)
            hand.append((card_code(card) if card else "XX", f"{told_color}{told_rank}|{colors}{ranks}"))
        else:
            hand = None
    discards = fields["Discarded cards"]
    return (
        {
            "Life tokens": fields["Life tokens"].split(" of ")[0],
            "Info tokens": fields["Information tokens"].split(" of ")[0],
            "Fireworks": "".join(card_code(stage) + " " for stage in fields["Fireworks"].split(", ")),
        },
        [hands[-1], *hands[:-1]],
        fields["Cards in the deck"],
        [] if discards == "none" else [card_code(card) for card in discards.split(", ")],
    )


def deal(state, game, dealt):
    """Makes OpenSpiel deal the next cards of our deck; returns how many of them it has dealt now."""
    while state.is_chance_node():
        outcomes = dict(state.chance_outcomes())
        card = game.deck[dealt]
        action = card.color * game.variant.ranks + card.rank - 1
        assert state.action_to_string(action) == f"(Deal {card.code})"
        left = game.deck[dealt:]
        assert outcomes[action] == pytest.approx(left.count(card) / len(left))
        state.apply_action(action)
        dealt += 1
    return dealt


def choose(rng, game, careful):
    """Draws a legal action; careful games seldom misplay and so last until the deck is empty."""
    legal = game.legal
    if careful and rng.random() < 0.98:
        fits = [game.fireworks[card.color] == card.rank - 1 for card in game.hands[game.turn]]
        size = game.variant.hand_size
        legal = [number for number in legal if not size <= number < 2 * size or fits[number - size]] or legal
    return int(legal[int(rng.integers(len(legal)))])


@pytest.mark.parametrize(
    ("variant", "games"), [(Variant(), 60), *(pytest.param(*case, marks=pytest.mark.slow) for case in CASES)], ids=str
)
def test_random_games_agree(variant, games):
    reference = load(variant)
    assert reference.num_distinct_actions() == len(variant.actions)
    assert reference.max_utility() == variant.top_score
    english = HanabiCodec(variant, "en", hint=True, cot=True)
    game, rng, endings = Hanabi(variant), np.random.default_rng(7), set()
    for number in range(games):
        game.reset(rng)
        state = reference.new_initial_state()
        dealt = deal(state, game, 0)
        careful, codec = number % 2 == 0, english if number % 4 < 2 else None
        while not state.is_terminal():
            assert game.to_move == (f"player_{state.current_player()}",)
            assert list(game.legal) == state.legal_actions()
            compare(state, game, codec)
            action = choose(rng, game, careful)
            state.apply_action(action)
            game.apply((action,))
            dealt = deal(state, game, dealt)
            assert dealt == game.dealt
            assert len(game.history) <= game.max_turns
            assert list(game.rewards) == state.rewards()
            assert [float(game.score)] * variant.players == state.returns()
        assert game.to_move == ()
        compare(state, game, codec)
        endings.add("bomb" if not game.life_tokens else "complete" if game.turns_left else "deck empty")
    assert "bomb" in endings or variant.ranks == 1
    assert "deck empty" in endings or variant.top_score <= 5


def compare(state, game, codec=None):
    for player, agent in enumerate(game.agents):
        view = game.view(agent)
        expected = facts(state.observation_string(player))
        assert expected == expected_facts(view, ["XX"] * len(game.hands[player]))
        if codec is not None:
            assert expected == facts_in_text(codec.observation(view))
    own_hand = [card.code for card in game.hands[0]]
    assert facts(str(state)) == expected_facts(game.view("player_0"), own_hand)


@pytest.mark.parametrize("variant", [Variant(), Variant(**FULL, players=3)], ids=str)
def test_actions_are_numbered_alike(variant):
    state = load(variant).new_initial_state()
    words = {"discard": "(Discard {0})", "play": "(Play {0})"}
    for number, (kind, value, offset) in enumerate(variant.actions):
        if kind.value in words:
            expected = words[kind.value].format(value)
        elif kind.value == "reveal colour":
            expected = f"(Reveal player +{offset} color {LETTERS[value]})"
        else:
            expected = f"(Reveal player +{offset} rank {value})"
        assert state.action_to_string(0, number) == expected


def test_both_have_the_same_cards():
    state = load(Variant(colors=5)).new_initial_state()
    counts = {
        Card(color, rank): probability * 50
        for color in range(5)
        for rank in range(1, 6)
        for action, probability in state.chance_outcomes()
        if action == color * 5 + rank - 1
    }
    expected = {Card(color, rank): (3, 2, 2, 2, 1)[rank - 1] for color in range(5) for rank in range(1, 6)}
    assert counts == pytest.approx(expected)
