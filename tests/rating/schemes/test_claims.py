import pytest

from rating.schemes.caveats import claims
from rating.schemes.leaderboard import Ranks

EACH = "Established with 95 % confidence, all pairs together"
UNKNOWN = " with 95 % confidence."


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([(1, 1)], ""),
        ([(1, 1), (2, 2), (3, 3)], f"{EACH}: a above b above c."),
        ([(1, 3), (1, 3), (1, 3)], f"These data do not tell any two of the 3 policies apart{UNKNOWN}"),
        ([(1, 2), (1, 2)], f"These data do not tell the two policies apart{UNKNOWN}"),
        (
            [(1, 2), (1, 2), (3, 3), (4, 5), (4, 5)],
            f"{EACH}: ranks 1-2 above c above ranks 4-5. Not established: the order of ranks 1-2 and of ranks 4-5.",
        ),
        (
            [(1, 2), (1, 3), (2, 3)],
            f"{EACH}: a is above 1 of the 2 others. Not established: the order as a whole.",
        ),
        # a is above d, and c above e and f, but nobody who comes first is above all that come after.
        (
            [(1, 5), (1, 6), (1, 4), (2, 6), (2, 6), (2, 6)],
            f"{EACH}: a is above 1 of the 5 others. Not established: the order as a whole.",
        ),
    ],
)
def test_claims_name_what_ranks_establish(ranks, expected):
    assert claims([(name, Ranks(*own)) for name, own in zip("abcdef", ranks, strict=False)]) == expected
