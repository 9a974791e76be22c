"""People play in a real browser: every environment to its end, with and without scripts, by keyboard, over lost connections."""

import pytest

from llmarena_envs.catalogue import CATALOGUE
from tests.browser.conftest import PATIENCE, Command

ANSWERS = {
    "bargain_v0": "player_0: 1 hats 0 balls 0 apples",
    "undercover_v0": "player_0: something round",
    "idiom_solitaire_v0": "player_0: 一心一意",
    "writer_editor_v0": "```python\ndef solution(): return 0\n```",
    "debate_v0": "<respond>yes</respond><criticize>no</criticize><raise>why?</raise>",
    "simulation_v0": "42",
}


def give(page, answer):
    """Answers what is asked: by a button, from a list, or by typing."""
    question = page.locator("#typed input[name=question]").input_value()
    if page.locator("#moves button[name=reply]").count():
        page.locator("#moves button[name=reply]").first.click()
    elif page.locator("#listed").count():
        page.get_by_role("button", name="Send the chosen move").click()
    else:
        page.get_by_label("Your reply").fill(answer)
        page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_function(
        "name => document.querySelector('#typed input[name=question]')?.value !== name",
        arg=question,
        timeout=PATIENCE * 1000,
    )


def finish(page, answer, turns=60):
    """Answers until the match is over."""
    for _ in range(turns):
        page.wait_for_function(
            "document.querySelector('#typed') || /over/.test(document.querySelector('#state').textContent)",
            timeout=PATIENCE * 1000,
        )
        if not page.locator("#typed").count():
            return
        give(page, answer)
    raise AssertionError(f"not over after {turns} turns: {page.inner_text('#live')[-2000:]}")


@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
def test_every_environment_is_played_to_its_end_recorded_verified_and_rated(browser, tmp_path, name):
    command = Command("play", name, "--web", "--port", "0", "--out", str(tmp_path / "run"))
    [address] = command.addresses()
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(address)
    finish(page, ANSWERS.get(name, ""))
    page.locator("#state", has_text="The run has ended").wait_for()
    assert command.end() == 0
    page.close()
    assert errors == []
    assert "(human)" in command.output.getvalue()
    assert Command("replay", str(tmp_path / "run"), "--verify").end() == 0
    assert Command("rate", str(tmp_path / "run")).end() == 0
