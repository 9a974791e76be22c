"""Settings of all tests."""

import signal
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.lacking import need
from tests.support.tiny_model import cached_tiny_model

pytest_plugins = ["tests.support.commands", "tests.support.postgres", "tests.support.stores"]

# The same examples in every run, and no limit of time: a busy machine is no failure.
settings.register_profile("reproducible", deadline=None, derandomize=True)
settings.load_profile("reproducible")


def pytest_configure() -> None:
    """Sets SIGINT as a shell in the foreground leaves it: a background job, and what tests start in it, would ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that use a tiny model, and the slow cases of a test with ``slow_except(count)``.

    All cases of it are slow except so many, spread over them.
    """
    for item in items:
        if isinstance(item, pytest.Function) and {"tiny_model", "tiny_qwen"} & set(item.fixturenames):
            item.add_marker(pytest.mark.needs("torch", "transformers"))
    tests = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow_except") and not item.get_closest_marker("slow"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        mark = cases[0].get_closest_marker("slow_except")
        assert mark is not None
        quick = {number * len(cases) // mark.args[0] for number in range(mark.args[0])}
        for index, case in enumerate(cases):
            if index not in quick:
                case.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test that needs libraries which are not installed."""
    for mark in item.iter_markers("needs"):
        for module in mark.args:
            need(module)


@pytest.fixture(scope="session")
def tiny_model(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a tiny language model, kept in pytest's cache from one session to the next."""
    return _tiny_model("llama", pytestconfig, tmp_path_factory)


@pytest.fixture(scope="session")
def tiny_qwen(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the architecture of Qwen 3."""
    return _tiny_model("qwen3", pytestconfig, tmp_path_factory)


def _tiny_model(architecture: str, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = getattr(pytestconfig, "cache", None)  # None with -p no:cacheprovider
    return cached_tiny_model(
        cache.mkdir("tiny_model") if cache else tmp_path_factory.mktemp("tiny_model"), architecture
    )
