import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rating.schedules.round_robin import round_robin
from rating.schemes.conditions import MatchEvidence
from rating.schemes.stopping import CountRule, StopRule, fold, no_information
from rating.stats.trueskill import rate
from rating.store.records import BUG, FINISHED, VOID
from tests.rating.made_outcomes import Players, duel, match, small_contest, void

PAPER = "trueskill"
MOST_BATCHES = 500
"""No test plays more: a rule that never fires is a failure, not an endless loop."""


def batches_of(names, seed=0):
    return itertools.islice(round_robin(small_contest("game_v0", tuple(names), seed=seed)), MOST_BATCHES)


def stop_reason(outcomes, policies, rule=None):
    return fold(outcomes, policies, rule or StopRule()).reason() or None


def play_until_stop(strengths, rule, **properties):
    players = Players(strengths, **properties)
    outcomes = []
    for batch in batches_of(strengths):
        outcomes += players.play(batch)
        if reason := stop_reason(outcomes, list(strengths), rule):
            return reason, outcomes
    raise AssertionError


def matches_of(outcomes, name):
    return sum(any(seat.policy == name for seat in outcome.seats) for outcome in outcomes)


def paper(**changes):
    return StopRule(rule=PAPER, **changes)


def test_trueskill_rule_short_history_has_no_change():
    told = fold([duel(0, "a", "b", "a")], "ab", paper()).reached()
    assert "largest change of mu not known yet over 20 matches" in told and "inf" not in told
    assert "does not promise the order" in fold(ties(60), "ab", paper()).reached()
    assert "TrueSkill: largest sigma" in fold(ties(60), "ab", StopRule(alike=0)).reached()
    assert "change" not in fold([duel(0, "a", "b", "a")], "ab", StopRule()).reached()


