"""The search for the turn that lost a match.

Turns are screened by successive halving on one part of the pairs. Fresh pairs then estimate the effects at the finalists. The
choice depends only on the first part, so given the finalists the intervals of the second part hold, and hence also on average
over all choices: some turn that costs no more than the least cost is blamed in at most 2.5 % of analyses, the upper half of the
two-sided intervals.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean, stdev

from agents.errors import ProviderError
from agents.models.service import ModelService
from rating.blame.continuing import Continuer
from rating.blame.estimate import Effect, effects, pairs_needed
from rating.blame.pairs import ESTIMATE, SCREEN, Key, Pair, Pairs
from rating.blame.question import Candidate, Game, Question
from rating.blame.results import Blame, BlamedTurn
from rating.play.workers import run_workers

SCREENED = 8
"""Pairs of each turn in the first round; each later round doubles them."""

FINALISTS = 3
"""Most turns whose effects are estimated."""

MAX_VOID = 20
"""Failures of providers after which an analysis ends with the last one."""


class Analysis:
    """Finds the turn that lost a match.

    Args:
        game: the match.
        question: the question.
        found: the turns in question.
        pairs: the file of continuations.
        service: the language models.
        size: pairs of each finalist.
        least: smallest cost that counts.
        concurrency: pairs at once, if a policy waits for a model.
        show: called after each pair.
    """

    def __init__(
        self,
        game: Game,
        question: Question,
        found: Sequence[Candidate],
        pairs: Pairs,
        service: ModelService,
        *,
        size: int,
        least: float = 0.0,
        concurrency: int = 1,
        show: Callable[[], None] = lambda: None,
    ) -> None:
        self._game = game
        self._question = question
        self._candidates = {candidate.turn: candidate for candidate in found}
        self._pairs = pairs
        self._service = service
        self._size = size
        self._least = least
        self._concurrency = concurrency
        self._show = show
        self._void = 0
        self._keys: set[Key] = set()

    async def run(self) -> Blame:
        """Plays the missing continuations and returns the result.

        Raises:
            ProviderError: if a policy fails for good, or too often.
        """
        live, screened = list(self._candidates), SCREENED
        await self._play([(turn, SCREEN, number) for turn in live for number in range(screened)])
        live = self._ranked(live, screened)
        while len(live) > FINALISTS:
            live = live[: max(FINALISTS, len(live) // 2)]
            await self._play([(turn, SCREEN, number) for turn in live for number in range(screened, 2 * screened)])
            screened *= 2
            live = self._ranked(live, screened)
        await self._play([(turn, ESTIMATE, number) for turn in sorted(live) for number in range(self._size)])
        return self._result(sorted(live))

    def _of(self, turn: int, part: int, size: int) -> list[Pair]:
        keys = [(turn, part, number) for number in range(size)]
        return [self._pairs.found[key] for key in keys if key in self._pairs.found]

    def _ranked(self, turns: Sequence[int], screened: int) -> list[int]:
        """Returns the turns whose mean effect plus two standard errors exceeds the least cost, the largest first."""
        samples = {turn: [pair.effect for pair in self._of(turn, SCREEN, screened)] for turn in turns}
        means = {turn: fmean(sample) for turn, sample in samples.items() if len(sample) > 1}
        live = [
            turn
            for turn, mean in means.items()
            if mean + 2 * stdev(samples[turn]) / math.sqrt(len(samples[turn])) > self._least
        ]
        return sorted(live, key=lambda turn: (-means[turn], turn))

    async def _play(self, keys: Sequence[Key]) -> None:
        """Plays the missing pairs, several at once if a policy waits."""
        self._keys.update(keys)
        missing = [key for key in keys if key not in self._pairs.found]
        if not missing:
            return
        queue = iter(missing)

        async def work(continuer: Continuer) -> None:
            for key in queue:
                try:
                    pair = await continuer.pair(self._candidates[key[0]], key)
                except ProviderError as error:
                    self._void += 1
                    if error.fatal or self._void > MAX_VOID:
                        raise
                    continue
                if pair is None:
                    self._void += 1
                else:
                    self._pairs.add(pair)
                self._show()
                await asyncio.sleep(0)  # lets a signal cancel the task of scripted policies

        first = Continuer(self._game, self._question, self._service)
        number = 1 if first.is_scripted else min(self._concurrency, len(missing))
        workers = [first, *(Continuer(self._game, self._question, self._service) for _ in range(number - 1))]
        await run_workers(workers, work)

    def _result(self, finalists: Sequence[int]) -> Blame:
        fresh = [self._of(turn, ESTIMATE, self._size) for turn in finalists]
        found = effects([[pair.effect for pair in pairs] for pairs in fresh])
        by_turn = dict(zip(finalists, found, strict=True))
        clear = {turn: effect.mean for turn, effect in by_turn.items() if effect and effect.low > self._least}
        blamed = max(clear, key=lambda turn: (clear[turn], -turn), default=None)
        used = [pair for turn in self._candidates for pair in self._used(turn)]
        return Blame(
            question=self._question,
            reward=sum(turn.rewards[self._question.rewarded] for turn in self._game.record.turns),
            turns=tuple(self._turn(candidate, by_turn.get(candidate.turn)) for candidate in self._candidates.values()),
            least=self._least,
            blamed=blamed,
            needed=None if clear else pairs_needed(found, self._least),
            continuations=sum(1 if pair.is_same else 2 for pair in used),
            void=self._void,
            invalid=sum(pair.invalid for pair in used),
        )

    def _used(self, turn: int) -> list[Pair]:
        """Returns the pairs of a turn in this analysis; the file can hold more."""
        keys = sorted(key for key in self._keys if key[0] == turn)
        return [self._pairs.found[key] for key in keys if key in self._pairs.found]

    def _turn(self, candidate: Candidate, effect: Effect | None) -> BlamedTurn:
        pairs = self._used(candidate.turn)
        others = Counter(pair.played for pair in pairs if not pair.is_same)
        return BlamedTurn(
            turn=candidate.turn,
            kind=candidate.kind,
            played=candidate.played,
            value=fmean(pair.kept for pair in pairs) if pairs else None,
            screened=_mean(self._of(candidate.turn, SCREEN, SCREENED)),
            low=effect.low if effect else None,
            cost=effect.mean if effect else None,
            high=effect.high if effect else None,
            pairs=len(pairs),
            other=min(others, key=lambda played: (-others[played], played), default=""),
        )


def most_pairs(turns: int, size: int) -> int:
    """Returns the largest number of pairs of an analysis.

    Args:
        turns: number of turns in question.
        size: pairs of each finalist.
    """
    total, live, screened = turns * SCREENED, turns, SCREENED
    while live > FINALISTS:
        live = max(FINALISTS, live // 2)
        total, screened = total + live * screened, 2 * screened
    return total + live * size


def _mean(pairs: Sequence[Pair]) -> float:
    return fmean(pair.effect for pair in pairs) if pairs else 0.0
