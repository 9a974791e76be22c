"""The page on training, run as it stands; the blocks of other libraries run with their libraries, in ``tests/integrations``."""

import contextlib
import io

import pytest

from tests.docs.pages import code_blocks

BLOCKS = {block.title: block.text for block in code_blocks("training.md") if block.title}


@pytest.mark.parametrize("script", ["match.py", "rows.py"])
def test_a_script_prints_what_the_page_says(script: str) -> None:
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        exec(compile(BLOCKS[script], script, "exec"), {})
    assert screen.getvalue() == BLOCKS[f"output of {script}"]