def ties(count, first="a", second="b", start=0):
    return [duel(number, first, second, None, seed=number // 2) for number in range(start, start + count)]


def largest_sigma(outcomes):
    return max(rating.sigma for rating in rate(outcomes).ratings.values())


@pytest.mark.parametrize(
    ("outcomes", "policies", "rule", "reason"),
    [
        ([], "ab", StopRule(), None),
        (ties(49), "ab", paper(eps=100.0), None),
        (ties(50), "ab", paper(eps=100.0), "mu_stable"),
        ([*ties(49), void(49, "a", "b")], "ab", paper(eps=100.0), None),
        (ties(49), "ab", paper(max_matches=49), "cap"),
        (ties(60) + ties(40, "a", "c", 60), "abc", paper(eps=100.0), None),  # c has played only 40
        (ties(60), "ab", paper(window=61, eps=100.0, sigma=0.0), None),
        (ties(60), "ab", paper(window=60, eps=100.0, sigma=0.0), "mu_stable"),
        (ties(60), "ab", paper(eps=0.0, sigma=0.0), None),  # mu of equals who always tie never moves
        (ties(60), "ab", paper(eps=1e-300, sigma=0.0), "mu_stable"),
        (ties(60), "ab", paper(eps=0.0, sigma=largest_sigma(ties(60))), None),
        (ties(60), "ab", paper(eps=0.0, sigma=math.nextafter(largest_sigma(ties(60)), 9)), "sigma"),
    ],
)
def test_trueskill_rule_fires_at_its_limits(outcomes, policies, rule, reason):
    assert stop_reason(outcomes, policies, rule) == reason


def counted(outcomes, policies, rule):
    """The rule of a count as it reads, from the whole log."""

    def own(name, log):
        tables = [{seat.policy for seat in outcome.seats} for outcome in log]
        return sum(name in table and (name != rule.opponent or table == {name}) for table in tables)

    if all(own(name, [one for one in outcomes if one.status == FINISHED]) >= rule.matches for name in policies):
        return "count"
    return "cap" if any(own(name, outcomes) >= rule.max_matches for name in policies) else ""


def converged(outcomes, policies, rule):
    """The paper's rule as it reads, from the whole log; of others, that they are the same however they are folded."""
    if rule.rule != PAPER:
        return stop_reason(outcomes[::-1], policies, rule) or ""
    ended = [outcome for outcome in outcomes if outcome.status == FINISHED]
    result = rate(ended)
    if all(matches_of(ended, name) >= rule.min_matches for name in policies):
        mus = {name: [25.0, *(step.mu for step in result.history[name])] for name in policies}
        if all(len(own) > rule.window and abs(own[-1] - own[-1 - rule.window]) < rule.eps for own in mus.values()):
            return "mu_stable"
        if all(result.ratings[name].sigma < rule.sigma for name in policies):
            return "sigma"
    return "cap" if any(matches_of(outcomes, name) >= rule.max_matches for name in policies) else ""


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(st.permutations("abc"), st.sampled_from("wldvb")), min_size=1, max_size=90),
    st.lists(st.integers(1, 30), min_size=1, max_size=12),
    st.sampled_from(
        [
            paper(min_matches=5, window=3, eps=0.8, sigma=2.5, max_matches=40),
            StopRule(min_matches=5, window=3, eps=0.8, sigma=2.5, max_matches=40),
            StopRule(min_matches=8, rule="spearman=0.8+width=500", max_matches=50),
            CountRule(matches=12, max_matches=30),
            CountRule(matches=6, max_matches=20, opponent="c"),
        ]
    ),
)
def test_rule_by_batches_equals_its_definition(results, sizes, rule):
    outcomes = []
    for number, (names, result) in enumerate(results):
        first, second = names[:2]
        if result in "vb":
            outcomes.append(void(number, first, second, status={"v": VOID, "b": BUG}[result]))
        else:
            outcomes.append(duel(number, first, second, {"w": first, "l": second, "d": None}[result]))
    folded = rule.begin("abc")
    rest = list(outcomes)
    by_definition = counted if isinstance(rule, CountRule) else converged
    for size in itertools.chain(sizes, [len(outcomes)]):
        batch, rest = rest[:size], rest[size:]
        for outcome in batch:
            folded.schedule(seat.policy for seat in outcome.seats)
        folded.add(batch)
        so_far = outcomes[: len(outcomes) - len(rest)]
        assert folded.reason() == (stop_reason(so_far, "abc", rule) or "") == by_definition(so_far, "abc", rule)


def test_rule_late_outcomes_are_refused():
    folded = StopRule().begin("ab")
    folded.add([duel(0, "a", "b", "a"), duel(1, "b", "a", "a")])
    with pytest.raises(ValueError, match="from match 2 on, got match 1"):
        folded.add([duel(1, "b", "a", "a")])


PLAYERS = {"a": 0.0, "b": 60.0, "c": 300.0, "d": 330.0}


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("rule", ["spearman=0.95", "top=2", "separated=100", "width=80", "width=90+spearman=0.8"])
def test_rule_fires_as_soon_as_all_conditions_hold(rule):
    asked = StopRule(rule=rule, max_matches=100_000, alike=0)
    reason, outcomes = play_until_stop(PLAYERS, asked)
    assert reason == rule
    at_the_end, before = (fold(log, list(PLAYERS), asked) for log in (outcomes, outcomes[:-24]))
    assert at_the_end.reason() == rule and not before.reason()
    assert len(outcomes) > 24  # more than the minimum of ten matches each


