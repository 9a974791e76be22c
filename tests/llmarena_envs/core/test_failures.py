import pickle

from llmarena_envs.core.failures import Failure, InvalidReply


def test_invalid_replies_carry_kind_and_message_through_pickle() -> None:
    error = InvalidReply(Failure.ILLEGAL, "column 3 is full")
    twin = pickle.loads(pickle.dumps(error))
    assert (twin.kind, twin.message, str(twin)) == (Failure.ILLEGAL, "column 3 is full", "column 3 is full")
    assert isinstance(twin, ValueError)


def test_failure_numbers_are_recorded_and_fixed() -> None:
    assert {failure.name: int(failure) for failure in Failure} == {
        "OK": 0,
        "TRUNCATED": 1,
        "EMPTY": 2,
        "REFUSAL": 3,
        "UNPARSABLE": 4,
        "ILLEGAL": 5,
        "PROVIDER": 6,
        "ENVIRONMENT_BUG": 7,
        "JUDGE_FAILED": 8,
    }
