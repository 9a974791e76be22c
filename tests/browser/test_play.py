"""People play in a real browser: every environment to its end, with and without scripts, by keyboard, over lost connections."""

import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from llmarena_envs.catalogue import CATALOGUE
from tests.browser.conftest import PATIENCE, Command
from tests.browser.hostile_debater import MARKUP

ANSWERS = {
    "bargain_v0": "player_0: 1 hats 0 balls 0 apples",
    "undercover_v0": "player_0: something round",
    "idiom_solitaire_v0": "player_0: 一心一意",
    "writer_editor_v0": "```python\ndef solution(): return 0\n```",
    "debate_v0": "<respond>yes</respond><criticize>no</criticize><raise>why?</raise>",
    "simulation_v0": "42",
}


def wait_for(page, state):
    """Waits until a page says so of its match."""
    page.locator("#state", has_text=state).wait_for(timeout=PATIENCE * 1000)


def wait_for_question(page, name):
    """Waits until a page asks a question."""
    page.locator(f"#typed input[name=question][value='{name}']").wait_for(state="attached", timeout=PATIENCE * 1000)


def give(page, answer):
    """Answers a request: by a button, from a list, or by typing."""
    question = page.locator("#typed input[name=question]").input_value()
    if page.locator("#moves button[name=reply]").count():
        page.locator("#moves button[name=reply]").first.click()
    elif page.locator("#listed").count():
        page.get_by_role("button", name="Send the chosen move").click()
    else:
        if not page.get_by_label("Your reply").is_visible():
            page.get_by_text("Write the reply as a model would").click()
        page.get_by_label("Your reply").fill(answer)
        page.locator("#typed").get_by_role("button", name="Send", exact=True).click()
    page.wait_for_function(
        "name => document.querySelector('#typed input[name=question]')?.value !== name",
        arg=question,
        timeout=PATIENCE * 1000,
    )


def stop(page):
    """Stops at the end of a match, if another one is offered."""
    page.locator("#end button[value=stop], #state:has-text('ended')").first.wait_for(timeout=PATIENCE * 1000)
    if page.locator("#end button[value=stop]").count():
        page.locator("#end button[value=stop]").click()


def finish(page, answer, turns=60):
    """Answers until the match is over, and stops."""
    for _ in range(turns):
        page.locator("#typing form, #state:has-text('over')").first.wait_for(timeout=PATIENCE * 1000)
        if "over" in page.inner_text("#state"):
            stop(page)
            return
        give(page, answer)
    raise AssertionError(f"not over after {turns} turns: {page.inner_text('#live')[-2000:]}")


@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
def test_every_environment_is_played_recorded_verified_and_rated(browser, tmp_path, name):
    command = Command("play", name, "--web", "--port", "0", "--out", str(tmp_path / "run"))
    [address] = command.addresses()
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(address)
    finish(page, ANSWERS.get(name, ""))
    wait_for(page, "The run has ended")
    assert command.end() == 0
    page.close()
    assert errors == []
    assert "You (" in command.output.getvalue()
    assert Command("replay", str(tmp_path / "run"), "--verify").end() == 0
    assert Command("rate", str(tmp_path / "run")).end() == 0


def two_people(browser, tmp_path):
    """Starts a match of tic-tac-toe between two people; returns the command and the page of each."""
    seats = ("--policy", "player_0=human", "--policy", "player_1=human")
    command = Command("play", "tictactoe_v0", *seats, "--web", "--port", "0", "--out", str(tmp_path / "run"))
    pages = [browser.new_context().new_page() for _ in range(2)]
    for page, address in zip(pages, command.addresses(2), strict=True):
        page.goto(address)
    return command, pages


def test_two_people_see_each_other_move_in_two_browsers(browser, tmp_path):
    command, pages = two_people(browser, tmp_path)
    first, second = pages
    wait_for(first, "It is your move")
    wait_for(second, "human (player_0) is to move")
    first.locator("svg").wait_for()
    for turn in range(9):
        page, other = pages[turn % 2], pages[1 - turn % 2]
        wait_for(page, "It is your move")
        before = other.inner_text("#text")
        page.locator("#moves button[name=reply]").nth(-1 if turn % 2 else 0).click()
        other.wait_for_function("before => document.querySelector('#text').innerText !== before", arg=before)
        if "over" in page.inner_text("#state"):
            break
    stop(first)
    for page in pages:
        wait_for(page, "The run has ended")
    assert command.end() == 0
    assert "human (player_0): " in command.output.getvalue()