@pytest.mark.slow
def test_rule_order_only_reports_trueskill():
    close = {name: 8.0 * index for index, name in enumerate("abcdefgh")}
    reason, outcomes = play_until_stop(close, paper())
    assert reason == "sigma"
    state = fold(outcomes, list(close), StopRule(alike=0))
    assert not state.reason()
    assert "TrueSkill: largest sigma 0." in state.reached() and "(asked: 0.95)" in state.reached()
    assert "does not promise the order" in fold(outcomes, list(close), paper()).reached()
    assert play_until_stop(close, StopRule(max_matches=200, alike=0))[0] == "cap"


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(("players", "ties"), [(2, 0.0), (8, 0.5)])
def test_rule_equal_policies_end_as_alike(players, ties):
    equals = dict.fromkeys("abcdefgh"[:players], 0.0)
    reason, outcomes = play_until_stop(equals, StopRule(), ties=ties, seed=4)
    assert reason == "alike" and len(outcomes) < 100 * players
    told = fold(outcomes, list(equals), StopRule()).stopped_with(reason)
    assert told.startswith("unresolved policies differ by less than 60 Elo, probability 0.9")
    assert not fold(outcomes, list(equals), StopRule(alike=0)).reason()
    assert not fold(
        outcomes, list(equals), StopRule(rule="order+width=20")
    ).reason()  # equals too have a rating to be known


def test_rule_only_ties_end_as_alike():
    reason, outcomes = play_until_stop(dict.fromkeys("abcd", 0.0), StopRule(), ties=1.0)
    assert reason == "alike" and len(outcomes) <= 72
    assert fold(outcomes, "abcd", StopRule()).stopped_with(reason).startswith("every match was a tie; unresolved")


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("rule", ["order", "spearman=0.999"])
def test_rule_far_policies_are_not_alike(rule):
    reason, outcomes = play_until_stop({"a": 0.0, "b": 400.0, "c": 800.0}, StopRule(rule=rule))
    assert reason == rule and (len(outcomes) <= 72 or rule != "order")


def test_rule_top_fires_before_order():
    players = {"a": 400.0, "b": 395.0, "c": 0.0, "d": -5.0}
    reason, outcomes = play_until_stop(players, StopRule(rule="top=2", alike=0))
    assert reason == "top=2"
    assert not fold(outcomes, list(players), StopRule(alike=0)).reason()
    assert "best 2 known with probability" in fold(outcomes, list(players), StopRule(rule="top=2")).reached()


def test_rule_separated_accepts_close_neighbours():
    log = meetings(0, "a", "b", None, matches=300)
    assert not fold(log, "ab", StopRule(rule="separated", max_matches=1000, alike=0)).reason()
    close = fold(log, "ab", StopRule(rule="separated=100", max_matches=1000, alike=0))
    assert close.reason() == "separated=100" and "1 within 100 Elo" in close.reached()


def test_rule_width_of_an_unbeaten_policy_never_fires():
    outcomes = [duel(number, *(("a", "b") if number % 2 else ("b", "a")), "a") for number in range(500)]
    assert stop_reason(outcomes, "ab", StopRule(rule="width=5", max_matches=1000)) is None


def meetings(start, one, other, winner, matches=60):
    """Matches of two, each on both seats."""
    pairs = ((one, other), (other, one))
    return [duel(number, *pairs[number % 2], winner) for number in range(start, start + matches)]


def test_rule_ignores_left_out_policies():
    outcomes = meetings(0, "a", "b", None) + meetings(60, "b", "c", "c") + meetings(120, "c", "d", "d")
    rule = StopRule(rule="spearman=0.95", max_matches=1000, alike=0)
    assert not fold(outcomes, "abcd", rule).reason()  # nothing tells a from b
    assert fold(outcomes, "abcd", rule, left_out="a").reason() == "spearman=0.95"


