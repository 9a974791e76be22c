"""Observations of the public goods game and the parsing of replies."""

from fractions import Fraction
from typing import Any

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.phrases import Phrases
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import find
from llmarena_envs.core.updates import new_parts
from llmarena_envs.public_goods.game import PastRound, PublicGoods, PublicGoodsView, shown
from llmarena_envs.public_goods.grammar import GRAMMAR, NOBODY_HERE, PUBLISHED


class PublicGoodsCodec(Codec[int, PublicGoodsView]):
    """Texts and grammar of the public goods game. No text names a seat.

    Args:
        language: language of the texts.
        cot: whether the instruction asks for reasoning and the reply for a reason.
        game: the game with the parameters for the texts.
    """

    def __init__(self, language: str, cot: bool, game: PublicGoods) -> None:
        self._prompts = prompts = Prompts("llmarena_envs.public_goods", language)
        self._ends = ending_texts(language)
        self.language = language
        self._game_rounds = game.rounds
        self._gives_each_round = game.gives_each_round
        self._endowment = shown(game.endowment * game.step)
        self._mode = game.mode
        self._step = game.step
        self._rules = self._rules_text(game)
        # The answer format contains no amount, which would anchor investments.
        self._form = prompts.render("form_cot" if cot else "form")
        self._instruction = prompts.render("instruction_cot" if cot else "instruction")
        self._instruction_for_people = prompts.render("instruction_person")
        self._reminder = prompts.render("reminder", form=self._form)
        self._wait = prompts.render("wait")
        self._past = Phrases(self._past_text)
        self._present = Phrases(self._present_text)
        self._turn = Phrases(self._turn_text)

    def _rules_text(self, game: PublicGoods) -> str:
        render = self._prompts.render
        return render(
            "rules",
            n_players=len(game.agents),
            rounds=game.rounds,
            coins=render("coins_per_round" if game.gives_each_round else "coins_initial", endowment=self._endowment),
            grid=render("grid_whole") if game.step == 1 else render("grid", step=shown(game.step)),
            alpha=int(game.alpha) if game.alpha.denominator == 1 else float(game.alpha),
            told=render(f"told_{game.mode}", **({"n_players": len(game.agents)} if game.mode == 2 else {})),
        )

    def rules(self, agent: str) -> str:
        """Returns the rules."""
        return self._rules

    def observation(self, view: PublicGoodsView) -> str:
        """Returns the finished rounds, the player's coins and the instruction."""
        return "\n".join([*self._history(view), *self._task(view, self._instruction)])

    def for_person(self, view: PublicGoodsView) -> str:
        """Returns the observation with an instruction that asks only for the number."""
        return "\n".join([*self._history(view), *self._task(view, self._instruction_for_people)])

    def update(self, view: PublicGoodsView, since: PublicGoodsView) -> str:
        """Returns newly finished rounds, the player's coins and the answer format."""
        rounds = new_parts(self._history(view), self._history(since))
        return "\n".join([*rounds, *self._task(view, self._reminder)])

    def _task(self, view: PublicGoodsView, instruction: str) -> list[str]:
        """Returns the player's coins and the instruction."""
        present = self._present[view.round, view.coins]
        return [present, self._turn[view.highest], instruction] if view.to_move else [present, self._wait]

    def ending(self, view: PublicGoodsView, ending: Ending) -> str:
        """Returns all finished rounds, the cause of the end, and the player's result."""
        lines = self._history(view)
        if ending.offenders:
            lines.append(self._present[view.round, view.coins])
            cause = self._forfeit(view.agent, ending.offenders)
        else:
            cause = self._prompts.render("all_played", rounds=view.rounds)
        result = self._prompts.render("result", coins=shown(ending.reward))
        return "\n".join([*lines, self._ends.over(cause, result)])

    def _forfeit(self, reader: str, offenders: tuple[str, ...]) -> str:
        others = len(offenders) - (reader in offenders)
        if not others:
            return self._ends.forfeit(reader, offenders)
        name = "forfeited_together" if reader in offenders else "forfeited_by_others"
        return self._prompts.render(name, players=others)

    def _history(self, view: PublicGoodsView) -> list[str]:
        """Returns a line for each finished round."""
        return [self._past[item] for item in enumerate(view.history, start=1)]

    def _past_text(self, item: tuple[int, PastRound]) -> str:
        number, past = item
        told = {"income": shown(past.income)} if self._mode == 1 else {"investments": self._amounts(past.investments)}
        return self._prompts.render(
            f"past_round_{self._mode}", round=number, investment=self._coins(past.investment), **told
        )

    def _present_text(self, key: tuple[int, float]) -> str:
        number, coins = key
        fields = {"round": number, "rounds": self._game_rounds}
        if not self._gives_each_round:
            return self._prompts.render("state_initial", coins=shown(coins), **fields)
        state = self._prompts.render("state_per_round", endowment=self._endowment, **fields)
        return state if number == 1 else f"{self._prompts.render('owned', coins=shown(coins))}\n{state}"

    def _turn_text(self, highest: int) -> str:
        coins = self._coins(highest)
        if self._step == 1:
            return self._prompts.render("turn_whole", highest=coins)
        return self._prompts.render("turn", highest=coins, step=shown(self._step))

    def _coins(self, steps: int) -> int | float:
        return shown(steps * self._step)

    def _amounts(self, investments: tuple[int, ...]) -> str:
        return ", ".join(str(self._coins(steps)) for steps in investments)

    def read(self, reply: str, view: PublicGoodsView) -> int:
        """Reads ``{"reason": ..., "coins": 5}``, ``coins: 5`` and the like; see ``public_goods.grammar``."""
        published = PUBLISHED.fullmatch(reply)
        amount = published[1] if published else find(reply, GRAMMAR, NOBODY_HERE).value
        steps = Fraction(amount) / self._step
        if steps.denominator > 1:
            if self._step == 1:
                raise ParseError(Failure.ILLEGAL, "off_grid_whole", amount=amount)
            raise ParseError(Failure.ILLEGAL, "off_grid", step=shown(self._step), amount=amount)
        return int(steps)

    def example(self, view: PublicGoodsView) -> str:
        """Returns the format of a reply, without an amount."""
        return self._form

    def format(self, action: int, view: PublicGoodsView) -> str:
        """Writes the amount as JSON, e.g. ``{"coins": 5}``."""
        return f'{{"coins": {self._coins(action)}}}'

    def picture(self, game: Any) -> str:
        """Lists the investments and the income of every finished round, and all coins."""
        render = self._prompts.render
        lines = []
        for number, investments in enumerate(game.investments, start=1):
            invested = ", ".join(
                render("picture_investment", agent=agent, investment=self._coins(steps))
                for agent, steps in zip(game.agents, investments, strict=True)
            )
            income = shown(game.view(game.agents[0]).history[number - 1].income)
            lines.append(render("picture_round", round=number, investments=invested, income=income))
        owned = [render("picture_owned", agent=agent, coins=shown(game.coins(agent))) for agent in game.agents]
        return "\n".join([*(lines or [render("picture_start")]), ", ".join(owned)])
