"""Observations of idiom solitaire and the parsing of replies."""

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.idiom_solitaire.game import JUDGE, MUST_ANSWER, RESIGN, IdiomSolitaire, IdiomView, Ruling
from llmarena_envs.idiom_solitaire.grammar import read_idiom, read_ruling

ARROW = "→"


class IdiomCodec(Codec[str, IdiomView]):
    """Texts and grammar of idiom solitaire.

    Args:
        language: language of the texts; idioms are always Chinese.
        game: the game with the rules.
    """

    def __init__(self, language: str, game: IdiomSolitaire) -> None:
        self.language = language
        self._prompts = prompts = Prompts("llmarena_envs.idiom_solitaire", language)
        self._ends = ending_texts(language)
        render = prompts.render
        count = len(game.seats)
        self._link = render(f"link_{game.links.link}")
        number = "two" if count == 2 else "several"
        parts = [
            render(f"rules_{number}", n_players=count),
            render("rules_idiom", link=self._link),
            render("rules_judge" if game.has_judge else "rules_list", size=len(game.links.lexicon)),
        ]
        if game.dead_end != MUST_ANSWER:
            parts.append(render(f"rules_dead_end_{game.dead_end}"))
        parts.append(render(f"rules_end_{number}", max_turns=game.turns))
        self._rules = "\n".join(parts)
        self._judge_rules = render("judge_rules")
        self._judge_intro = render("judge_intro", agent=JUDGE)
        self._judge_waits = render("judge_waits")
        self._judge_done = render("judge_done")
        self._resignation = render("resignation")
        self._rulings = {ruling: render(f"ruling_{ruling}") for ruling in Ruling}
        self._separator = render("separator")
        self._chain = prompts["chain"].by_position("chain")
        present = ("players", "agent", "turn", "max_turns")
        self._to_move = prompts.joined("chain", "turn", "instruction").by_position("chain", *present, "last", "link")
        self._to_move_reminder = prompts.joined("more", "turn", "reminder").by_position("chain", *present, "last")
        self._waiting = prompts.joined("chain", "turn", "wait").by_position("chain", *present)

    def rules(self, agent: str) -> str:
        """Returns the rules of the game, or a judge's task."""
        return self._judge_rules if agent == JUDGE else self._rules

    def observation(self, view: IdiomView) -> str:
        """Returns the chain and the instruction, or the question to a judge."""
        if view.agent == JUDGE:
            return f"{self._judge_intro}\n{self._question(view)}"
        present = (ARROW.join(view.chain), *self._present(view))
        return self._to_move(*present, view.chain[-1], self._link) if view.to_move else self._waiting(*present)

    def update(self, view: IdiomView, since: IdiomView) -> str:
        """Returns new idioms and the answer format, or the question to a judge."""
        if view.agent == JUDGE:
            return self._question(view)
        if not view.to_move:
            return self.observation(view)
        return self._to_move_reminder(ARROW.join(view.chain[len(since.chain) :]), *self._present(view), view.chain[-1])

    def _question(self, view: IdiomView) -> str:
        """Returns the question to a judge."""
        return self._prompts.render("question", idiom=view.asked) if view.to_move else self._judge_waits

    def _present(self, view: IdiomView) -> tuple[str, str, int, int]:
        """Returns the turn order, the reader, and the turn."""
        return self._separator.join(view.players), view.agent, view.turn, view.max_turns

    def ending(self, view: IdiomView, ending: Ending) -> str:
        """Returns the chain, the cause of the end, and the reader's result."""
        cause = self._ends.forfeit(view.agent, ending.offenders) if ending.offenders else self._cause(view)
        if view.agent == JUDGE:
            return f"{self._judge_intro}\n{self._ends.over(cause, self._judge_done)}"
        return f"{self._chain(ARROW.join(view.chain))}\n{self._ends.over(cause, self._ends.contest(ending.reward))}"

    def _cause(self, view: IdiomView) -> str:
        render = self._prompts.render
        player = render("you") if view.decided_by == view.agent else render("other", player=view.decided_by)
        name = f"end_{view.end.name.lower()}"
        return render(name, player=player, idiom=view.asked, max_turns=view.max_turns)

    def read(self, reply: str, view: IdiomView) -> str:
        """Reads an idiom, or the ruling of a judge; see ``idiom_solitaire.grammar``."""
        if view.agent == JUDGE:
            return read_ruling(reply)
        lexicon, last = view.links.lexicon, view.chain[-1]
        return read_idiom(reply, view.agent, lambda idiom: lexicon.key(idiom) == lexicon.key(last))

    def example(self, view: IdiomView) -> str:
        """Returns the format of a ruling; empty for an idiom."""
        return self._prompts.render("ruling_form") if view.agent == JUDGE else self._prompts.render("idiom_form")

    def explain(self, reason: Reason, view: IdiomView) -> str:
        """Returns the text of a reason; the missing part depends on player or judge."""
        if view.agent == JUDGE and reason.name in ("nothing_stated", "unclear"):
            reason = reason._replace(name=f"{reason.name}_judge")
        return super().explain(reason, view)

    def format(self, action: str, view: IdiomView) -> str:
        """Writes only the idiom, or the ruling."""
        if view.agent == JUDGE:
            return self._rulings[Ruling(action)]
        return self._resignation if action == RESIGN else action

    def picture(self, game: IdiomSolitaire) -> str:
        """Writes the turn order, the chain, and the idiom to be ruled on."""
        lines = [self._separator.join(game.players), ARROW.join(game.chain)]
        if game.asked:
            lines.append(self._prompts.render("picture_asked", idiom=game.asked))
        return "\n".join(lines)
