"""# Undercover.

| | |
|---|---|
| Creation | `undercover_v0.env()` or `pettingzoo.make("aec", "llmarena/undercover-v0")` |
| Agents | `player_0` to `player_4`; 3 to 10 players by option |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play undercover_v0 --policy player_0=human --policy player_1=similarity ...` |
| Action values | `player_0: a clue`, `vote: player_1` |
| Observation | two texts |

Four of five players share a secret word, one (the undercover player) holds a similar one, and the players do not know their
roles. In the clue stage of a round the living players describe their words in order, each after reading the earlier clues; in
the vote stage all of them vote at once, and the player with most votes is eliminated (ties by lot). The others win as soon as
the undercover player is eliminated; the undercover player wins after surviving two rounds. With several undercover players the
others have to find them all: the undercover side wins as soon as more of them are alive than rounds are left. Reaching half of
the players does not end the match, since they do not know each other.

Under random votes a single undercover player of five survives both rounds with probability 4/5 * 3/4 = 60 %, the
reference for win rates.

The word pair, the undercover side's word, the undercover seats, the first speaker and the lots for ties
are drawn from the seed; the same seed draws the same under other options. The package has two lists of word pairs,
381 in English and 177 in Chinese, written for this project.

Source: LLMArena (arXiv 2402.16499), section 2.4 and appendix A.4. For protocols with the undercover player as the last speaker
use `seat="last", first_player=0`.

### Arguments

* `n_players=5`: number of players, 3 to 10.
* `n_undercover=1`: number of undercover players, less than half of all.
* `max_rounds=2`: maximum number of rounds, from `n_undercover` to `n_players - 1`.
* `seat="random"`: seat of the undercover player: `"random"`, `"last"` or a number; with several `"random"` or `"last"`.
* `first_player="random"`: first speaker of every round: `"random"` or the number of a seat.
* `word_pairs=None`: path of your own list, UTF-8: a table with the header `category,a,b`, or lines `A - B`.
* `pair=None`: two words to play with, instead of a list.
* `swap_words=True`: draw which word goes to the undercover side; with `False` the second does.
* `clue_check=True`: make clues with the own word and repeated clues of other players illegal.
* `ask_guess=False`: ask voters for the other players' words too, an analysis of opponent modelling. Such votes invite players
  to reason step by step, with `cot` or without.
* `cot=False`: invite players to reason step by step before they answer, in both stages; without it they are asked for the
  answer only.
* `language="en"`: language of the texts and of the shipped list, `en` or `zh`.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Observation Space

`rules` (the same at every turn) and `text`: own name and word, every clue with its speaker and every published vote so far
in order, the living players, and the instruction. Clues are quoted, so they cannot pass for a
line of the environment. The text has the same form for both sides, and contains neither roles nor other players' words.

### Action Space

Text. In the clue stage `player_0: a clue` with the own name, one line of at most 500 characters; nothing after the colon is a
blank clue, which is legal and counted. In the vote stage `vote: player_1`; with `ask_guess` optionally a second line `guess:
player_1=word; player_2=word`. The last statement counts; a vote in the clue stage or a clue in the vote stage is not read. A
player can be named in digits or letters (`vote: 1`, `vote: Player One`), and JSON such as `{"clue": "..."}` or `{"vote":
"player_1", "guess": {"player_1": "word"}}` is read too. Lines in another player's name are no statements. Markup, quotes
around a clue and tokens of chat templates are removed before the others read it.

A clue is illegal if it contains the own word (as a whole word in any case; anywhere in Chinese) or says the same as a clue of
another player (case, blanks and punctuation aside). A vote must name exactly one other living player.

### Rewards

At the end +1 for every member of the winning side and -1 for the others, eliminated players included: they stay in `agents`
but have no more turns. An illegal action ends the match: the offender receives -1, all others 0.

### Infos

Numbers: `blank_clues` (clues without a letter, digit or symbol), `votes_received` and `eliminated_round` (0: not eliminated).
These are -1 until the match is over: `role` (1: undercover, 0: not), `pair` (number of the pair in its list), `swapped` (1: the
undercover side held its first word), and with `ask_guess` the number of `guesses` asked for, and of those with at least one
word right (`guesses_right`) and with the words of all other living players right (`guesses_strict`).

### Episode End

By the elimination of every undercover player, by more undercover players being left than rounds, or by an illegal action; after
at most 2 * (5 + 4) = 18 turns, in general the sum of 2 * (n_players - r) over r from 0 to max_rounds - 1.

### Version History

* v0: Initial version
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from llmarena_envs.core.declaration import Declaration, HiddenRole
from llmarena_envs.core.options import OptionError, check_bool
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.undercover.drawing import UndercoverDrawing
from llmarena_envs.undercover.game import CHANNELS, Undercover
from llmarena_envs.undercover.text import UndercoverCodec
from llmarena_envs.undercover.words import WordPair, load_pairs, make_pair, shipped_pairs


class raw_env(TextEnv):
    """Undercover as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "undercover_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="roles",
        channels=CHANNELS,
        hidden_role=HiddenRole("role", {"undercover": 1, "civilian": 0}, option="seat"),
        abilities=("communication", "opponent modelling", "team collaboration"),
        history="full",
        unparsable="noop",
        illegal="noop",
    )
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    # Both hold a clue and a vote; the stage selects one.
    action_examples: ClassVar[tuple[str, ...]] = tuple(
        json.dumps({"clue": f"clue number {number}", "vote": f"player_{number % 3}"}) for number in range(99)
    )
    game: Undercover
    codec: UndercoverCodec

    def __init__(
        self,
        *,
        n_players: int = 5,
        n_undercover: int = 1,
        max_rounds: int = 2,
        seat: int | Literal["random", "last"] = "random",
        first_player: int | Literal["random"] = "random",
        word_pairs: str | Path | None = None,
        pair: Sequence[str] | None = None,
        swap_words: bool = True,
        clue_check: bool = True,
        ask_guess: bool = False,
        cot: bool = False,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_bool("cot", cot)
        game = Undercover(
            _choose_pairs(language, word_pairs, pair),
            n_players=n_players,
            n_undercover=n_undercover,
            max_rounds=max_rounds,
            seat=seat,
            swap_words=swap_words,
            first_player=first_player,
            clue_check=clue_check,
            ask_guess=ask_guess,
        )
        codec = UndercoverCodec(
            language,
            n_players=n_players,
            n_undercover=n_undercover,
            max_rounds=max_rounds,
            cot=cot,
            ask_guess=ask_guess,
        )
        self._references = {"random votes": (n_players - max_rounds) / n_players} if n_undercover == 1 else {}
        super().__init__(game, codec, obs_type=obs_type, render_mode=render_mode)

    def references(self) -> dict[str, float]:
        """Returns the win rate of a single undercover player if all players vote at random.

        Each round eliminates a remaining player uniformly: (n - rounds) / n, 60 % with default options.
        """
        return dict(self._references)

    def make_drawing(self) -> UndercoverDrawing:
        """Returns the drawing of words, clues and votes."""
        return UndercoverDrawing(self.codec.language, self.game)


def _choose_pairs(language: str, path: str | Path | None, pair: Sequence[str] | None) -> tuple[WordPair, ...]:
    if pair is None:
        return shipped_pairs(language) if path is None else load_pairs(path)
    if path is not None:
        raise OptionError("word_pairs, pair: expected at most one of them, got both")
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise OptionError(f"pair: expected two words, got {pair!r:.200}")
    try:
        return (make_pair("", *pair),)
    except ValueError as error:
        raise OptionError(f"pair: {error}") from error


env = order_checked(raw_env)
