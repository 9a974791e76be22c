"""Pictures of auctions."""

from llmarena_envs import bid_v0
from tests.support.pictures import height, replies, shown, texts_outside


def auctions(*bids, **options):
    env = bid_v0.raw_env(**{"rounds": 3, "values": [[1, 7], [4.05, 6], [9, 3.33]], **options})
    env.reset(seed=0)
    for bid in bids:
        env.step(bid)
    return env


def test_bidder_sees_its_valuation_and_past_results():
    picture = auctions(50, 300).draw("player_0")
    text = shown(picture)
    assert "valuation $4.05" in text and "$0.50 of $1.00" in text and "player_1" in text and "$3.00" in text
    assert "$7.00" not in text and "$6.00" not in text
    assert not replies(picture)


def test_a_losing_bid_stays_secret():
    text = shown(auctions(50, 300).draw("player_1"))
    assert "$3.00 of $7.00" in text and "$4.00" in text  # the bid, and the earnings
    assert "$0.50" not in text and "$1.00" not in text


def test_a_spectator_sees_all_but_the_rounds_to_come():
    text = shown(auctions(50, 300).draw())
    assert "$0.50 of $1.00" in text and "$3.00 of $7.00, wins" in text and "valuation $6.00" in text
    assert "$9.00" not in text


def test_twenty_bidders_and_many_rounds_find_room():
    env = bid_v0.raw_env(n_bidders=20, rounds=100, v_max=10_000_000, grid=1000, language="zh")
    env.reset(seed=1)
    for _ in range(20 * 100):
        env.step(0)
    pictures = [env.draw(), env.draw("player_19")]
    for picture in pictures:
        assert height(picture) <= 1200 and len(picture) < 100_000
        assert not texts_outside(picture)
    assert "之前还有 80 条" in shown(pictures[1])


def test_winner_is_drawn_with_the_largest_amounts_too():
    env = bid_v0.raw_env(rounds=2, values=[[10_000_000, 10_000_000]] * 2, v_max=10_000_000, grid=1000)
    env.reset(seed=0)
    for _ in range(2):
        env.step(9_999)
    assert "$9999000.00 of $10000000.00, wins" in shown(env.draw())
