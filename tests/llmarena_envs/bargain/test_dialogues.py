"""The golden dialogues come out again, byte for byte."""

import pytest

from tests.llmarena_envs.bargain.dialogues import DIALOGUES, FOLDER, dialogue


@pytest.mark.parametrize("file", DIALOGUES)
def test_dialogue(file):
    assert dialogue(file).encode() == (FOLDER / file).read_bytes(), (
        f"{file} has changed; if that was meant: python -m tests.llmarena_envs.bargain.dialogues"
    )
