"""What a player of Undercover reads, and how a reply is read back."""

import json
import re
from collections.abc import Iterable, Iterator

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, EndingTexts
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.messages import Message
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import json_objects, last_match, read_part
from llmarena_envs.undercover.game import CLUE, GUESS_SEPARATORS, Clue, Result, Undercover, UndercoverView, Vote
from llmarena_envs.undercover.words import one_line

# Full-width forms of ASCII, one character for one, so that positions hold in the original text, which clues keep.
_NARROW = {0xFF01 + offset: 0x21 + offset for offset in range(94)} | {0x3000: 0x20}

_DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_CHINESE_DIGITS = "零一二三四五六七八九"
_NUMBER = rf"(?:[0-9]{{1,3}}|{'|'.join(_DIGIT_WORDS)}|[{_CHINESE_DIGITS}])(?![0-9A-Za-z_])"
_PREFIX = r"(?:player|玩家)[ \t_\\-]*"
_NAME = re.compile(rf"\s*{_PREFIX}({_NUMBER})\s*", re.IGNORECASE)
_MARKUP = r"[ \t*_`\"'“”‘’<>\[\](){}【】「」『』《》〈〉]*+"

# A player's name and a colon at the beginning of a line, perhaps after a label such as "Clue:".
_SPEECH = re.compile(
    rf"^(?P<opening>[ \t>*_`#\"'“‘(\[<-]*+)(?:(?:(?!player|玩家)[^:\n]){{1,40}}:[ \t*_`\"']*+)?{_PREFIX}(?P<number>{_NUMBER})"
    r"[*_`\"'”’)\]>]*+\s*:(?:[*_`]++(?=\s|$))?",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSING = str.maketrans("“‘([<", "”’)]>")
_FENCES = ("```", "~~~")

# "vote:" or "vote: I vote for" anywhere, or a line that says nothing but "I vote for player_1".
_BALLOT = re.compile(
    r"(?<![A-Za-z])(?:vote(?:[ \t]+for)?|投票给?|投给)[\s\"'*_`]*+[:=]\s*+(?:(?:i[ \t]+)?vote[ \t]+)?(?:for[ \t]+)?"
    r"|^[^\w\n]*+(?:(?:i[ \t]+)?vote[ \t]+(?:for[ \t]+)?|我?投(?:票?给)?[ \t]*)"
    rf"(?={_PREFIX}{_NUMBER}[^\w\n]*+$)",
    re.IGNORECASE | re.MULTILINE,
)
# One of the players named in a vote; a bare number must not be the beginning of something else.
_TARGET = re.compile(
    rf"{_MARKUP}(?:[,;/&+、和与或及]|and\b|or\b)?{_MARKUP}(?:and\b|or\b)?{_MARKUP}"
    rf"(?:{_PREFIX}(?P<named>{_NUMBER})|(?P<bare>{_NUMBER})(?:号|(?=[ \t]*(?:$|(?!\.[0-9])[^\w\s]|and\b|or\b|[和与或及]))))",
    re.IGNORECASE,
)

_GUESSES = re.compile(r"(?<![A-Za-z])(?:guess(?:es)?|猜测?)[\s\"'*_`]*+[:=]", re.IGNORECASE)
_GUESS = re.compile(
    rf"{_PREFIX}(?P<number>{_NUMBER})[*_`\"']*+[ \t]*+=[ \t]*+(?P<word>[^\n{GUESS_SEPARATORS}]++)", re.IGNORECASE
)


def _player(number: str) -> str:
    """Returns the name of the player called ``number`` in digits or letters."""
    digit = number.lower()
    if digit in _DIGIT_WORDS:
        return f"player_{_DIGIT_WORDS.index(digit)}"
    return f"player_{_CHINESE_DIGITS.index(digit) if digit in _CHINESE_DIGITS else int(digit)}"


def _named(text: str) -> str | None:
    """Returns the player that a text consists of."""
    match = _NAME.fullmatch(text.translate(_NARROW))
    return _player(match[1]) if match else None


class UndercoverCodec(Codec):
    """Texts and grammar of Undercover.

    Args:
        language: language of the texts.
        n_players: number of players.
        n_undercover: number of undercover players.
        max_rounds: number of rounds.
        cot: whether players are invited to reason before they answer.
        ask_guess: whether guesses of the other players' words are asked for with a vote, and reasoning with them.
    """

    def __init__(
        self, language: str, *, n_players: int, n_undercover: int, max_rounds: int, cot: bool, ask_guess: bool
    ) -> None:
        prompts = Prompts("llmarena_envs.undercover", language)
        self.language = language
        self._prompts = prompts
        self._ends = EndingTexts(language)
        self._ask_guess = ask_guess
        self._max_rounds = max_rounds
        sides = "one" if n_undercover == 1 else "several"
        self._rules = prompts.render(
            "rules",
            n_players=n_players,
            last=n_players - 1,
            groups=prompts.render(f"groups_{sides}", n_ordinary=n_players - n_undercover, n_undercover=n_undercover),
            max_rounds=max_rounds,
            end=prompts.render(f"end_{sides}"),
        )
        self._how = prompts.render("reason" if cot else "only")

    def rules(self, agent: str) -> str:
        """Returns the rules, the same for everybody."""
        return self._rules

    def observation(self, view: UndercoverView) -> str:
        """Returns the player's name and word, the history, and the instruction."""
        return "\n".join([*self._position(view), self._instruction(view)])

    def ending(self, view: UndercoverView, ending: Ending) -> str:
        """Returns the player's name and word, the history, which side won, and whether the player did."""
        if view.winner:
            cause, result = self._prompts.render(f"winner_{view.winner}"), self._ends.contest(ending.reward)
        else:
            cause, result = self._ends.forfeit(view.agent, ending.offenders), self._prompts.render("no_winner")
        return "\n".join([*self._position(view), self._ends.over(cause, result)])

    def _position(self, view: UndercoverView) -> list[str]:
        render = self._prompts.render
        return [
            render("intro", agent=view.agent, word=json.dumps(view.word, ensure_ascii=False)),
            *self._history(view.clues, view.results, view.round),
            render("living", players=", ".join(view.living)),
        ]

    def _history(self, clues: Iterable[Message], results: tuple[Result, ...], last_round: int) -> Iterator[str]:
        """Yields the lines of what was said and published: each position's are the beginning of the next one's."""
        render = self._prompts.render
        clues = tuple(clues)
        for number in range(1, last_round + 1):
            yield render("round", round=number, max_rounds=self._max_rounds)
            for message in clues:
                if message.round == number:
                    # Quoted, so that nothing a player says can pass for a line of the host's.
                    clue = json.dumps(message.text, ensure_ascii=False) if message.text else render("blank")
                    yield f"{message.sender}: {clue}"
            for result in results:
                if result.round == number:
                    votes = ", ".join(f"{voter} -> {target}" for voter, target in result.votes)
                    yield render("votes", votes=votes, eliminated=result.eliminated)

    def _instruction(self, view: UndercoverView) -> str:
        render = self._prompts.render
        if not view.to_move:
            return render("wait")
        if view.stage == CLUE:
            return render("clue_instruction", how=self._how, agent=view.agent)
        others = [vote.target for vote in view.legal]
        players = ", ".join(others)
        if not self._ask_guess:
            return render("vote_instruction", how=self._how, players=players)
        guesses = "; ".join([render("guess", player=player) for player in others])
        return render("vote_and_guess_instruction", players=players, guesses=guesses)

    def parse(self, reply: str, view: UndercoverView) -> Clue | Vote:
        """Reads ``player_0: clue`` in the clue stage, ``vote: player_1`` in the vote stage; the last one stated counts.

        JSON with ``clue`` or the player's name, or with ``vote`` (and ``guess``), is read as well.
        """
        text = "\n".join(read_part(reply).splitlines())
        return self._parse_clue(text, view.agent) if view.stage == CLUE else self._parse_vote(text)

    def _parse_clue(self, text: str, agent: str) -> Clue:
        narrow = text.translate(_NARROW)
        match = last_match(_SPEECH, narrow)
        position = match.end() if match else -1
        speaker, clue = (_player(match["number"]), _clue_after(match, text)) if match else ("", "")
        for end, value in json_objects(text):
            for key, said in value.items():
                name = agent if key == "clue" else _named(key)
                if end > position and name and isinstance(said, str):
                    speaker, clue = name, said
        if not speaker:
            raise InvalidReply(
                Failure.UNPARSABLE,
                f"no clue was found: this is the clue stage; end the reply with one line in the form {agent}: your clue",
            )
        if speaker != agent:
            raise InvalidReply(Failure.ILLEGAL, f"you are {agent} and give no clue in the name of {speaker}")
        return Clue(one_line(clue))

    def _parse_vote(self, text: str) -> Vote:
        narrow = text.translate(_NARROW)
        match = last_match(_BALLOT, narrow)
        line = narrow[match.end() :].split("\n", 1)[0] if match else ""
        if not line.strip():
            raise InvalidReply(
                Failure.UNPARSABLE,
                "no vote was found: this is the vote stage; end the reply with one line in the form vote: player_k",
            )
        targets = _targets(line)
        if len(set(targets)) != 1:
            named = "several players are named" if targets else "no player is named right after the colon"
            raise InvalidReply(
                Failure.ILLEGAL,
                f"{named}; vote for exactly one living player other than yourself as vote: player_k",
            )
        return Vote(targets[0], self._parse_guesses(text, narrow) if self._ask_guess else ())

    @staticmethod
    def _parse_guesses(text: str, narrow: str) -> tuple[tuple[str, str], ...]:
        start = last_match(_GUESSES, narrow)
        position = start.end() if start else len(text)
        guesses = {}
        for match in _GUESS.finditer(narrow, position):
            guesses[_player(match["number"])] = one_line(text[match.start("word") : match.end("word")])
        for end, value in json_objects(text):
            stated = value.get("guess")
            if end > position and isinstance(stated, dict):
                guesses = {_named(key) or key: one_line(word) for key, word in stated.items() if isinstance(word, str)}
        return tuple(guesses.items())

    def format(self, action: Clue | Vote, view: UndercoverView) -> str:
        """Writes ``player_0: clue`` (nothing after the colon for a blank clue) or ``vote: player_1`` with the guesses."""
        if isinstance(action, Clue):
            return f"{view.agent}: {action.text}".rstrip()
        text = f"vote: {action.target}"
        if action.guesses:
            text += "\nguess: " + "; ".join(f"{player}={word}" for player, word in action.guesses)
        return text

    def picture(self, game: Undercover) -> str:
        """Writes every player's word, the undercover players and the history."""
        render = self._prompts.render
        seats = [f"{agent}: {word}" for agent, word in zip(game.agents, game.words, strict=True)]
        lines = [*seats, render("undercover", players=", ".join(game.undercovers))]
        return "\n".join([*lines, *self._history(game.pool, game.results, game.round)])


def _clue_after(match: re.Match[str], text: str) -> str:
    """Returns the rest of the line after a player's name, or the next line if there is nothing."""
    line, _, following = text[match.end() :].partition("\n")
    # Markup that was opened before the name is closed after the clue.
    closing = match["opening"].strip()[::-1].translate(_CLOSING)
    line = line.strip().removesuffix(closing)
    if line:
        return line
    for other in following.split("\n"):
        if other.strip() and not other.strip().startswith(_FENCES):
            return other
    return ""


def _targets(line: str) -> list[str]:
    """Returns the players named at the beginning of a line, joined by commas, ``and`` and the like."""
    targets = []
    position = 0
    while match := _TARGET.match(line, position):
        targets.append(_player(match["named"] or match["bare"]))
        position = match.end()
    return targets