def test_rule_expected_spearman_is_clustered_by_deal():
    players = Players(dict.fromkeys("abcd", 0.0) | {"a": 100.0, "d": -100.0}, seed=3)
    single = list(itertools.islice((one for batch in batches_of("abcd") for one in players.play(batch)), 120))
    apart = [
        replace(one, number=2 * index + again, seed=2 * index + again)
        for index, one in enumerate(single)
        for again in (0, 1)
    ]
    alike = [replace(one, seed=one.number // 2) for one in apart]
    rule = StopRule(rule="spearman=0.99", max_matches=1000)
    known = [fold(log, "abcd", rule).reached().split()[2] for log in (apart, alike)]
    assert float(known[0]) > float(known[1]) + 0.03


def test_rule_newcomers_need_only_their_own_place():
    founders = meetings(0, "a", "b", None)
    rule = StopRule(rule="spearman=0.95", max_matches=1000, alike=0)
    better = founders + meetings(60, "a", "c", "c") + meetings(120, "b", "c", "c")
    assert not fold(better, "abc", rule).reason()
    assert fold(better, "c", rule).reason() == "spearman=0.95"
    equal = founders + meetings(60, "a", "c", None) + meetings(120, "b", "c", None)
    assert not fold(equal, "c", rule).reason()


def test_rule_syntax_ignores_spaces():
    assert StopRule(rule=" trueskill ").conditions == paper().conditions != StopRule().conditions
    assert StopRule(rule=" order ").conditions == StopRule().conditions


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "sigma",
        "order=0.9",
        "spearman",
        "spearman=1.5",
        "spearman=nan",
        "separated=-3",
        "width",
        "width=0",
        "order+spearman=0.9",
        "trueskill+order",
        "top",
        "top=0",
        "width=60 width=70",
        "x" * 10_000,
    ],
)
def test_rule_syntax_invalid_text_is_refused(rule):
    with pytest.raises(
        ValueError, match=r"expected trueskill, or one.*spearman=0.99, top=3, separated, separated=60"
    ) as refusal:
        StopRule(rule=rule)
    assert len(str(refusal.value)) < 400


def test_rule_repeated_void_match_counts_once():
    outcomes = [void(number % 10, "a", "b") for number in range(1000)]
    assert stop_reason(outcomes, ["a", "b"]) is None


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 5), st.floats(0, 1), st.integers(1, 60), st.integers(1, 120), st.integers(0, 1000), st.booleans())
def test_rule_every_run_ends_by_the_cap(count, share, min_matches, max_matches, seed, ordered):
    strengths = {f"p{index}": 40.0 * index for index in range(count)}
    rule = StopRule(
        min_matches=min_matches,
        max_matches=max_matches,
        eps=0.02,
        sigma=0.85,
        rule="spearman=0.99" if ordered else PAPER,
    )
    players = Players(strengths, seed=seed, ties=0.2)
    outcomes = []
    for batch in batches_of(strengths, seed):
        played = players.play(batch)
        lost = int(share * len(played))
        outcomes += played[lost:] + [void(item.number, *item.policies) for item in batch[:lost]]
        reason = stop_reason(outcomes, list(strengths), rule)
        if reason:
            break
    assert reason in {"mu_stable", "sigma", "spearman=0.99", "alike", "cap"}
    assert reason == stop_reason(outcomes[::-1], list(strengths), rule)
    longest_batch = 2 * 10
    assert matches_of(outcomes, "p0") < max_matches + longest_batch
    if reason != "cap":
        finished = [outcome for outcome in outcomes if outcome.status == FINISHED]
        assert min(matches_of(finished, name) for name in strengths) >= min_matches


def undercover(number, seat, name, status=FINISHED):
    seats = [("f", -1.0)] * 5
    seats[seat] = (name, 1.0)
    return match(number, *seats, status=status)


def test_count_rule_ignores_opponent_seats():
    rule = CountRule(matches=10, max_matches=30, opponent="f")
    numbers = itertools.count()
    outcomes = [undercover(next(numbers), seat % 5, "a") for seat in range(25)]
    assert stop_reason(outcomes, ["a", "f"], rule) is None  # f has only filled the table
    outcomes += [undercover(next(numbers), seat % 5, "f") for seat in range(10)]
    assert stop_reason(outcomes, ["a", "f"], rule) == "count"
    assert stop_reason(outcomes, ["a"], rule) == "count"


