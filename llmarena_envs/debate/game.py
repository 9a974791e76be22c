"""Rules of a debate: two debaters answer, criticize and question each other, then a committee of judges decides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from llmarena_envs.core.committee import NONE, VERDICTS, Abstention, Committee, Given, Judgement, exchanged
from llmarena_envs.core.declaration import Channel, role_of
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.filler import drawn_filler, filler
from llmarena_envs.core.game import Game
from llmarena_envs.core.messages import MessagePool, Sent
from llmarena_envs.core.options import OptionError, check_choice, check_int
from llmarena_envs.core.text_length import TextCounter, WordCounter
from llmarena_envs.debate.actions import Action, DebateView, Part, Passage, Query, Reference, Speech
from llmarena_envs.debate.delivery import Delivery, Secrecy, deliver
from llmarena_envs.debate.protocol import (
    ACTIONS,
    CRITICIZE,
    FIRST_ANSWERS,
    RAISE,
    RESPOND,
    SIDES,
    THINK,
    Turn,
    base_words,
    budgets,
    debate_turns,
)
from llmarena_envs.debate.questions import DOMAINS, Question, check_question, load_questions
from llmarena_envs.debate.resampling import other_words

EXAMINE, DEBATE, REFERENCE, JUDGE, DISCUSS = "examine", "debate", "reference", "judge", "discuss"
"""The stages of a match, in order."""

QUESTION, JUDGEMENT = "question", "judgement"
CHANNELS = {
    QUESTION: Channel("examiner", ("debater", "judge")),
    THINK: Channel("debater", ("judge",)),
    **dict.fromkeys((RESPOND, CRITICIZE, RAISE), Channel("debater", ("debater", "judge"))),
    REFERENCE: Channel("judge", ("judge",)),
    JUDGEMENT: Channel("judge", ("judge",)),
}
"""Options can remove readers: opponents of criticism, judges of thoughts. Only discussed judgements are read by others."""

VISIBILITIES = ("paper", "restricted")
AUTO = "auto"
UNKNOWN = -1.0
"""Value of an unknown statistic."""

EXAMINER = "examiner_0"
DEBATERS = ("debater_0", "debater_1")
MAX_JUDGES = 9
MAX_DISCUSSION_ROUNDS = 3
MIN_WORDS, MAX_WORDS = 10, 1000

REFERENCE_DOMAINS = ("reasoning", "math", "coding")
"""Domains with a reference answer for judges."""

REFERENCE_WORDS = 600
"""Maximum number of words of a reference answer."""

_STATISTICS = {
    "examiner": (),
    "debater": ("side", "words", "truncated", "missing", "forbidden", "votes_first", "votes_final"),
    "judge": ("verdict_first", "verdict_final", "abstained"),
    "match": ("question", "domain", "winner_first", "winner", "abstentions"),
}


class Debate(Game[Action, DebateView]):
    """A debate and its judging.

    Source: Auto-Arena (arXiv 2405.20267v1, section 3).

    Args:
        questions: the questions to draw from. Empty: an examiner sets the question.
        number: index of a fixed question; ``None`` to draw it.
        domain: domain of drawn or examiner's questions; ``None`` for all.
        n_judges: number of judges, 0 to 9.
        discussion_rounds: number of times judges read the other judgements and judge again, 0 to 3; 0 for a single judge.
        quorum: minimum number of judges with a verdict.
        both_orders: whether judges judge twice, the second time with the names of the sides exchanged.
        reference: ``"auto"``: the question's own, or one by the first judge if the domain is reasoning, math or
            coding; another text for that one; ``None`` for none.
        words: words of one budget; ``None`` for the domain's default.
        round3_opener: the side that opens the third round.
        visibility: ``"paper"``: opponents read everything but thoughts; ``"restricted"``: only responses and raised requests.
        judge_sees_think: whether judges read thoughts.
        judge_initial_only: whether to skip the battle: only one answer of each side is judged.
        language: language of the shipped questions that ``random_action`` uses for an examiner.
        counter: measures and cuts texts.

    Attributes:
        turns: the turns of the debate.
        number: index of the question in ``questions``, -1 if an examiner sets it.
        question: the question; its text is empty until the examiner has set it.
        sides: the debaters as sides A and B.
        stage: as in ``DebateView``.
        pool: all messages: the examiner's question, passages, a judge's reference answer, judgements.
        reference: reference answer for judges; empty if missing.
        reference_writer: the judge who wrote it; empty if it was given.
    """

    def __init__(
        self,
        questions: Sequence[Question] = (),
        *,
        number: int | None = None,
        domain: str | None = None,
        n_judges: int = 5,
        discussion_rounds: int = 1,
        quorum: int = 1,
        both_orders: bool = False,
        reference: str | None = AUTO,
        words: int | None = None,
        round3_opener: str = "A",
        visibility: str = "paper",
        judge_sees_think: bool = True,
        judge_initial_only: bool = False,
        language: str = "en",
        counter: TextCounter | None = None,
    ) -> None:
        check_int("n_judges", n_judges, 0, MAX_JUDGES)
        check_int("discussion_rounds", discussion_rounds, 0, MAX_DISCUSSION_ROUNDS)
        check_int("quorum", quorum, 1, max(1, n_judges))
        check_choice("round3_opener", round3_opener, SIDES)
        check_choice("visibility", visibility, VISIBILITIES)
        if words is not None:
            check_int("words", words, MIN_WORDS, MAX_WORDS)
        self.questions = tuple(questions)
        self._candidates = _candidates(self.questions, number, domain)
        self._domain = domain
        self.turns = FIRST_ANSWERS if judge_initial_only else debate_turns(round3_opener)
        self._secrecy = Secrecy(visibility == "restricted", judge_sees_think)
        self._reference = reference
        self._words = words
        self._language = language
        self.counter = counter or WordCounter(language)
        self.judges = tuple(f"judge_{number}" for number in range(n_judges))
        self.agents = (*(() if self.questions else (EXAMINER,)), *DEBATERS, *self.judges)
        self._committee = Committee(n_judges, 1 + (discussion_rounds if n_judges > 1 else 0), 1 + both_orders, quorum)
        judging = n_judges * self._committee.times * self._committee.orders
        self.max_turns = (not self.questions) + len(self.turns) + self._may_lack_reference() + judging

    def _may_lack_reference(self) -> bool:
        """Returns whether the first judge can have to write a reference answer."""
        if self.questions:
            return any(self._lacks_reference(self.questions[number]) for number in self._candidates)
        domains = (self._domain,) if self._domain else DOMAINS
        return any(self._lacks_reference(Question("", domain, "")) for domain in domains)

    def _lacks_reference(self, question: Question) -> bool:
        wanted = self._reference == AUTO and bool(self.judges)
        return wanted and question.domain in REFERENCE_DOMAINS and not question.reference

    def numbers_by_turns(self) -> list[int]:
        """Returns the indices of eligible questions, cycling through the domains."""
        taken: Counter[str] = Counter()
        order = []
        for number in self._candidates:
            domain = self.questions[number].domain
            order.append((taken[domain], DOMAINS.index(domain), number))
            taken[domain] += 1
        return [number for _, _, number in sorted(order)]

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the sides, then the question or the examiner's domain."""
        swap = int(rng.integers(2))
        self.sides = (DEBATERS[swap], DEBATERS[1 - swap])
        if self.questions:
            self.number = self._candidates[int(rng.integers(len(self._candidates)))]
            self.question = self.questions[self.number]
        else:
            drawn = DOMAINS[int(rng.integers(len(DOMAINS)))]
            self.number, self.question = -1, Question("", self._domain or drawn, "")
        self.pool: MessagePool[Any] = MessagePool(CHANNELS, self.agents)
        self._taken: tuple[tuple[int, int, int], ...] = ()  # by turn: numbers of passages, missing and forbidden parts
        self.reference = self.question.reference if self._reference == AUTO else self._reference or ""
        self.reference_writer = ""
        self.undecided = False
        self.rewards = (0.0,) * len(self.agents)
        self.stage, self.to_move = EXAMINE, (EXAMINER,)
        if self.questions:
            self._call_debater()

    def _call_debater(self) -> None:
        """Gives the turn to the next debater; after the last turn, starts judging."""
        if len(self._taken) < len(self.turns):
            self.stage, self.to_move = DEBATE, (self._debater(self.turn.side),)
        elif self._lacks_reference(self.question):
            self.stage, self.to_move = REFERENCE, self.judges[:1]
        else:
            self._call_judges()

    def _call_judges(self) -> None:
        """Starts a judging session of all judges; after the last one, ends the match."""
        if not self.committee.is_done:
            self.stage, self.to_move = DISCUSS if self.committee.discusses else JUDGE, self.judges
            return
        winner = self.committee.winner
        self.to_move, self.undecided = (), winner == NONE
        self.rewards = tuple(self._reward(agent, winner) for agent in self.agents)

    def _reward(self, agent: str, winner: str) -> float:
        if winner not in SIDES or agent not in DEBATERS:
            return 0.0
        return 1.0 if agent == self._debater(winner) else -1.0

    def _debater(self, side: str) -> str:
        return self.sides[SIDES.index(side)]

    @property
    def turn(self) -> Turn:
        """The current turn of the debate, or the last one."""
        return self.turns[min(len(self._taken), len(self.turns) - 1)]

    @property
    def words(self) -> int:
        """Word limit of that turn, including thoughts."""
        return budgets(self.turn.actions) * (self._words or base_words(self.question.domain))

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All passages of debaters, in order."""
        return self.pool.of(*ACTIONS)

    @property
    def deliveries(self) -> tuple[Delivery, ...]:
        """The played turns."""
        passages = iter(self.passages)
        return tuple(
            Delivery(turn.side, tuple(islice(passages, count)), missing, forbidden)
            for turn, (count, missing, forbidden) in zip(self.turns, self._taken, strict=False)
        )

    @property
    def committee(self) -> Committee:
        """The judges and their judgements."""
        given, size = self.pool.of(JUDGEMENT), len(self.judges)
        sessions = tuple(given[start : start + size] for start in range(0, len(given), size or 1))
        return self._committee._replace(sessions=sessions)

    @property
    def first(self) -> tuple[Given, ...]:
        """Each judge's judgement before discussion; empty before judging."""
        return self.committee.first()

    @property
    def final(self) -> tuple[Given, ...]:
        """Each judge's last judgement, with the sides in their own order; empty before judging."""
        return self.committee.last()

    # Views of agents.

    def view(self, agent: str) -> DebateView:
        """Returns the view of ``agent``: the question and visible passages."""
        to_move = agent in self.to_move
        side = SIDES[self.sides.index(agent)] if agent in DEBATERS else ""
        debating = self.stage == DEBATE and bool(self.to_move)
        swapped = agent in self.judges and self.committee.order == 1
        blind = self._is_blind(agent)
        return DebateView(
            agent,
            to_move,
            (),
            side,
            self.stage,
            self.turn.round,
            self.question.domain,
            self.question.text,
            self.turn.actions if debating else (),
            self.words if debating else 0,
            () if blind else self._read_by(agent, swapped),
            to_move and (blind or swapped),
            self.reference if agent in self.judges else "",
            self._discussed_by(agent) if to_move and self.stage == DISCUSS else (),
            self.undecided,
        )

    def _is_blind(self, agent: str) -> bool:
        """Returns whether an agent acts without having read the debate."""
        return agent in self.to_move and (self.stage == REFERENCE or (self.stage == DEBATE and self.turn.fresh))

    def _read_by(self, agent: str, swapped: bool) -> tuple[Passage, ...]:
        passages: tuple[Passage, ...] = self.pool.visible_to(agent, *ACTIONS)
        return tuple(each._replace(side=exchanged(each.side)) for each in passages) if swapped else passages

    def _discussed_by(self, agent: str) -> tuple[tuple[str, Given], ...]:
        given = self.committee.last(self.committee.order)
        own = self.judges.index(agent)
        others = given[:own] + given[own + 1 :]
        return (("you", given[own]), *((f"Judge {number}", each) for number, each in enumerate(others, start=1)))

    # Actions and their effects.

    def why_illegal(self, agent: str, action: Action) -> Reason | None:
        """Returns why an action is illegal at this stage."""
        if not isinstance(action, {EXAMINE: Query, DEBATE: Speech, REFERENCE: Reference}.get(self.stage, Given)):
            return Reason("wrong_stage")
        return check_question(action.text) if isinstance(action, Query) else None

    def default_action(self, agent: str) -> Action | None:
        """Returns an empty turn, no reference answer, or an abstention; ``None`` for an examiner."""
        defaults: dict[str, Action | None] = {EXAMINE: None, DEBATE: Speech(()), REFERENCE: Reference("")}
        return defaults.get(self.stage, Abstention())

    def random_action(self, agent: str, rng: np.random.Generator) -> Action:
        """Draws meaningless words or a verdict; for an examiner, a shipped question in its domain."""
        number = int(rng.integers(1000))
        if self.stage == EXAMINE:
            shipped = [
                each for each in load_questions("builtin", self._language) if each.domain == self.question.domain
            ]
            return Query(shipped[number % len(shipped)].text)
        if self.stage == DEBATE:
            said = tuple(Part(action, filler("Words", number)) for action in self.turn.actions)
            return Speech(said if number % 3 else (Part(THINK, filler("Thoughts", number)), *said))
        if self.stage == REFERENCE:
            return Reference(filler("An answer", number))
        verdict = VERDICTS[number % len(VERDICTS)]
        return Judgement(verdict, f"{filler('Reasons', number)} [[{verdict.capitalize()}]]")

    def apply(self, actions: tuple[Action, ...]) -> None:
        """Applies the actions of this stage."""
        first = actions[0]
        if isinstance(first, Query):
            self.question = self.question._replace(text=first.text)
            self.pool = self.pool.with_message(QUESTION, EXAMINER, first)
            self._call_debater()
        elif isinstance(first, Speech):
            self._deliver(deliver(first, self.turn, self.words, self.counter, self._secrecy))
            self._call_debater()
        elif isinstance(first, Reference):
            self.reference = self.counter.cut(first.text, self.counter.budget(REFERENCE_WORDS))
            (self.reference_writer,) = self.to_move
            self.pool = self.pool.with_message(REFERENCE, self.reference_writer, Reference(self.reference))
            self._call_judges()
        else:
            given = tuple(each for each in actions if isinstance(each, Given))
            readers = None if self.committee.joined_by(given).discusses else ()
            for judge, each in zip(self.judges, given, strict=True):
                self.pool = self.pool.with_message(JUDGEMENT, judge, each, readers)
            self._call_judges()

    def _deliver(self, delivery: Delivery) -> None:
        (speaker,) = self.to_move
        opponents = tuple(agent for agent in DEBATERS if agent != speaker)
        for passage in delivery.passages:
            groups = {"opponent": opponents, "judge": self.judges}
            readers = [agent for name, group in groups.items() if name not in passage.hidden_from for agent in group]
            self.pool = self.pool.with_message(passage.action, speaker, passage, readers)
        self._taken += ((len(delivery.passages), delivery.missing, delivery.forbidden),)

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Ends the match: -1 for an offender, +1 for a debater's opponent, 0 for others; no result if it was staff."""
        self.to_move = ()
        self.undecided = not any(agent in DEBATERS for agent in offenders)
        return tuple(
            -1.0 if agent in offenders else float(agent in DEBATERS and not self.undecided) for agent in self.agents
        )

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws data hidden from ``agent``: thoughts, answers before its own, references, judgements, and sides.

        Texts become meaningless words. Until the match is over, verdicts are equally likely, and for agents other than debaters
        both orders of the sides are too, except during a debater's turn, as the player to move is public.
        """
        blind = self._is_blind(agent)
        if agent not in self.judges and self.reference:
            self.reference = drawn_filler("An answer", rng)
            self.question = self.question._replace(reference=self.reference if self.question.reference else "")
        judge = self.judges.index(agent) if agent in self.judges else -1
        committee = self.committee.redrawn(judge, rng, keep_verdicts=not self.to_move)
        given = iter([each for session in committee.sessions for each in session])

        def redrawn(sent: Sent[Any]) -> Sent[Any]:
            if sent.kind in ACTIONS and (blind or agent not in (sent.sender, *sent.readers)):
                return sent._replace(entry=other_words(sent.entry, rng))
            if sent.kind == JUDGEMENT:
                return sent._replace(entry=next(given))
            return sent._replace(entry=Reference(self.reference)) if sent.kind == REFERENCE else sent

        self.pool = self.pool.changed(redrawn)
        if self.to_move and self.stage != DEBATE and agent not in DEBATERS and rng.integers(2):
            self.sides = self.sides[::-1]
            other = dict(zip(DEBATERS, DEBATERS[::-1], strict=True))
            self.pool = self.pool.changed(
                lambda sent: sent._replace(
                    sender=other.get(sent.sender, sent.sender),
                    readers=tuple(other.get(reader, reader) for reader in sent.readers),
                )
            )

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the statistics of ``agent`` and the match; all are ``UNKNOWN`` until the match is over."""
        role = role_of(agent)
        swapped = ("verdict_swapped",) if role == "judge" and self.committee.orders == 2 else ()
        numbers = dict.fromkeys((*_STATISTICS[role], *swapped, *_STATISTICS["match"]), UNKNOWN)
        if self.to_move:
            return numbers
        if self.question.domain:
            numbers["domain"] = float(DOMAINS.index(self.question.domain))
        if role == "judge":
            numbers |= self._about_judge(self.judges.index(agent))
        elif role == "debater":
            numbers |= self._about_debater(SIDES[self.sides.index(agent)])
        return numbers | {
            "question": float(self.number),
            "winner_first": _number(self.committee.winner_before),
            "winner": _number(self.committee.winner),
            "abstentions": float(self.committee.verdicts().count(NONE)),
        }

    def _about_judge(self, judge: int) -> dict[str, float]:
        committee = self.committee
        verdicts = {"verdict_first": committee.first_verdicts(), "verdict_final": committee.last_verdicts()}
        if committee.orders == 2:
            verdicts["verdict_swapped"] = committee.last_verdicts(1)
        given = [session[judge] for session in committee.sessions]
        return {name: _number(each[judge]) for name, each in verdicts.items() if each} | {
            "abstained": float(sum(isinstance(each, Abstention) for each in given)),
        }

    def _about_debater(self, side: str) -> dict[str, float]:
        own = [delivery for delivery in self.deliveries if delivery.side == side]
        read = [each for delivery in own for each in delivery.passages if "judge" not in each.hidden_from]
        return {
            "side": float(SIDES.index(side)),
            "words": self.counter.words(sum(self.counter.length(passage.text) for passage in read)),
            "truncated": float(sum(delivery.truncated for delivery in own)),
            "missing": float(sum(delivery.missing for delivery in own)),
            "forbidden": float(sum(delivery.forbidden for delivery in own)),
            "votes_first": float(self.committee.verdicts_before().count(side)),
            "votes_final": float(self.committee.verdicts().count(side)),
        }


def _number(verdict: str) -> float:
    return UNKNOWN if verdict == NONE else float(VERDICTS.index(verdict))


def _candidates(questions: Sequence[Question], number: int | None, domain: str | None) -> tuple[int, ...]:
    """Returns the indices of the questions to draw from."""
    if domain is not None:
        check_choice("domain", domain, DOMAINS)
    if number is None:
        found = tuple(each for each, question in enumerate(questions) if domain in (None, question.domain))
        if questions and not found:
            raise OptionError(f"domain: there is no question in {domain!r} among the {len(questions)}")
        return found
    if not questions:
        raise OptionError(f"number: expected None where an examiner sets the question, got {number!r}")
    check_int("number", number, 0, len(questions) - 1)
    if domain not in (None, questions[number].domain):
        raise OptionError(f"number: question {number} is in the domain {questions[number].domain!r}, not in {domain!r}")
    return (number,)
