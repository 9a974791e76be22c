"""Observations of Undercover and the parsing of replies."""

import json
from collections.abc import Iterable, Iterator, Mapping

from llmarena_envs.core.codec import Codec, ReplyPart
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError, Reason
from llmarena_envs.core.messages import Message
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import without_marks
from llmarena_envs.core.updates import new_parts
from llmarena_envs.undercover.game import CLUE, Clue, Result, Undercover, UndercoverView, Vote
from llmarena_envs.undercover.grammar import read_clue, read_vote


class UndercoverCodec(Codec[Clue | Vote, UndercoverView]):
    """Texts and grammar of Undercover.

    Args:
        language: language of the texts.
        n_players: number of players.
        n_undercover: number of undercover players.
        max_rounds: number of rounds.
        cot: whether the instruction asks for reasoning before the answer.
        ask_guess: whether a vote asks for guesses of the other players' words, with reasoning.
    """

    def __init__(
        self, language: str, *, n_players: int, n_undercover: int, max_rounds: int, cot: bool, ask_guess: bool
    ) -> None:
        prompts = Prompts("llmarena_envs.undercover", language)
        self.language = language
        self._prompts = prompts
        self._ends = ending_texts(language)
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
        self._clue_form = prompts.render("clue_form", agent="").strip(": ")

    def rules(self, agent: str) -> str:
        """Returns the rules, identical for all players."""
        return self._rules

    def observation(self, view: UndercoverView) -> str:
        """Returns the player's name and word, the history, and the instruction."""
        return "\n".join([*self._position(view), self._instruction(view)])

    def for_person(self, view: UndercoverView) -> str:
        """Returns the observation with an instruction that asks only for the clue or the vote."""
        return "\n".join([*self._position(view), self._instruction(view, person=True)])

    def update(self, view: UndercoverView, since: UndercoverView) -> str:
        """Returns new clues and votes, the remaining players, and the instruction, shortened if the player has read it."""
        first = view.round == 1 and view.stage != since.stage
        instruction = self._instruction(view) if first or not view.to_move else self._reminder(view)
        return "\n".join([*new_parts(self._position(view), self._position(since)), instruction])

    def ending(self, view: UndercoverView, ending: Ending) -> str:
        """Returns the player's name and word, the history, the winning side, and whether the player won."""
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
        """Yields the history as lines; later observations extend earlier ones."""
        render = self._prompts.render
        clues = tuple(clues)
        for number in range(1, last_round + 1):
            yield render("round", round=number, max_rounds=self._max_rounds)
            for message in clues:
                if message.round == number:
                    # Quoted: a player's text cannot imitate a line of the host.
                    clue = json.dumps(message.text, ensure_ascii=False) if message.text else render("blank")
                    yield f"{message.sender}: {clue}"
            for result in results:
                if result.round == number:
                    votes = ", ".join(f"{voter} -> {target}" for voter, target in result.votes)
                    yield render("votes", votes=votes, eliminated=result.eliminated)

    def _instruction(self, view: UndercoverView, *, person: bool = False) -> str:
        render = self._prompts.render
        how = render("only") if person else self._how
        if not view.to_move:
            return render("wait")
        if view.stage == CLUE:
            return render("clue_instruction", how=how, agent=view.agent)
        players = ", ".join([vote.target for vote in view.legal])
        if not self._ask_guess:
            return render("vote_instruction", how=how, players=players)
        how = render("only_two" if person else "reason_two")  # models always reason before they guess
        return render("vote_and_guess_instruction", how=how, players=players, guesses=self._guesses(view))

    def _reminder(self, view: UndercoverView) -> str:
        """Returns the short instruction for a player that has read the full one."""
        if view.stage == CLUE:
            return self._prompts.render("clue_reminder", agent=view.agent)
        if not self._ask_guess:
            return self._prompts.render("vote_reminder")
        return self._prompts.render("vote_and_guess_reminder", guesses=self._guesses(view))

    def _guesses(self, view: UndercoverView) -> str:
        """Returns the format of guesses of the other players' words."""
        return "; ".join([self._prompts.render("guess", player=vote.target) for vote in view.legal])

    def read(self, reply: str, view: UndercoverView) -> Clue | Vote:
        """Reads ``player_0: clue`` in the clue stage, ``vote: player_1`` in the vote stage; see ``undercover.grammar``."""
        if view.stage != CLUE:
            return read_vote(reply, view.agent, self._ask_guess)
        clue = read_clue(reply, view.agent)
        if clue.text == self._clue_form:  # the player repeated the placeholder of the instruction
            raise ParseError(Failure.UNPARSABLE, "nothing_stated")
        return clue

    def parts(self, view: UndercoverView) -> tuple[ReplyPart, ...]:
        """Returns a clue, or a vote and the guesses; a vote without guesses is listed."""
        label = self._prompts.render
        if view.stage == CLUE:
            return (ReplyPart("clue", label("part_clue"), lines=1),)
        if not self._ask_guess:
            return ()
        players = tuple(vote.target for vote in view.legal)
        guesses = (ReplyPart(player, label("part_guess", player=player), lines=1) for player in players)
        return ReplyPart("vote", label("part_vote"), players), *guesses

    def join_parts(self, texts: Mapping[str, str], view: UndercoverView) -> str:
        """Writes a clue after the player's name, or a vote with the guesses."""
        texts = {name: " ".join(text.split()) for name, text in texts.items()}
        if view.stage == CLUE:
            return self.format(Clue(texts["clue"]), view) if texts.get("clue") else ""
        guesses = [(vote.target, without_marks(texts.get(vote.target, ""))) for vote in view.legal]
        return self.format(Vote(texts.get("vote", ""), tuple(guess for guess in guesses if guess[1])), view)

    def example(self, view: UndercoverView) -> str:
        """Returns the format of a clue or a vote, by stage."""
        return self._prompts.render("clue_form" if view.stage == CLUE else "vote_form", agent=view.agent)

    def explain(self, reason: Reason, view: UndercoverView) -> str:
        """Returns the text of a reason; the missing part depends on the stage."""
        if reason.name in ("nothing_stated", "not_your_name"):
            reason = reason._replace(name=f"{reason.name}_{view.stage}")
        return super().explain(reason, view)

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
        return "\n".join([*lines, *self._history(game.clues, game.results, game.round)])
