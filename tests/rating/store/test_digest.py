"""The digest of play is the same wherever a run is played; the seal is not."""

import asyncio
from contextlib import closing

from rating.play import run_directory
from rating.play.runner import Runner

RUN = """
seed = 9
[stop]
min_matches = 10
max_matches = 10
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "bid_v0"
[[policy]]
spec = "random"
[[policy]]
spec = "first_legal"
"""


def played(directory, settings):
    run, store = run_directory.create(directory, settings + RUN, "run.toml")
    with closing(store):
        asyncio.run(Runner(run, store).run())
        hashes = store.digest(), store.seal()
        assert store.check() == []
        return hashes, [record.digest for record in store.records()]


def test_digest_does_not_depend_on_workers(tmp_path):
    (first, first_seal), one = played(tmp_path / "one", "workers = 1")
    (second, second_seal), two = played(tmp_path / "two", 'executor = "process"\nworkers = 2')
    assert (first, one) == (second, two)
    assert first_seal != second_seal
    assert len({*one}) == len(one) >= 20
    assert {len(digest) for digest in one} == {64}
