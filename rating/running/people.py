"""Which of the names in a run are persons: what they said may be private, and they were asked until they made a legal move."""

from agents.registry import split_spec
from rating.records.store import Store
from rating.running import run_directory
from rating.running.run_file import PERSON, RunConfig


def people(config: RunConfig, store: Store) -> frozenset[str]:
    """Returns the names of all persons who have ever played or served, also of those whom the run file names no more.

    Args:
        config: the run.
        store: what was recorded of it.

    Raises:
        RunError: if the record does not say who played.
    """
    specs = {name: player["spec"] for name, player in run_directory.players(store).items()}
    for item in config.environment:
        specs |= {name: config.find_policy(name).spec for name in config.seated(item.name)}
    found = {name for name, spec in specs.items() if split_spec(spec)[0] == PERSON}
    return frozenset({PERSON, *found, *run_directory.recorded_people(store)})
