"""Adaptive play: selection of pairs, its bounds, and dependence on results and the seed only."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest

from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.prices import Price
from rating.schedules.adaptive import Adaptive
from rating.schedules.batches import Stop
from rating.schedules.until import Until
from rating.schemes.stopping import CountRule, StopRule
from rating.stats.design import Design
from rating.store.records import FINISHED, VOID, Outcome, SeatOutcome
from tests.rating.made_outcomes import Players, play_out, small_contest

STRENGTHS = {"a": 0.0, "b": 40.0, "c": 80.0, "d": 900.0, "e": 940.0}
NAMES = tuple(STRENGTHS)


def source(names=NAMES, *, seats=2, seed=0, under_test=None, least=0.0, most=10**6, **options):
    contest = small_contest("game_v0", names, seats=seats, seed=seed, staff=options.pop("staff", {}))
    design = Design(len(names), meetings=seats, seed=seed, seat_term=seats == 2)
    return Adaptive(contest, design, under_test=under_test or names, least=least, most=most, **options)


def until(batches, ahead=2, **rule):
    rule = {"min_matches": 20, "sigma": 0.0, "eps": 1e-9, "max_matches": 10**6, **rule}
    return Until(small_contest("game_v0", NAMES), batches, StopRule(**rule).begin(NAMES), ahead)


def play(batches, count, players=None, lag=2):
    """Plays some batches as a runner does; returns their matches and outcomes."""
    players = players or Players(STRENGTHS)
    played = []
    for index in range(count):
        batch = batches.next_batch()
        assert not isinstance(batch, Stop)
        played.append((batch, players.play(batch)))
        if index + 1 >= lag:
            batches.add(played[index + 1 - lag][1])
    return played


def matches(played):
    return [match for batch, _ in played for match in batch]


def test_adaptive_pairs_swap_seats_on_one_deal():
    all_matches = matches(play(source(), 12))
    assert [match.number for match in all_matches] == list(range(len(all_matches)))
    for first, second in zip(all_matches[::2], all_matches[1::2], strict=True):
        assert first.policies == second.policies[::-1] and first.seed == second.seed
    assert len({match.seed for match in all_matches}) == len(all_matches) // 2


def test_adaptive_close_policies_play_most():
    played = play(source(), 25)
    pairs = Counter(frozenset(match.policies) for match in matches(played))
    close = pairs[frozenset("ab")] + pairs[frozenset("bc")] + pairs[frozenset("de")]
    far = sum(pairs[frozenset(pair)] for pair in itertools.product("abc", "de"))
    assert close > 3 * far
    assert {name for match in played[0][0] for name in match.policies} == set(NAMES)


def test_adaptive_depends_on_seed_and_results():
    one, same, other = (matches(play(source(seed=seed), 8)) for seed in (1, 1, 2))
    assert [match.policies for match in one] == [match.policies for match in same]
    assert [match.policies for match in one] != [match.policies for match in other]
    elsewhere = matches(play(source(seed=1), 8, Players({**STRENGTHS, "e": -900.0})))
    assert [match.policies for match in one] != [match.policies for match in elsewhere]


def test_adaptive_lag_is_ahead_until_the_rule_fires():
    count = CountRule(matches=20, max_matches=10**6).begin(NAMES)
    schedule = Until(small_contest("game_v0", NAMES), source(least=20), count, 3)
    assert schedule.lag == 3
    batches, reason = play_out(schedule, Players(STRENGTHS))
    assert reason == "count" and len(batches) < 10


@pytest.mark.parametrize("most", [1, 7])
def test_adaptive_keeps_the_cap(most):
    batches, reason = play_out(until(source(most=most)), Players(STRENGTHS))
    scheduled = Counter(seat.policy for outcome in itertools.chain(*batches) for seat in outcome.seats)
    assert reason == "cap"
    assert max(scheduled.values()) <= max(2, most)
    # No pair is left: at most one policy has room for two more matches.
    assert sum(scheduled[name] + 2 <= max(2, most) for name in NAMES) <= 1


@pytest.mark.slow
def test_adaptive_void_matches_keep_the_minimum():
    class Failing(Players):
        def play(self, batch):
            outcomes = super().play(batch)
            return [
                replace(outcome, status=VOID) if "d" in match.policies and match.number % 3 else outcome
                for match, outcome in zip(batch, outcomes, strict=True)
            ]

    played = play(source(least=30), 25, Failing(STRENGTHS))
    finished = Counter(
        seat.policy
        for _, outcomes in played
        for outcome in outcomes
        if outcome.status == FINISHED
        for seat in outcome.seats
    )
    assert min(finished.values()) >= 30
    assert matches(play(source(), 25, Failing(STRENGTHS))) != matches(played)


def test_adaptive_left_out_policy_is_not_chosen():
    batches = source()
    before = play(batches, 2)
    assert any("c" in match.policies for match in matches(before))
    batches.leave_out("c")
    assert not any("c" in match.policies for match in matches(play(batches, 6)))
    schedule = until(source())
    for name in "abcd":
        schedule.leave_out(name)
    assert schedule.next_batch() == Stop("suspended")


def test_adaptive_recorded_matches_come_first():
    whole = play(source(), 6)
    for kept in (3, len(matches(whole[:3])) - 5):
        recorded = [match.policies for match in matches(whole)][:kept]
        resumed = play(source(recorded=recorded), 6)
        assert matches(resumed) == matches(whole)  # the same results: undisturbed
        other = play(source(recorded=recorded), 6, Players({**STRENGTHS, "e": -900.0}))
        assert [match.policies for match in matches(other)][:kept] == recorded
        assert matches(other) != matches(whole)


def test_adaptive_ended_phase_has_recorded_matches_only():
    recorded = [match.policies for match in matches(play(source(), 2))][:-4]
    over = source(recorded=recorded, is_over=True)
    assert [match.policies for match in matches(play(over, 2))] == recorded
    assert over.next_batch() == Stop("ended")


@pytest.mark.parametrize("names", [("a", "z"), ("a", "a"), ("a", "b", "c")])
def test_adaptive_record_of_other_policies_is_damaged(names):
    with pytest.raises(RunError, match="expected 2 different policies of"):
        source(recorded=[names])


@pytest.mark.slow
def test_adaptive_newcomers_play_every_match():
    history = play(source(NAMES[:4]), 20)
    batches = source(under_test=("e",))
    for _, outcomes in history:
        batches.add(outcomes)
    pairs = Counter(frozenset(match.policies) for match in matches(play(batches, 12)))
    assert all("e" in pair for pair in pairs)
    assert pairs[frozenset("de")] > 0.5 * pairs.total()  # the only one of its strength


def with_tokens(outcomes, tokens):
    return [
        replace(
            outcome, seats=tuple(replace(seat, completion_tokens=tokens.get(seat.policy, 0)) for seat in outcome.seats)
        )
        for outcome in outcomes
    ]


@pytest.mark.slow
def test_adaptive_expensive_policies_play_less():
    names = tuple("abcdef")
    equal = dict.fromkeys(names, 0.0)
    price = Price(model="m", input=1.0, output=1.0)
    priced = dict.fromkeys(names, price)

    class Writing(Players):
        def __init__(self, tokens, unknown=()):
            super().__init__(equal)
            self._tokens, self._unknown = tokens, unknown

        def play(self, batch):
            outcomes = with_tokens(super().play(batch), self._tokens)
            return [
                replace(
                    outcome,
                    seats=tuple(
                        replace(seat, unknown_usage=int(seat.policy in self._unknown)) for seat in outcome.seats
                    ),
                )
                for outcome in outcomes
            ]

    def counts(players, prices):
        batches = source(names, prices=prices)
        return Counter(name for match in matches(play(batches, 30, players)) for name in match.policies)

    alike, longer = dict.fromkeys(names, 100), {**dict.fromkeys(names, 100), "f": 3000}
    even = counts(Writing(alike), priced)
    long_replies = counts(Writing(longer), priced)
    assert long_replies["f"] < 0.7 * long_replies["a"]
    assert even == counts(Writing(longer), {}) == counts(Writing({"f": 3000}, unknown=("f",)), priced)
    dear_tokens = counts(Writing(alike), {**priced, "f": Price(model="d", input=1.0, output=30.0)})
    assert dear_tokens == long_replies  # the same bill for each match
    scripted = counts(Writing(dict.fromkeys("abcde", 100)), dict.fromkeys("abcde", price))
    assert scripted["f"] > 1.3 * scripted["a"]


class Tables(Players):
    """Plays at tables of any size: stronger policies tend to have higher rewards."""

    def play(self, batch):
        outcomes = []
        for match in batch:
            merit = [self.strengths.get(name, 0.0) + 170 * self._rng.gumbel() for name in match.policies]
            seats = tuple(SeatOutcome(name, value) for name, value in zip(match.policies, merit, strict=True))
            outcomes.append(Outcome(match.environment, match.number, match.seed, FINISHED, seats))
        return outcomes


@pytest.mark.slow
def test_adaptive_tables_rotate_seats_on_one_deal():
    names = tuple("abcdefgh")
    strengths = dict(zip(names, (0.0, 20.0, 40.0, 60.0, 2000.0, 4000.0, 6000.0, 8000.0), strict=True))
    all_matches = matches(play(source(names, seats=3), 25, Tables(strengths)))
    tables = [all_matches[begin : begin + 3] for begin in range(0, len(all_matches), 3)]
    for table in tables:
        assert len({match.seed for match in table}) == 1
        for name in table[0].policies:
            assert sorted(match.policies.index(name) for match in table) == [0, 1, 2]
    sat = Counter(name for match in all_matches for name in match.policies)
    assert min(sat[name] for name in "abcd") > 2 * max(sat[name] for name in "fgh")
    assert len({table[0].policies.index(min(table[0].policies)) for table in tables}) == 3


class Some(Players):
    """Some matches of these are void; a judge on the first seat only watches."""

    def __init__(self, *, judged):
        super().__init__({"a": 0.0, "b": 0.0, "c": 100.0})
        self._judge = (SeatOutcome("judge", 0.0),) if judged else ()

    def play(self, batch):
        outcomes = super().play([replace(match, policies=match.policies[len(self._judge) :]) for match in batch])
        # The record of a void match does not name the rated policies.
        return [
            replace(
                outcome,
                seats=(*(replace(seat, rated=is_void) for seat in self._judge), *outcome.seats),
                status=VOID if is_void else FINISHED,
            )
            for outcome in outcomes
            for is_void in (outcome.number % 5 == 0,)
        ]


@pytest.mark.slow
def test_adaptive_staff_does_not_affect_choices():
    judged = matches(play(source(tuple("abc"), staff={0: "judge"}), 8, Some(judged=True)))
    alone = matches(play(source(tuple("abc")), 8, Some(judged=False)))
    assert [match.policies for match in judged] == [("judge", *match.policies) for match in alone]


def test_adaptive_without_choice_is_refused():
    with pytest.raises(OptionError, match="expected 4 policies or more"):
        source(tuple("abc"), seats=3)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("seats", [3, 2])
def test_adaptive_minimum_is_reached_together(seats):
    least, scheduled = 60, Counter()
    left = iter(matches(play(source(seats=seats, seed=1, least=least), 40, Tables(STRENGTHS))))
    while min(scheduled[name] for name in NAMES) < least:
        scheduled.update(next(left).policies)
    assert scheduled.total() <= 1.05 * least * len(NAMES)
