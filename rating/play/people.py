"""The people in a run: their messages can be private, and they are asked until they make a legal move."""

from agents.registry import split_spec
from rating.config.run_file import PERSON, RunConfig
from rating.play import run_directory
from rating.store.store import Store


def people(config: RunConfig, store: Store) -> frozenset[str]:
    """Returns the names of all people who ever played or served, including those removed from the run file.

    Args:
        config: the run.
        store: its store.

    Raises:
        RunError: if the players were not recorded.
    """
    specs = {name: player["spec"] for name, player in run_directory.players(store).items()}
    for item in config.environment:
        specs |= {name: config.find_policy(name).spec for name in config.seated(item.name)}
    found = {name for name, spec in specs.items() if split_spec(spec)[0] == PERSON}
    return frozenset({PERSON, *found, *run_directory.recorded_people(store)})
