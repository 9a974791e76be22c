"""Actions of all games with the pieces of which replies in any style are made."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from llmarena_envs import (
    bargain_v0,
    bid_v0,
    connect_four_v0,
    hanabi_v0,
    holdem_v0,
    idiom_solitaire_v0,
    public_goods_v0,
    tictactoe_v0,
    undercover_v0,
    writer_editor_v0,
)
from llmarena_envs.core.text_env import TextEnv


class Case(NamedTuple):
    """An action that a reply states.

    Attributes:
        game: the game, with the stage where it has several.
        position: which environment it is played in; see ``environment``.
        statement: the published form.
        value: the same without its label.
        fields: the same as the fields of an object.
        considered: another legal statement of the same player, which replies weigh before or after.
        other: a statement in another seat's name.
        free: whether any text would do as a value.
    """

    game: str
    position: str
    statement: str
    value: str
    fields: dict[str, Any]
    considered: str
    other: str
    free: bool = False

    @property
    def label(self) -> str:
        """What stands before the value in the published form."""
        return self.statement.partition(":")[0]

    @property
    def json(self) -> str:
        """The fields as JSON."""
        return json.dumps(self.fields, ensure_ascii=False)


DECK = "R1 Y2 Y1 R2 " + "R1 Y1 R1 Y1 R2 Y2 R3 R3 Y3 Y3 R4 R4 Y4 Y4 R5 Y5"
DECK_OF_THREE = "R2 R3 R1 Y1 Y1 R1 " + "R1 Y1 Y2 Y2 R2 R3 Y3 Y3 R4 R4 Y4 Y4 R5 Y5"
OPENINGS = {
    "hanabi_2": ("Reveal rank 1", "Reveal Red"),
    "hanabi_3": ("Reveal rank 1 to player_1", "Reveal Red to player_0", "Discard card 1"),
}


@cache
def environment(position: str, language: str = "en") -> TextEnv:
    """Returns the environment of a case, with ``agent_selection`` to move."""
    options: dict[str, Any] = {"language": language}
    if position == "tictactoe":
        env = tictactoe_v0.raw_env(**options)
    elif position == "connect_four":
        env = connect_four_v0.raw_env(**options)
    elif position == "holdem":
        env = holdem_v0.raw_env(button=0, **options)
    elif position == "hanabi_2":
        env = hanabi_v0.raw_env(deck=DECK, **options)
    elif position == "hanabi_3":
        env = hanabi_v0.raw_env(players=3, deck=DECK_OF_THREE, **options)
    elif position == "bid":
        env = bid_v0.raw_env(values=[[7.0, 5.0]], **options)
    elif position == "public_goods":
        env = public_goods_v0.raw_env(**options)
    elif position in ("idiom", "ruling"):
        env = idiom_solitaire_v0.raw_env(start="一心一意", accept_outside=True, **options)
    elif position in ("bargain", "bargain_answer"):
        env = bargain_v0.raw_env(instance=((3, 2, 1), (1, 2, 3), (2, 1, 2)), **options)
    elif position in ("program", "review", "judgement"):
        env = writer_editor_v0.raw_env(max_rounds=1, objective=False, **options)
    elif position == "translation":
        env = writer_editor_v0.raw_env(task="translation", objective=False, **options)
    else:
        env = undercover_v0.raw_env(pair=("zyxqua", "vubnor"), ask_guess=position == "guess", **options)
    env.reset(seed=0)
    if position in ("hanabi_2", "hanabi_3"):
        for line in OPENINGS[position]:
            env.step(env.parse(f"Action: {line}", env.agent_selection))
    if position in ("review", "judgement"):
        env.step("def f(): pass")
    if position == "judgement":
        env.step("over")
    if position == "bargain_answer":
        env.step("player_0: 1 hats 1 balls 1 apples")
    if position == "ruling":
        env.step("意在画外")
    if position in ("vote", "guess"):
        for number in range(5):
            env.step(f"player_{number}: word {'abcde'[number]}")
    return env


def _board() -> Iterator[Case]:
    for row, column in ((1, 1), (2, 3), (3, 2)):
        value = f"({row}, {column})"
        yield Case(
            "tictactoe", "tictactoe", f"X: {value}", value, {"row": row, "column": column}, "X: (2, 2)", "O: (1, 3)"
        )
    for column in (1, 4, 7):
        yield Case("connect_four", "connect_four", f"X: {column}", str(column), {"column": column}, "X: 3", "O: 5")


def _actions() -> Iterator[Case]:
    for name in ("Fold", "Check and Call", "Raise Half Pot", "Raise Full Pot", "All-In"):
        considered = "Action: All-In" if name != "All-In" else "Action: Fold"
        yield Case(
            "holdem",
            "holdem",
            f"Action: {name}",
            name,
            {"action": name},
            considered,
            "player_1: Action: Check and Call",
        )
    for name in ("Play card 1", "Play card 2", "Discard card 1", "Reveal Yellow", "Reveal rank 1"):
        considered = "Action: Discard card 2" if not name.startswith("Discard") else "Action: Play card 1"
        yield Case(
            "hanabi", "hanabi_2", f"Action: {name}", name, {"action": name}, considered, "player_1: Action: Play card 2"
        )
    for name in ("Play card 1", "Discard card 2", "Reveal Red to player_2", "Reveal rank 1 to player_1"):
        yield Case(
            "hanabi",
            "hanabi_3",
            f"Action: {name}",
            name,
            {"action": name},
            "Action: Play card 2",
            "player_1: Action: Play card 2",
        )


def _amounts() -> Iterator[Case]:
    for amount in ("$1.08", "$3.50", "$0.00", "$6"):
        yield Case("bid", "bid", f"player_0: {amount}", amount, {"bid": amount}, "player_0: $2.25", "player_1: $4.00")
    for coins in ("5", "0", "10"):
        yield Case(
            "public_goods",
            "public_goods",
            f"coins: {coins}",
            coins,
            {"coins": int(coins)},
            "coins: 7",
            "player_1: coins: 4",
        )
    for hats, balls, apples in ((2, 1, 0), (3, 2, 1), (0, 0, 1)):
        value = f"{hats} hats {balls} balls {apples} apples"
        fields = {"hats": hats, "balls": balls, "apples": apples}
        considered, other = "player_0: 1 hats 1 balls 1 apples", "player_1: 0 hats 2 balls 1 apples"
        yield Case("bargain", "bargain", f"player_0: {value}", value, fields, considered, other)
    yield Case(
        "bargain deal",
        "bargain_answer",
        "player_1: Deal",
        "Deal",
        {"deal": True},
        "player_1: 1 hats 1 balls 1 apples",
        "player_0: 2 hats 0 balls 1 apples",
    )


def _words() -> Iterator[Case]:
    for clue in ("You can eat it in summer", "round and red", "夏天常见"):
        yield Case(
            "clue",
            "clue",
            f"player_0: {clue}",
            clue,
            {"clue": clue},
            "player_0: something old",
            "player_1: it grows",
            True,
        )
    for number in (1, 3):
        yield Case(
            "vote",
            "vote",
            f"vote: player_{number}",
            f"player_{number}",
            {"vote": f"player_{number}"},
            "vote: player_2",
            "player_1: vote: player_4",
        )
    yield Case(
        "vote",
        "guess",
        "vote: player_3\nguess: player_1=plum",
        "player_3",
        {"vote": "player_3", "guess": {"player_1": "plum"}},
        "vote: player_2",
        "player_1: vote: player_4",
    )


def _idioms() -> Iterator[Case]:
    for idiom in ("意气风发", "意味深长"):
        yield Case(
            "idiom", "idiom", f"成语: {idiom}", idiom, {"idiom": idiom}, "成语: 意料之外", "player_1: 成语: 外强中干"
        )
    for verdict in ("yes", "no"):
        yield Case(
            "ruling",
            "ruling",
            f"verdict: {verdict}",
            verdict,
            {"verdict": verdict},
            "verdict: abstain",
            "player_1: verdict: yes",
        )


CASES = [*_board(), *_actions(), *_amounts(), *_words(), *_idioms()]
GAMES = sorted({case.game for case in CASES})


def parse(case: Case, reply: str) -> Any:
    """Returns what a reply is read as at the case's position."""
    env = environment(case.position)
    return env.parse(reply, env.agent_selection)


@cache
def expected(case_number: int) -> Any:
    """Returns the action that a case states."""
    case = CASES[case_number]
    return parse(case, case.statement)