@pytest.mark.parametrize("scripts", [True, False])
def test_parts_of_a_reply_are_filled_in_and_kept_while_typed(browser, tmp_path, scripts):
    command = Command("play", "debate_v0", "--web", "--port", "0", "--out", str(tmp_path / "run"))
    page = browser.new_context(java_script_enabled=scripts).new_page()
    page.goto(command.addresses()[0])
    page.locator("#parts").wait_for()
    fields = page.locator("#parts textarea")
    labels = page.locator("#parts label").all_inner_texts()
    assert labels[0].startswith("Thoughts") and len(labels) == fields.count() > 1
    assert not page.get_by_label("Your reply").is_visible()
    fields.nth(0).fill("a plan")
    page.get_by_role("button", name="Send", exact=True).first.click()  # the required parts are missing
    page.locator(".refused", has_text="is missing").wait_for()
    for number in range(1, fields.count()):
        fields.nth(number).fill(f"a whale </respond><raise> {number}")
    page.get_by_role("button", name="Send", exact=True).first.click()
    wait_for_question(page, "2.0")
    assert page.locator(".refused").all_inner_texts() == []
    for _ in range(10):
        page.locator("#typing form, #end button").first.wait_for()
        if page.locator("#end button").count():
            break
        question = page.locator("#typed input[name=question]").input_value()
        for field in fields.all():
            field.fill("more")
        page.get_by_role("button", name="Send", exact=True).first.click()
        page.locator(f"#typed input[value='{question}']").wait_for(state="detached")
    stop(page)
    wait_for(page, "The run has ended")
    assert command.end() == 0


def test_another_match_is_started_on_all_pages(browser, tmp_path):
    command, pages = two_people(browser, tmp_path)
    for number in range(2):
        for turn in range(7):
            wait_for(pages[turn % 2], "It is your move")
            give(pages[turn % 2], "")
        wait_for(pages[0], "You (player_0) won.")
        wait_for(pages[1], "human (player_0) won.")
        assert pages[0].locator(".results tr").all_inner_texts() == ["You (player_0)\t+1", "human (player_1)\t-1"]
        pages[1].get_by_role("button", name="Stop" if number else "Play again").click()
    for page in pages:
        wait_for(page, "The run has ended")
    assert command.end() == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run-2"]


def test_a_match_is_played_without_scripts(browser, tmp_path):
    command = Command(
        "play", "connect_four_v0", "--option", "language=zh", "--web", "--port", "0", "--out", str(tmp_path / "run")
    )
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(command.addresses()[0])
    page.get_by_label("Your reply").fill("nothing of use")
    page.get_by_role("button", name="Send", exact=True).click()
    assert page.locator(".refused").get_attribute("lang") == "zh"
    for _ in range(60):
        page.locator("#typing form, #state:has-text('over')").first.wait_for()
        if "over" in page.inner_text("#state"):
            break
        page.locator("#moves button[name=reply]").first.click()
    stop(page)
    wait_for(page, "The run has ended")  # the page asks again by itself until it has
    assert command.end() == 0


def test_a_match_is_played_by_keyboard_and_the_focus_stays(browser, tmp_path):
    command = Command("play", "tictactoe_v0", "--web", "--port", "0", "--out", str(tmp_path / "run"))
    page = browser.new_page()
    page.goto(command.addresses()[0])
    wait_for(page, "It is your move")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "reply":
            break
    for _ in range(5):
        question = page.locator("#typed input[name=question]").input_value()
        assert page.evaluate("document.activeElement.closest('#moves') !== null")
        page.keyboard.press("Enter")
        page.wait_for_function(
            "name => document.querySelector('#typed input[name=question]')?.value !== name && !document.hidden",
            arg=question,
        )
        page.locator("#typing form, #state:has-text('over')").first.wait_for()
        if "over" in page.inner_text("#state"):
            break
        page.wait_for_function("() => document.activeElement.closest('#moves')")
    assert page.evaluate("document.activeElement.id") == "state"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Stop"
    page.keyboard.press("Enter")
    wait_for(page, "The run has ended")
    assert "over" in page.inner_text("#announcement")
    assert command.end() == 0


def test_click_in_picture_moves_and_keeps_typed_text(browser, tmp_path):
    command = Command("play", "connect_four_v0", "--web", "--port", "0", "--out", str(tmp_path / "run"))
    page = browser.new_page()
    page.goto(command.addresses()[0])
    page.get_by_label("Your reply").fill("a thought of mine")
    page.locator("svg [data-reply]").nth(3).click()
    wait_for_question(page, "2.0")
    assert "4, " in page.inner_text("#text")
    assert page.get_by_label("Your reply").input_value() == "a thought of mine"
    finish(page, "")
    assert command.end() == 0


