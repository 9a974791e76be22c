"""Swiss tournaments as schedules: number of matches, pairings, and the inputs that they depend on."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest

from rating.schedules.batches import Contest, Stop
from rating.schedules.swiss import Swiss, TournamentRules, rounds_for
from rating.schemes.tournament import Tournament
from rating.store.records import BUG, UNDECIDED, VOID
from tests.rating.made_outcomes import Players, play_out
from tests.rating.made_schemes import made_setting

RATE = Tournament(made_setting()).current_ratings
STRENGTHS = {f"p{index:02}": 40.0 * index for index in range(18)}


def swiss(count, newcomers=0, *, seed=0, scores=None, **plan):
    policies = tuple(STRENGTHS)[: count + newcomers]
    contest = Contest("game_v0", policies, seed=seed)
    scores = scores or dict.fromkeys(policies, 0.0)
    plan = TournamentRules(prior=scores, newcomers=policies[count:], **plan)
    return Swiss(contest, plan, RATE, lambda pair, ranking: contest)


def pairs(batches):
    return [frozenset(seat.policy for seat in batch[0].seats) for batch in batches]


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("field", "newcomers", "pairings", "matches"),
    # Auto-Arena (arXiv 2405.20267v1, section 4.1): 7 and 9 models; 17 and 18 by adding newcomers singly.
    [
        (7, 0, 9, 360),
        (9, 0, 16, 640),
        (9, 8, 49, 1960),
        (9, 9, 54, 2160),
        (2, 0, 1, 40),
        (3, 0, 2, 80),
        (8, 1, 16, 640),
    ],
)
def test_swiss_plays_the_expected_pairings(field, newcomers, pairings, matches):
    batches, reason = play_out(swiss(field, newcomers), Players(STRENGTHS))
    assert (len(batches), sum(map(len, batches)), reason) == (pairings, matches, "rounds")
    assert [outcome.number for batch in batches for outcome in batch] == list(range(matches))
    met = pairs(batches)
    assert len(set(met)) == pairings  # no two policies meet twice


@pytest.mark.slow_except(3)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 8, 9, 12, 15, 18])
def test_swiss_rounds_have_at_most_one_bye(count):
    batches, _ = play_out(swiss(count, questions=2), Players(STRENGTHS, seed=count))
    size = count // 2
    byes = Counter()
    for first in range(0, len(batches), size):
        players = list(itertools.chain(*pairs(batches[first : first + size])))
        assert len(players) == len(set(players)) == 2 * size
        byes.update(set(list(STRENGTHS)[:count]) - set(players))
    assert byes.total() == (rounds_for(count) if count % 2 else 0)
    assert max(byes.values(), default=1) == 1


@pytest.mark.parametrize("questions", [1, 5])
def test_swiss_pairings_share_seats(questions):
    batches, _ = play_out(swiss(4, questions=questions), Players(STRENGTHS))
    for batch in batches:
        first = Counter(outcome.seats[0].policy for outcome in batch)
        assert max(first.values()) - min(first.values()) <= 1 or questions == 1
    seeds = [outcome.seed for batch in batches for outcome in batch]
    assert len(set(seeds)) == len(seeds)


def test_swiss_paired_questions_swap_seats():
    batches, _ = play_out(swiss(4, questions=3, paired=True), Players(STRENGTHS))
    for batch in batches:
        assert len(batch) == 6
        for one, other in zip(batch[::2], batch[1::2], strict=True):
            assert one.seed == other.seed
            assert [seat.policy for seat in one.seats] == [seat.policy for seat in other.seats][::-1]


def test_swiss_pairings_share_cases():
    contest = Contest("game_v0", tuple("abcd"), by_deal={"number": list(range(5))})
    plan = TournamentRules(questions=3)
    schedule = Swiss(contest, plan, lambda outcomes: {}, lambda pair, ranking: contest)
    for _ in range(4):
        assert [match.options["number"] for match in schedule.next_batch()] == [0, 1, 2]


def test_swiss_rounds_pair_similar_policies():
    schedule = swiss(4, scores={"p00": 9.0, "p01": 1.0, "p02": 8.0, "p03": 2.0}, questions=20)
    batches, _ = play_out(schedule, Players({"p00": 0.0, "p01": 900.0, "p02": 800.0, "p03": 100.0}))
    assert pairs(batches) == [
        frozenset(pair) for pair in (("p00", "p02"), ("p01", "p03"), ("p01", "p02"), ("p00", "p03"))
    ]


def test_swiss_round_is_fixed_when_it_begins():
    """In its second round the first pair's results change all ratings, not who else meets."""

    def second_round(winner):
        schedule, drawn = swiss(8, questions=4), []
        players = {
            True: Players(STRENGTHS, seed=1),
            False: Players({name: -value for name, value in STRENGTHS.items()}),
        }
        for number in range(8):
            batch = schedule.next_batch()
            drawn.append(set(batch[0].policies))
            schedule.add(players[number < 4 or winner].play(batch))
        return drawn[4:]

    assert second_round(True) == second_round(False)


