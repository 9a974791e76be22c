"""The digest of play is the same wherever a run is played; the seal is not."""

from contextlib import closing

from rating.play import run_directory
from tests.rating.runs import play_run, run_file

STOP = "min_matches = 10\nmax_matches = 10"
RUN = run_file("tictactoe_v0", "bid_v0", policies=("random", "first_legal"), seed=9, stop=STOP)


def played(directory, workers):
    with closing(run_directory.open_store(play_run(directory, RUN.replace("workers = 1", workers)))) as store:
        assert store.check() == []
        return (store.digest(), store.sealed), [record.digest for record in store.records()]


def test_digest_does_not_depend_on_workers(tmp_path):
    (first, first_seal), one = played(tmp_path / "one", "workers = 1")
    (second, second_seal), two = played(tmp_path / "two", 'executor = "process"\nworkers = 2')
    assert (first, one) == (second, two)
    assert first_seal != second_seal
    assert len({*one}) == len(one) >= 20
    assert {len(digest) for digest in one} == {64}
