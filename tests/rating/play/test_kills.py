"""``kill -9`` of any process at moments all over a run: once resumed, the run equals an undisturbed one."""

import json

import pytest

from rating.cli import main
from tests.support.killed import SetUp, check_killed, left_alone
from tests.support.postgres import postgres_server  # noqa: F401 (a fixture)

SET_UPS = {
    "sqlite+asyncio": SetUp("asyncio", False, ("client",)),
    "sqlite+process": SetUp("process", False, ("pool", "client", "pool", "pool")),
    "postgres+asyncio": SetUp("asyncio", True, ("client", "store", "client")),
}
MOMENTS = 6


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with left_alone(tmp_path_factory.mktemp("whole")) as played:
        yield played


def leaderboards(capsys, directory):
    """Returns the records without costs, which count calls in flight during a kill twice."""
    assert main(["rate", str(directory), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return json.dumps([found["leaderboards"], found["summary"]])


@pytest.mark.slow
@pytest.mark.timeout(360)
@pytest.mark.parametrize("name", SET_UPS)
def test_killed_and_resumed_run_equals_undisturbed_run(request, capsys, tmp_path, whole, name):
    set_up = SET_UPS[name]
    server = request.getfixturevalue("postgres_server") if set_up.on_server else None
    check_killed(set_up, MOMENTS, tmp_path / "run", whole, server, seed=name)
    assert leaderboards(capsys, tmp_path / "run") == leaderboards(capsys, whole.directory)