def test_a_double_click_is_one_move(browser, tmp_path):
    command = Command("play", "connect_four_v0", "--web", "--port", "0", "--out", str(tmp_path / "run"))
    page = browser.new_page()
    page.goto(command.addresses()[0])
    for number, control in enumerate(("svg [data-reply]", "#moves button"), start=2):
        box = page.locator(control).nth(3).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for count in (1, 2):  # the second comes with the request for the next move
            page.mouse.down(click_count=count)
            page.mouse.up(click_count=count)
            wait_for_question(page, f"{number}.0")
    finish(page, "")
    assert command.end() == 0


def test_hidden_pages_free_connections(browser, tmp_path):
    command = Command("play", "connect_four_v0", "--web", "--port", "0", "--out", str(tmp_path / "run"))
    [address] = command.addresses()
    context = browser.new_context()
    for _ in range(6):  # as many connections as a browser has to one server
        page = context.new_page()
        page.add_init_script("Object.defineProperty(Document.prototype, 'hidden', {get: () => true})")
        page.goto(address)
    seen = context.new_page()
    seen.goto(address)
    give(seen, "")
    wait_for_question(page, "2.0")  # it asks now and then
    finish(seen, "")
    assert command.end() == 0


def test_two_tabs_of_a_person_follow_each_other_and_lose_no_words(browser, tmp_path):
    command = Command("play", "connect_four_v0", "--web", "--port", "0", "--out", str(tmp_path / "run"))
    context = browser.new_context()
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(command.addresses()[0])
        wait_for_question(page, "1.0")
    second.get_by_label("Your reply").fill("half a thou")
    give(first, "")
    wait_for_question(second, "2.0")
    assert second.get_by_label("Your reply").input_value() == "half a thou"
    question = "document.querySelector('#typed input[name=question]')"
    second.evaluate(f"() => {{ {question}.value = '1.0'; }}")  # as if the page had not heard of it yet
    second.get_by_role("button", name="Send", exact=True).click()
    second.locator(".refused", has_text="was not sent").wait_for()
    assert second.get_by_label("Your reply").input_value() == "half a thou"
    finish(second, "")
    wait_for(first, "The run has ended")
    assert command.end() == 0


def test_hostile_words_of_others_stay_words(browser, tmp_path):
    hostile = ("--policy", "debater_1=tests.browser.hostile_debater:debater")
    command = Command("play", "debate_v0", *hostile, "--web", "--port", "0", "--out", str(tmp_path / "run"))
    page = browser.new_page()
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(command.addresses()[0])
    read = ""
    for _ in range(10):
        page.locator("#typing form, #state:has-text('over')").first.wait_for()
        read += page.inner_text("#text")
        assert page.locator("img, iframe, #live script, [onerror], svg image, svg script, svg a").count() == 0
        if "over" in page.inner_text("#state"):
            break
        give(page, ANSWERS["debate_v0"])
    assert MARKUP.splitlines()[0] in read
    assert dialogs == []
    stop(page)
    wait_for(page, "The run has ended")
    assert command.end() == 0


def test_reply_is_kept_without_a_connection(browser, tmp_path):
    command = Command("play", "connect_four_v0", "--web", "--port", "0", "--out", str(tmp_path / "run"))
    context = browser.new_context()
    page = context.new_page()
    page.goto(command.addresses()[0])
    wait_for(page, "It is your move")
    context.set_offline(True)
    page.get_by_label("Your reply").fill("X: 4")
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator("#connection", has_text="Your reply was not sent").wait_for()
    assert page.get_by_label("Your reply").input_value() == "X: 4"
    context.set_offline(False)
    page.locator("#connection").wait_for(state="hidden")
    page.get_by_role("button", name="Send", exact=True).click()
    wait_for_question(page, "2.0")
    assert page.get_by_label("Your reply").input_value() == ""
    finish(page, "")
    assert command.end() == 0