def test_count_rule_counts_scheduled_matches():
    rule = CountRule(matches=10, max_matches=30)
    outcomes = [match(number, ("a", 1.0), ("a", 1.0)) for number in range(5)]
    outcomes += [void(number, "a", "a") for number in range(5, 9)]  # the resumed run plays them
    assert stop_reason(outcomes, ["a"], rule) is None
    assert stop_reason([*outcomes, void(9, "a", "a")], ["a"], rule) == "count"
    assert stop_reason(outcomes, ["a"], CountRule(matches=10, max_matches=9)) == "cap"


def test_rule_invalid_numbers_are_refused():
    for wrong in ({"min_matches": 0}, {"window": 0}, {"max_matches": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            StopRule(**wrong)
    with pytest.raises(ValueError, match="matches"):
        CountRule(matches=0)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("founders", ["ab", "abd", "abdefg"])
def test_rule_ties_do_not_place_a_newcomer(founders):
    rule = StopRule(rule="spearman=0.95", min_matches=10, max_matches=1000, alike=0)
    for matches in range(10, 40):
        pairs = [*itertools.pairwise(founders), *((name, "c") for name in founders)]
        log = [
            one for index, pair in enumerate(pairs) for one in meetings(matches * index, *pair, None, matches=matches)
        ]
        assert not fold(log, "c", rule).reason(), matches


class Unknown:
    def expected_spearman(self):
        return 0.0


def looks_of(rule, batches, begun=0):
    """After how many results a rule looked at all of them, when it is asked after every batch from one on."""
    state, looks = rule.begin(["a", "b"]), []
    for count, batch in enumerate(batches, start=1):
        state.add(batch)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MatchEvidence, "posterior", lambda own: looks.append(own.results) or Unknown())
            if count > begun:
                state.reason()
    return looks


@pytest.mark.slow
def test_rule_looks_at_long_runs_more_rarely():
    rule = StopRule(rule="order", max_matches=10**6, alike=0)
    batches = [[duel(first + k, "a", "b", "ab"[k % 2]) for k in range(60)] for first in range(0, 60_000, 60)]
    looks = looks_of(rule, batches)
    assert looks[:98] == list(range(60, 98 * 60 + 1, 60))
    assert 0 < sum(30_000 < look <= 60_000 for look in looks) <= 70  # of 500 batches
    assert all(later - before <= before // 100 + 60 for before, later in itertools.pairwise(looks))
    assert looks_of(rule, batches, begun=600) == [look for look in looks if look > 600 * 60]


TIE, WIN = duel(0, "a", "b", None), duel(0, "a", "b", "a")
FORFEIT = replace(WIN, seats=(WIN.seats[0], replace(WIN.seats[1], forfeit="illegal")))
STAFF_FORFEIT = replace(WIN, seats=(*WIN.seats, replace(WIN.seats[1], forfeit="illegal", rated=False)))
LOST, UNDECIDED = void(0, "a", "b"), void(0, "a", "b", status="undecided")
WITH_ITSELF, ALONE = match(0, ("a", 0.5), ("a", 0.5)), match(0, ("a", 0.5))


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ([TIE], "every match tied (the first 30); no information"),
        ([FORFEIT], "every match forfeited (the first 30); no information"),
        ([LOST], "every match void (the first 30); no information"),
        (
            [FORFEIT, LOST, TIE, TIE, UNDECIDED],
            "no match decided by play (the first 30): 12 tied, 6 forfeited, 6 void, 6 without a result; no information",
        ),
        ([*[TIE] * 29, WIN], ""),
        ([*[FORFEIT] * 29, STAFF_FORFEIT], ""),
        ([WITH_ITSELF], ""),
        ([ALONE], ""),
    ],
)
def test_no_information_names_the_endings(kinds, said):
    log = [replace(kinds[number % len(kinds)], number=number) for number in range(30)]
    later = [replace(WIN, number=number) for number in range(30, 40)]
    assert no_information([*later, *log], 30, rivals=True) == said
    assert no_information(log, 30, rivals=False) == ("" if TIE in kinds else said)
