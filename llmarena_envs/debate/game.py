"""The rules of a debate: two debaters answer, criticize and question each other, then a committee of judges decides."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from llmarena_envs.core.committee import NONE, VERDICTS, Abstention, Committee, Given, Judgement, exchanged
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.filler import drawn_filler, filler
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import OptionError, check_choice, check_int
from llmarena_envs.core.text_length import TextCounter, WordCounter
from llmarena_envs.debate.actions import Action, DebateView, Part, Passage, Query, Reference, Speech
from llmarena_envs.debate.delivery import Delivery, Secrecy, deliver
from llmarena_envs.debate.hidden import other_words
from llmarena_envs.debate.protocol import FIRST_ANSWERS, SIDES, THINK, Turn, base_words, budgets, debate_turns
from llmarena_envs.debate.questions import DOMAINS, Question, check_question, load_questions

EXAMINE, DEBATE, REFERENCE, JUDGE, DISCUSS = "examine", "debate", "reference", "judge", "discuss"
"""The stages of a match, in their order."""

VISIBILITIES = ("paper", "restricted")
AUTO = "auto"
UNKNOWN = -1.0
"""What a statistic is while it is not known."""

EXAMINER = "examiner_0"
DEBATERS = ("debater_0", "debater_1")
MAX_JUDGES = 9
MAX_DISCUSSION_ROUNDS = 3
MIN_WORDS, MAX_WORDS = 10, 1000

REFERENCE_DOMAINS = ("reasoning", "math", "coding")
"""Domains in which judges are given a reference answer."""

REFERENCE_WORDS = 600
"""Greatest number of words of a reference answer."""

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
        questions: what a debate may be about; one of them is drawn. Empty: an examiner sets the question.
        number: number of the question that is taken instead; ``None`` to draw it.
        domain: the domain that questions are drawn from or the examiner sets one in; ``None`` for all.
        n_judges: number of judges, 0 to 9.
        discussion_rounds: how often judges read what the others say and judge again, 0 to 3; a single judge never does.
        quorum: how many judges must give a verdict.
        both_orders: whether judges judge twice, the second time with the names of the sides exchanged.
        reference: ``"auto"``: the question's own, or one that the first judge writes where the domain is reasoning, math or
            coding; another text for that one; ``None`` for none.
        words: how many words a turn of one budget has; ``None`` for what its domain has.
        round3_opener: the side that opens the third round.
        visibility: ``"paper"``: opponents read everything but thoughts; ``"restricted"``: only what is responded and raised.
        judge_sees_think: whether judges read thoughts.
        judge_initial_only: whether there is no battle: both answer the question once, and that is judged.
        language: of the shipped questions that ``random_action`` gives for an examiner.
        counter: measures and cuts what is said.

    Attributes:
        turns: the turns of the debate.
        number: number of the question in ``questions``, -1 if an examiner sets it.
        question: the question; its text is empty until the examiner has set it.
        sides: the debaters as sides A and B.
        stage: as in ``DebateView``.
        deliveries: the turns that were played.
        reference: an answer that judges compare others with; empty if there is none.
        reference_writer: the judge who wrote it; empty if it was given.
        committee: the judges and what they gave.
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
        """Says whether there may be a match in which the first judge writes a reference answer."""
        if self.questions:
            return any(self._lacks_reference(self.questions[number]) for number in self._candidates)
        domains = (self._domain,) if self._domain else DOMAINS
        return any(self._lacks_reference(Question("", domain, "")) for domain in domains)

    def _lacks_reference(self, question: Question) -> bool:
        wanted = self._reference == AUTO and bool(self.judges)
        return wanted and question.domain in REFERENCE_DOMAINS and not question.reference

    def numbers_by_turns(self) -> list[int]:
        """Returns the numbers of the questions that may be drawn, one of each domain in turn as long as there are any."""
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
        self.deliveries: tuple[Delivery, ...] = ()
        self.reference = self.question.reference if self._reference == AUTO else self._reference or ""
        self.reference_writer = ""
        self.committee = self._committee
        self.undecided = False
        self.rewards = (0.0,) * len(self.agents)
        self.stage, self.to_move = EXAMINE, (EXAMINER,)
        if self.questions:
            self._call_debater()

    def _call_debater(self) -> None:
        """Lets the next debater speak; after the last turn, the judges are called."""
        if len(self.deliveries) < len(self.turns):
            self.stage, self.to_move = DEBATE, (self._debater(self.turn.side),)
        elif self._lacks_reference(self.question):
            self.stage, self.to_move = REFERENCE, self.judges[:1]
        else:
            self._call_judges()

    def _call_judges(self) -> None:
        """Lets all judges act; when they have judged as often as they do, the match is over."""
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
        """The turn of the debate that is to be played, or the last one."""
        return self.turns[min(len(self.deliveries), len(self.turns) - 1)]

    @property
    def words(self) -> int:
        """How many words that turn may have, thoughts included."""
        return budgets(self.turn.actions) * (self._words or base_words(self.question.domain))

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Everything that was said, in its order."""
        return tuple(passage for delivery in self.deliveries for passage in delivery.passages)

    @property
    def first(self) -> tuple[Given, ...]:
        """What each judge gave before it had read what others said; empty before that."""
        return self.committee.first()

    @property
    def final(self) -> tuple[Given, ...]:
        """What each judge gave last, with the sides in their own order; empty before the first time."""
        return self.committee.last()

    # What an agent may know.

    def view(self, agent: str) -> DebateView:
        """Returns what ``agent`` may know: the question and what it may read of the rest."""
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
        """Says whether an agent acts now without having read what was said."""
        return agent in self.to_move and (self.stage == REFERENCE or (self.stage == DEBATE and self.turn.fresh))

    def _read_by(self, agent: str, swapped: bool) -> tuple[Passage, ...]:
        passages = [each for each in self.passages if self._may_read(agent, each)]
        return tuple(each._replace(side=exchanged(each.side)) for each in passages) if swapped else tuple(passages)

    def _may_read(self, agent: str, passage: Passage) -> bool:
        if agent not in DEBATERS:
            return agent in self.judges and "judge" not in passage.hidden_from
        return agent == self._debater(passage.side) or "opponent" not in passage.hidden_from

    def _discussed_by(self, agent: str) -> tuple[tuple[str, Given], ...]:
        given = self.committee.last(self.committee.order)
        own = self.judges.index(agent)
        others = given[:own] + given[own + 1 :]
        return (("you", given[own]), *((f"Judge {number}", each) for number, each in enumerate(others, start=1)))

    # What may be done, and what comes of it.

    def why_illegal(self, agent: str, action: Action) -> Reason | None:
        """Says why something cannot be done at this stage."""
        if not isinstance(action, {EXAMINE: Query, DEBATE: Speech, REFERENCE: Reference}.get(self.stage, Given)):
            return Reason("wrong_stage")
        return check_question(action.text) if isinstance(action, Query) else None

    def default_action(self, agent: str) -> Action | None:
        """Returns a turn without a word, no reference answer, or an abstention; there is none for an examiner."""
        defaults: dict[str, Action | None] = {EXAMINE: None, DEBATE: Speech(()), REFERENCE: Reference("")}
        return defaults.get(self.stage, Abstention())

    def random_action(self, agent: str, rng: np.random.Generator) -> Action:
        """Draws words without meaning or a verdict; for an examiner, one of the shipped questions in its domain."""
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
        """Takes up what the agents of this stage gave."""
        first = actions[0]
        if isinstance(first, Query):
            self.question = self.question._replace(text=first.text)
            self._call_debater()
        elif isinstance(first, Speech):
            self.deliveries += (deliver(first, self.turn, self.words, self.counter, self._secrecy),)
            self._call_debater()
        elif isinstance(first, Reference):
            self.reference = self.counter.cut(first.text, self.counter.budget(REFERENCE_WORDS))
            (self.reference_writer,) = self.to_move
            self._call_judges()
        else:
            self.committee = self.committee.joined_by(tuple(each for each in actions if isinstance(each, Given)))
            self._call_judges()

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Ends the match: -1 for an offender, +1 for the opponent of a debater, 0 for others; undecided if it was staff."""
        self.to_move = ()
        self.undecided = not any(agent in DEBATERS for agent in offenders)
        return tuple(
            -1.0 if agent in offenders else float(agent in DEBATERS and not self.undecided) for agent in self.agents
        )

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws what ``agent`` does not read: thoughts, answers before its own, references, judgements; who is on which side.

        Words are replaced by some without meaning. Until the match is over, verdicts are equally likely, and so are, for others
        than debaters, both orders of the sides, but while it is a debater's turn: whose turn it is everybody can see.
        """
        blind = self._is_blind(agent)
        self.deliveries = tuple(
            delivery._replace(
                passages=tuple(
                    each if self._may_read(agent, each) and not blind else other_words(each, rng)
                    for each in delivery.passages
                )
            )
            for delivery in self.deliveries
        )
        if agent not in self.judges and self.reference:
            self.reference = drawn_filler("An answer", rng)
            self.question = self.question._replace(reference=self.reference if self.question.reference else "")
        judge = self.judges.index(agent) if agent in self.judges else -1
        self.committee = self.committee.redrawn(judge, rng, keep_verdicts=not self.to_move)
        if self.to_move and self.stage != DEBATE and agent not in DEBATERS and rng.integers(2):
            self.sides = self.sides[::-1]

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns what is known of ``agent`` and of the match; all is ``UNKNOWN`` until the match is over."""
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
    """Returns the numbers of the questions that one is drawn from."""
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