@contextmanager
def started(*arguments):
    """Starts a command in its own process; yields the process and the address of the player's page."""
    command = [sys.executable, "-m", "rating.cli", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process, process.stdout.readline().rpartition(" plays at ")[2].strip()
        finally:
            process.kill()


def test_match_continues_after_server_kill_and_restart(browser, tmp_path):
    run, page = str(tmp_path / "run"), browser.new_page()
    with started("play", "connect_four_v0", "--web", "--port", "0", "--out", run) as (process, address):
        page.goto(address)
        give(page, "")
        wait_for_question(page, "2.0")
        text = page.inner_text("#text")
        process.kill()
        process.wait()
    page.locator("#connection", has_text="no connection").wait_for()
    page.get_by_label("Your reply").fill("X: 4")
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator("#connection", has_text="Your reply was not sent").wait_for()
    with started("resume", run, "--web", "--port", str(urlsplit(address).port)) as (process, again):
        assert again == address
        page.locator("#connection").wait_for(state="hidden", timeout=PATIENCE * 1000)
        wait_for(page, "It is your move")
        assert page.inner_text("#text") == text
        assert page.get_by_label("Your reply").input_value() == "X: 4"
        page.get_by_role("button", name="Send", exact=True).click()
        wait_for_question(page, "3.0")
        assert page.inner_text("#text").count("X") > text.count("X")
        finish(page, "")
        wait_for(page, "The run has ended")
        assert process.wait(PATIENCE) == 0
    assert Command("replay", run, "--verify").end() == 0


RUN = """
seed = 5
executor = "asyncio"
[stop]
matches = 2
[[environment]]
name = "bid_v0"
[[policy]]
name = "Ada"
spec = "human"
[[policy]]
name = "Grace"
spec = "human"
[[policy]]
spec = "half"
"""


def test_people_in_a_tournament_go_from_match_to_match(browser, tmp_path):
    (tmp_path / "people.toml").write_text(RUN)
    command = Command("run", str(tmp_path / "people.toml"), "--web", "--port", "0", "--out", str(tmp_path / "run"))
    ada, grace = (browser.new_context().new_page() for _ in range(2))
    for page, home in zip((ada, grace), command.addresses(2), strict=True):
        page.goto(home)
    moves = 0
    for page in (ada, grace, ada):  # in some matches one of them moves when the other has moved
        page.locator("li:has-text('your move'), #state:has-text('ended')").first.wait_for()
        hers = page.locator("li", has_text="your move").get_by_role("link")
        while hers.count():
            hers.first.click()
            page.get_by_role("button", name="Send the chosen move").click()
            page.locator("#listed").wait_for(state="detached")
            page.get_by_role("link", name="all your matches").click()
            page.get_by_role("heading", name="Matches of").wait_for()
            moves += 1
    for page in (ada, grace):
        wait_for(page, "The run has ended")
    assert command.end() == 0
    assert moves >= 2 * 2 and "Ada" in command.output.getvalue()


CONTROLS = """() => [...document.querySelectorAll('a, button, select, textarea, summary, [tabindex]')]
  .filter(each => each.checkVisibility() && !each.matches('.skip'))
  .map(each => ({name: (each.labels?.[0]?.textContent || each.ariaLabel || each.textContent).trim(),
                 height: each.getBoundingClientRect().height, tag: each.tagName}))"""
"""What can be used in a page, with the name that a screen reader says."""

CONTRASTS = """() => {
  const part = value => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
  const light = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(value => part(value / 255))
    .reduce((sum, value, index) => sum + value * [.2126, .7152, .0722][index], 0);
  const ground = each => {
    for (; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...document.querySelectorAll('h1, p, pre, a, label, button, summary, legend, select')]
    .filter(each => each.checkVisibility()).map(each => {
      const [above, below] = [light(getComputedStyle(each).color), light(ground(each))].sort((a, b) => b - a);
      return [each.tagName, (above + .05) / (below + .05)];
    });
}"""
"""Contrast of each text with its background (WCAG 2.2, 1.4.3)."""


@pytest.mark.parametrize("name", ["connect_four_v0", "bid_v0"])
def test_pages_suit_screen_readers_and_phones(browser, tmp_path, name):
    command = Command("play", name, "--option", "language=zh", "--web", "--port", "0", "--out", str(tmp_path / "run"))
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(command.addresses()[0])
    wait_for(page, "It is your move")
    controls = page.evaluate(CONTROLS)
    assert [control for control in controls if not control["name"]] == []
    assert [
        control for control in controls if control["tag"] in ("BUTTON", "SELECT", "SUMMARY") and control["height"] < 44
    ] == []
    assert [pair for pair in page.evaluate(CONTRASTS) if pair[1] < 4.5] == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    # A picture with much text scrolls within its figure, others are made as small as the screen.
    width = page.locator("#picture svg").bounding_box()["width"]
    assert width > 600 if name == "bid_v0" else width < 390
    assert page.locator("h1").count() == page.locator("main").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("#text pre").get_attribute("lang") == page.locator("#picture").get_attribute("lang") == "zh"
    assert page.locator("[role=status][aria-live=polite]").count() == 1
    assert page.locator("svg[role=img] > title").count() == 1
    finish(page, "")
    assert command.end() == 0