def test_swiss_staff_follows_the_current_ranking():
    asked = []
    contest = Contest("game_v0", tuple("abcd"))

    def staffed(pair, ranking):
        asked.append((set(pair), list(ranking)))
        return replace(contest, staff={2: ranking[0]}, options={"n_judges": 1})

    plan = TournamentRules(prior={"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, questions=30)
    schedule = Swiss(contest, plan, RATE, staffed)
    batches, _ = [], schedule.next_batch
    players = Players({"a": -500.0, "b": 0.0, "c": 100.0, "d": 600.0})
    while not isinstance(batch := schedule.next_batch(), Stop):
        batches.append(batch)
        bare = [replace(match, policies=match.policies[:2]) for match in batch]
        schedule.add(players.play(bare))
    assert [ranking for _, ranking in asked[:2]] == [list("abcd")] * 2  # the first round knows the scores only
    assert asked[2][1] != list("abcd")
    assert asked[3][1][0] == "d"
    assert {match.policies[2] for match in batches[3]} == {"d"}
    assert batches[0][0].options == {"n_judges": 1}


@pytest.mark.parametrize(("status", "answer"), [(VOID, "void"), (BUG, "rounds"), (UNDECIDED, "rounds")])
def test_swiss_void_matches_block_the_next_pairing(status, answer):
    schedule = swiss(4, questions=3)
    for _ in range(4):
        batch = schedule.next_batch()
        if isinstance(batch, Stop):
            break
        outcomes = Players(STRENGTHS).play(batch)
        schedule.add([*outcomes[:2], replace(outcomes[2], status=status)])
    stop = schedule.next_batch()
    assert stop == Stop(answer)


def test_swiss_newcomer_meets_its_nearest():
    scores = {"p00": 0.0, "p01": 10.0, "p02": 20.0, "p03": 30.0, "p04": 11.0}
    strengths = {"p00": 0.0, "p01": 150.0, "p02": 300.0, "p03": 450.0, "p04": 1500.0}
    batches, _ = play_out(swiss(4, 1, scores=scores), Players(strengths))
    placed = pairs(batches)[4:]
    assert placed[0] == {"p04", "p01"}  # the most similar score, although it is far stronger
    assert placed[1:] == [{"p04", "p03"}, {"p04", "p02"}]


def test_swiss_labels_do_not_affect_matches():
    drawn = []
    for environment in ("game_v0", "game_v0#one", "game_v0#two"):
        contest = Contest(environment, ("a", "b"), seed=3)
        plan = TournamentRules()
        batch = Swiss(contest, plan, lambda outcomes: {}, lambda pair, ranking, contest=contest: contest).next_batch()
        drawn.append([(match.seed, match.policies) for match in batch])
    assert drawn[0] == drawn[1] == drawn[2]
    assert len({policies for _, policies in drawn[0]}) == 2
