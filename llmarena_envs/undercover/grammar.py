"""Grammar of clues, votes and guesses in a reply."""

import re
from collections.abc import Mapping
from typing import Any

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.grammar import NOBODY, PLAYER_NUMBER, PLAYERS, SPEAKERS, player_name
from llmarena_envs.core.reading.markup import narrow
from llmarena_envs.core.replies import MAX_REPLY, Grammar, find
from llmarena_envs.undercover.game import GUESS_SEPARATORS, Clue, Vote
from llmarena_envs.undercover.words import clue_text

_MAX_GUESSES = 20
_PREFIX = r"(?:player|玩家)[ \t_\-]{0,4}"
_MARKUP = r"[ \t\"'<>\[\](){}]*+"
# The canonical form of actions, tried first: it needs no search.
_WORDS = r"[^\W_](?:[^\W_]|[ .-](?=[^\W_]))*+"
_PUBLISHED_CLUE = re.compile(rf"(player_[0-9]): ({_WORDS})")
_PUBLISHED_GUESSES = rf"player_[0-9]={_WORDS}(?:; player_[0-9]={_WORDS}){{0,{_MAX_GUESSES}}}"
_PUBLISHED_VOTE = re.compile(rf"vote: (player_[0-9])(?:\nguess: ({_PUBLISHED_GUESSES}))?")
_VOTING = re.compile(
    r"(?:(?:i|we)(?:'ll| will)?[ \t]++)?vote[ \t]++(?:for[ \t]++)?|for[ \t]++|我?投(?:票?给)?[ \t]*+", re.IGNORECASE
)
# A player named in a vote; a bare number must not be the start of a longer token.
_TARGET = re.compile(
    rf"{_MARKUP}(?:[,;/&+、和与或及]|and\b|or\b)?{_MARKUP}(?:and\b|or\b)?{_MARKUP}"
    rf"(?:{_PREFIX}(?P<named>{PLAYER_NUMBER})|(?P<bare>{PLAYER_NUMBER})"
    rf"(?:号|(?=[ \t]*+(?:$|\n|(?!\.[0-9])[^\w\s]|and\b|or\b|[和与或及]))))",
    re.IGNORECASE,
)
_GUESS = re.compile(
    rf"{_PREFIX}(?P<number>{PLAYER_NUMBER})[\"' \t]*+=[ \t]*+(?P<word>[^\n{GUESS_SEPARATORS}]++)", re.IGNORECASE
)
_BETWEEN = re.compile(r"[\s;,、.>•*-]*+")
_MAX_TARGETS = 20
_MAX_WRAPPINGS = 8
"""Maximum number of nested wrappings removed from a clue."""


def read_clue(reply: str, agent: str) -> Clue:
    """Reads the clue in a reply of ``agent``, without markup. Reading the result again gives the same clue.

    Raises:
        ParseError: if there is no clue, or if it speaks for another player.
    """
    for _ in range(_MAX_WRAPPINGS):
        published = _PUBLISHED_CLUE.fullmatch(reply) if len(reply) <= MAX_REPLY else None
        if published and published[1] == agent:
            return Clue(published[2])
        clue = find(reply, _CLUE, agent).value
        written = f"{agent}: {clue.text}".rstrip()
        if written == reply:
            return clue
        reply = written
    raise ParseError(Failure.UNPARSABLE, "unclear")


def read_vote(reply: str, agent: str, ask_guess: bool) -> Vote:
    """Reads the vote in a reply of ``agent``, and the guesses if requested.

    Raises:
        ParseError: if the reply votes for no player or for more than one.
    """
    published = _PUBLISHED_VOTE.fullmatch(reply)
    if published:
        guesses = [guess.partition("=") for guess in (published[2] or "").split("; ") if guess]
        return Vote(published[1], tuple({player: word for player, _, word in guesses}.items()) if ask_guess else ())
    target = find(reply, _VOTE, agent).value
    if not ask_guess:
        return Vote(target)
    try:
        return Vote(target, find(reply, _GUESSES, agent).value)
    except ParseError:
        return Vote(target)


def _read_clue(text: str, labelled: bool) -> tuple[Clue, int]:
    return Clue(clue_text(text)), len(text)


def _read_clue_field(fields: Mapping[str, Any]) -> Clue | None:
    clue = fields.get("clue")
    return Clue(clue_text(clue)) if isinstance(clue, str) else None


def _read_target(text: str, labelled: bool) -> tuple[str, int] | None:
    voting = _VOTING.match(text)
    position = voting.end() if voting else 0
    targets: list[str] = []
    while len(targets) < _MAX_TARGETS and (match := _TARGET.match(text, position)):
        if not labelled and not match["named"]:
            return None
        targets.append(player_name(match["named"] or match["bare"]))
        position = match.end()
    if not targets:
        return None
    if len(set(targets)) > 1:
        raise ParseError(Failure.ILLEGAL, "several_players")
    return targets[0], position


def _read_guesses(text: str, labelled: bool) -> tuple[tuple[tuple[str, str], ...], int] | None:
    guesses: dict[str, str] = {}
    position = 0
    plain = narrow(text)
    for _ in range(_MAX_GUESSES):
        between = _BETWEEN.match(plain, position)
        match = _GUESS.match(plain, between.end() if between else position)
        if match is None:
            break
        guesses[player_name(match["number"])] = clue_text(text[match.start("word") : match.end("word")])
        position = match.end()
    return (tuple(guesses.items()), position) if guesses else None


def _read_guess_field(fields: Mapping[str, Any]) -> tuple[tuple[str, str], ...] | None:
    stated = fields.get("guess", fields.get("guesses"))
    if not isinstance(stated, dict):
        return None
    guesses = {key: clue_text(word) for key, word in stated.items() if isinstance(word, str)}
    return tuple((player_name(key) if _PLAYER.fullmatch(key) else key, word) for key, word in guesses.items())


_PLAYER = re.compile(rf"\s*{PLAYERS.pattern}\s*", re.IGNORECASE)
_CLUE = Grammar(_read_clue, nouns="clue|description|描述|线索", fields=_read_clue_field, free=True, bare="never")
_VOTE = Grammar(_read_target, nouns=r"vote(?:[ \t]+for)?|ballot|投票给?|投给", seats=SPEAKERS, bare="last")
_GUESSES = Grammar(
    _read_guesses,
    nouns="guess(?:es)?|猜测?",
    seats=NOBODY,
    fields=_read_guess_field,
    lines=_MAX_GUESSES,
    free=True,
    bare="never",
)
