"""The list of matches of a report and the view of one, in a real browser: of a run with every kind of bad reply."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, replace

import pytest
from playwright.sync_api import expect

from benchmarks.performance import report_page
from rating.play import run_directory
from rating.play.runner import Runner
from rating.store.export import record_table
from rating.viewer.report.contents import EMPTY
from rating.viewer.report.page import write_page
from rating.viewer.report.replays import Replays
from rating.viewer.report.write import write_report
from tests.browser.conftest import CHROMIUM
from tests.support.fault_server import HTTP_500, OK, fault_server

RUN = """
seed = 1
workers = 1
concurrency = 1
tries = 1
max_errors = 1000
[stop]
matches = 12
max_matches = 12
[turns]
illegal = "random_legal"
reasks = 1
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "connect_four_v0"
[[policy]]
name = "model <i>one</i>"
spec = "openai:m1"
options = { base_url = "URL", history = "full", timeout = 5.0, extra = { top_p = 0.5 } }
[[policy]]
name = "model two"
spec = "openai:m2"
options = { base_url = "URL", history = "updates", rejected = "drop", system_role = "user" }
[[policy]]
spec = "random"
[[policy]]
name = "broken"
spec = "tests.rating.players:raises"
[[price]]
model = "m1"
input = 1000
output = 10000
"""

MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202e"
REPLIES = ["I give up", "", f"X: (2, 2) {MARKUP}", "X: (9, 9)", "O: (1, 3)", "X: (1, 1)", "column 4", "O: (2, 2)", "hm"]
FAULTS = {5: replace(OK, finish_reason="length"), 8: replace(OK, finish_reason="content_filter"), 11: HTTP_500}
PERIOD = 13


@pytest.fixture(scope="module")
def run(tmp_path_factory, monkeypatch_module):
    """The records of a run as tables, the address of its report, the messages that its server received, and the directory."""
    folder = tmp_path_factory.mktemp("matches")
    received = []

    def plan(request):
        received.append(request.body["messages"])
        return FAULTS.get(request.number % PERIOD, OK)

    server = fault_server(plan, reply=lambda request: REPLIES[request.number % len(REPLIES)])
    with server as running, ThreadPoolExecutor(1) as thread:  # the browser has a loop in this one
        records = thread.submit(play, folder / "run", RUN.replace("URL", running.url)).result()
    report = write_report(folder / "run", folder / "report.html")
    return (
        [json.loads(json.dumps(record_table(record))) for record in records],
        report.as_uri(),
        received,
        folder / "run",
    )


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-nobody")
        yield patch


def play(directory, run_file):
    run, store = run_directory.create(directory, run_file, "run.toml")
    with closing(store):
        asyncio.run(Runner(run, store).run())
        return list(store.records())


@pytest.fixture(scope="module")
def tab(browser):
    """A page of the browser, and what went wrong in it."""
    with browser.new_page() as page:
        failures = []
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("dialog", lambda dialog: failures.append(dialog.message))
        yield page, failures


@pytest.fixture
def page(tab, run):
    page, failures = tab
    page.goto("about:blank")
    page.goto(f"{run[1]}#matches")
    page.locator("#list a").first.wait_for()
    yield page
    assert failures == []


def listed(page):
    """Returns the ids in the list."""
    return page.locator("#list tbody td:last-child").all_inner_texts()


def ids(records, holds=lambda record: True):
    return [record["id"] for record in records if holds(record)]


def kinds(record):
    return [attempt["kind"] for turn in record["turns"] for attempt in turn["attempts"]]


def seated(*names):
    return lambda record: set(names) <= set(record["match"]["policies"])


FILTERS = {
    "environment": (
        "environment",
        "connect_four_v0",
        lambda record: record["match"]["environment"] == "connect_four_v0",
    ),
    "policy": ("policy", "random", seated("random")),
    "void": ("result", "void", lambda record: record["status"] == "void"),
    "bad": ("replies", "bad", lambda record: any(kinds(record))),
    **{
        name: ("replies", name, lambda record, kind=kind: kind in kinds(record))
        for kind, name in enumerate(("truncated", "empty", "refusal", "unparsable", "illegal"), start=1)
    },
    "provider": ("replies", "provider error", lambda record: record["status"] == "void"),
    "again": ("replies", "asked again", lambda record: any(len(turn["attempts"]) > 1 for turn in record["turns"])),
    "fallback": ("replies", "fallback", lambda record: any(turn["fallback"] for turn in record["turns"])),
}


def test_a_filter_leaves_the_matches_that_it_names(page, run):
    for control, value, holds in FILTERS.values():
        page.locator(f"#{control}").select_option(value)
        wanted = ids(run[0], holds)
        assert 0 < len(wanted) < len(run[0])
        assert listed(page) == wanted
        count = f"{len(wanted)} of {len(run[0])} matches, 1 to {len(wanted)} shown"
        assert page.locator("#shown").inner_text() == count
        page.get_by_role("button", name="Clear").click()


def test_a_pair_is_two_policies_on_two_seats(page, run):
    page.locator("#policy").select_option("random")
    page.locator("#other").select_option("model two")
    assert listed(page) == ids(run[0], seated("random", "model two"))
    page.locator("#other").select_option("random")
    assert listed(page) == [] and page.locator("#shown").inner_text() == f"0 of {len(run[0])} matches"


def test_filters_hold_together_and_are_cleared(page, run):
    page.locator("#environment").select_option("tictactoe_v0")
    page.locator("#replies").select_option("illegal")
    holds = FILTERS["illegal"][2]
    wanted = ids(run[0], lambda one: one["match"]["environment"] == "tictactoe_v0" and holds(one))
    assert listed(page) == wanted
    page.get_by_role("button", name="Clear").click()
    assert listed(page) == ids(run[0])


def test_failures_lead_to_the_matches_of_the_policy(page, run):
    page.locator("#tabs a", has_text="Failures").click()
    row = page.locator("[id='tab Failures'] tr", has=page.locator("td.key", has_text="model two")).first
    environment = row.locator("td").first.inner_text()
    row.get_by_role("link", name="matches").click()
    page.locator("#list a").first.wait_for()
    wanted = ids(run[0], lambda one: one["match"]["environment"] == environment and seated("model two")(one))
    assert sorted(listed(page)) == sorted(wanted)
    cells = page.locator("#list tbody td:nth-last-child(3)")
    bad = cells.evaluate_all("cells => cells.map((cell) => parseInt(cell.textContent) || 0)")
    assert bad == sorted(bad, reverse=True) and bad[0] > 0


WORDS = {
    "TWO": seated("model two"),
    "two random": seated("model two", "random"),
    "connect #3": lambda one: one["match"]["number"] == 3 and one["match"]["environment"] == "connect_four_v0",
    "#11": lambda one: one["match"]["number"] == 11,
    "dead": lambda one: one["status"] == "void",
    "<i>one": seated("model <i>one</i>"),
    "nobody": lambda one: False,
}


def test_words_are_searched_in_names_numbers_and_errors(page, run):
    for words, holds in WORDS.items():
        page.locator("#search").fill(words)
        assert listed(page) == ids(run[0], holds)
        assert page.locator("#search").input_value() == words


def test_a_match_is_searched_by_the_beginning_of_its_id(page, run):
    one = run[0][7]["id"]
    page.locator("#search").press_sequentially(one[:9].upper())
    assert listed(page) == [one]


def result_key(record):
    if not record["outcome"]:
        return (record["status"],)
    seats = record["outcome"]["seats"]
    rewards = [seat["reward"] for seat in seats] if record["status"] == "finished" else []
    return (record["status"], any(seat["forfeit"] for seat in seats), *rewards)


SORTED = {
    "environment": lambda one: one["match"]["environment"],
    "number": lambda one: one["match"]["number"],
    "seats": lambda one: one["match"]["policies"],
    "result": result_key,
    "turns": lambda one: len(one["turns"]),
    "bad replies": lambda one: sum(kind != 0 for kind in kinds(one)),
    "id": lambda one: one["id"],
}


def test_a_column_sorts_up_and_down_and_leaves_equals_as_they_were(page, run):
    for column, key in SORTED.items():
        heading = page.locator("#list").get_by_role("columnheader", name=column, exact=True)
        assert heading.get_attribute("aria-sort") is None
        heading.get_by_role("button").click()
        assert listed(page) == ids(sorted(run[0], key=key))
        assert heading.get_attribute("aria-sort") == "ascending"
        page.keyboard.press("Enter")  # the heading has kept the focus
        assert heading.get_attribute("aria-sort") == "descending"
        assert listed(page) == ids(sorted(run[0], key=key, reverse=True))
        page.keyboard.press("Enter")
        assert listed(page) == ids(run[0]) and page.locator("[aria-sort]").count() == 0


def test_costs_sort_by_their_amount(page, run):
    heading = page.locator("#list").get_by_role("columnheader", name="cost", exact=True)
    heading.get_by_role("button").click()
    heading.get_by_role("button").click()
    shown = page.locator("#list tbody td:nth-child(7)").all_inner_texts()
    amounts = [float(cost) for cost in shown if cost not in ("", "unknown")]
    assert len(set(amounts)) > 5 and amounts == sorted(amounts, reverse=True)
    assert shown.index("unknown") >= len(amounts)


def test_pages_of_rows(page, run):
    page.locator("#rows").select_option("25")
    step = {name: page.get_by_role("button", name=f"{name} page") for name in ("First", "Previous", "Next", "Last")}
    everything = ids(run[0])
    assert listed(page) == everything[:25] and "1 to 25 shown" in page.locator("#shown").inner_text()
    assert step["First"].is_disabled() and step["Previous"].is_disabled()
    step["Next"].click()
    assert listed(page) == everything[25:50] and page.locator("#page").inner_text() == "Page 2 of 2"
    assert step["Next"].is_disabled() and step["Last"].is_disabled()
    step["First"].click()
    assert listed(page) == everything[:25]
    step["Last"].click()
    step["Previous"].click()
    assert listed(page) == everything[:25]
    step["Next"].click()
    page.locator("#policy").select_option("random")
    assert listed(page) == ids(run[0], seated("random"))[:25]  # another list is read from its beginning


def test_address_holds_filters_with_back_and_forward(page, browser, run):
    page.locator("#policy").select_option("model <i>one</i>")
    page.get_by_role("columnheader", name="turns").get_by_role("button").click()
    of_one = sorted(filter(seated("model <i>one</i>"), run[0]), key=SORTED["turns"])
    assert listed(page) == ids(of_one)
    page.locator("#list a").nth(2).click()
    expect(page.locator("#match h3")).to_contain_text(f"Match {of_one[2]['match']['number']} of")
    with browser.new_page() as other:
        other.goto(page.url)
        expect(other.locator("#match h3")).to_have_text(page.locator("#match h3").inner_text())
        assert listed(other) == ids(of_one)
        assert other.locator("#policy").input_value() == "model <i>one</i>"
        assert other.locator("[aria-sort=ascending]").inner_text().startswith("turns")
        assert other.locator("tr.chosen td").last.inner_text() == of_one[2]["id"]
    page.go_back()
    expect(page.locator("#match h3")).to_have_count(0)
    assert listed(page) == ids(of_one)
    page.go_back()
    assert listed(page) == ids(run[0], seated("model <i>one</i>"))
    page.go_back()
    assert listed(page) == ids(run[0]) and page.locator("#policy").input_value() == ""
    page.go_forward()
    assert listed(page) == ids(run[0], seated("model <i>one</i>"))


def test_an_address_that_makes_no_sense_shows_a_list(page, run):
    evil = ("sort=__proto__", "sort=constructor&direction=down", "page=-3&rows=x", "%E0x", "section%20Failures")
    for fragment in ("page=999", "x=y", *evil):
        page.goto("about:blank")
        page.goto(f"{run[1]}#{fragment}")
        page.locator("#list a").first.wait_for(state="attached")
        assert listed(page) == ids(run[0])


def test_missing_match_is_reported(page, run):
    page.goto(f"{run[1]}#match=<b>nobody</b>")
    expect(page.locator("#match")).to_have_text("There is no match <b>nobody</b> in this run.")


def test_matches_are_gone_through_in_the_order_of_the_list(page, run):
    page.locator("#rows").select_option("25")
    page.get_by_role("columnheader", name="id").get_by_role("button").click()
    page.get_by_role("button", name="Last page").click()
    page.get_by_role("button", name="Previous page").click()
    order = sorted(ids(run[0]))
    page.locator("#list a").last.click()
    place = page.locator("#match .controls .dim").first
    following, before = (page.get_by_role("button", name=f"{name} match") for name in ("Next", "Previous"))
    expect(place).to_have_text(f"match 25 of {len(order)} listed")
    following.click()
    expect(place).to_have_text(f"match 26 of {len(order)} listed")
    assert listed(page) == order[25:50]  # the page of rows goes along
    assert page.locator("tr.chosen td").last.inner_text() == order[25]
    before.click()
    expect(place).to_have_text(f"match 25 of {len(order)} listed")
    page.locator("#match h3").click()
    page.locator("#match").press("n")
    expect(place).to_have_text(f"match 26 of {len(order)} listed")
    page.locator("#match").press("p")
    expect(place).to_have_text(f"match 25 of {len(order)} listed")
    page.locator("#result").select_option("void")
    shown = run[0][ids(run[0]).index(order[24])]
    if shown["status"] != "void":
        expect(place).to_have_text("not among the matches listed")
        assert following.is_disabled() and before.is_disabled()
    else:
        expect(place).to_contain_text("listed")
    page.get_by_role("button", name="Clear").click()
    page.locator("#list a").first.click()
    expect(before).to_be_disabled()


def test_the_list_by_keyboard(page, run):
    page.locator("#list a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#match h3")).to_contain_text("Match 1 of")
    assert page.evaluate("document.activeElement.id") == "match"
    page.locator("#search").focus()
    page.keyboard.type("n p")
    assert page.locator("#search").input_value() == "n p"
    expect(page.locator("#match h3")).to_contain_text("Match 1 of")


def opened(page, record):
    page.goto(f"{page.url.partition('#')[0]}#match={record['id']}")
    page.locator(".turn").first.wait_for()
    for details in page.locator(".turn details").all():
        details.evaluate("details => { details.open = true }")
    if any(attempt["detail"] for turn in record["turns"] for attempt in turn["attempts"]):
        page.locator("pre.prompt").first.wait_for()


def test_exact_prompts_equal_the_servers_input(page, run):
    records, _, received, _ = run
    received = list(received)
    seen = 0
    for name in ("model <i>one</i>", "model two"):
        for environment in ("tictactoe_v0", "connect_four_v0"):
            record = next(
                one
                for one in records
                if one["status"] == "finished"
                and one["match"]["environment"] == environment
                and {name, "random"} == set(one["match"]["policies"])
                and any(len(turn["attempts"]) > 1 for turn in one["turns"])
            )
            opened(page, record)
            shown = page.evaluate(
                """() => [...document.querySelectorAll(".turn details")]
                    .filter((details) => details.querySelector("summary").textContent === "exact prompt")
                    .map((details) => [...details.querySelectorAll("pre.prompt")].map((pre) =>
                        ({ role: pre.previousSibling.textContent, content: pre.textContent })))"""
            )
            attempts = sum(
                len(turn["attempts"]) for turn in record["turns"] if any(one["detail"] for one in turn["attempts"])
            )
            assert len(shown) == attempts > 3
            for prompt in shown:
                told = [{**message, "content": message["content"].replace("\\u202e", "\u202e")} for message in prompt]
                assert told in received
            seen += attempts
    assert seen > 20
    assert page.evaluate("document.querySelectorAll('#match script, #match img[src^=x]').length") == 0


def test_a_prompt_that_is_not_certain_is_not_shown(page, run, tmp_path):
    with closing(run_directory.open_store(run[3])) as store:
        record = next(one for one in store.records() if seated("model two", "random")({"match": asdict(one.match)}))
    turns = tuple(
        replace(
            turn,
            attempts=tuple(replace(one, detail=one.detail and {**one.detail, "prompt": "0"}) for one in turn.attempts),
        )
        for turn in record.turns
    )
    for name, changed in {"": turns, "now": tuple(replace(turn, read="another text") for turn in turns)}.items():
        path = tmp_path / f"{name}.html"
        with path.open("w", encoding="utf-8") as file:
            write_page(EMPTY, Replays([replace(record, turns=changed)], {}, {}, {}), file)
        page.goto(f"{path.as_uri()}#match={record.match.id}")
        box = page.locator("details", has_text="exact prompt").first
        box.locator("summary").click()
        why = "would read another text now" if name else "they do not come out as they were sent"
        expect(box).to_contain_text("not recorded: ")
        expect(box).to_contain_text(why)
        assert page.locator("pre.prompt").count() == 0


def test_reply_details_are_shown_beside_it(page, run):
    records, *_ = run
    record, turn, number = next(
        (record, turn, number)
        for record in records
        for turn in record["turns"]
        for number, attempt in enumerate(turn["attempts"])
        if attempt["calls"] == 2 and "model <i>one</i>" in record["match"]["policies"][int(turn["agent"][-1])]
    )
    opened(page, record)
    box = page.locator(".turn").nth(turn["index"])
    attempt = turn["attempts"][number]
    fact = box.locator("span", has_text=re.compile("^reply: ")).nth(number)
    expect(fact).to_contain_text(f"{attempt['seconds']:.2f}".rstrip("0"))
    reason = attempt["detail"]["finish_reason"]
    expect(fact).to_contain_text(f"waited), 2 requests, finish reason {reason}, 11 tokens read, 5 written")
    told = box.locator("details", has_text="request").filter(has=page.locator("table")).nth(number).inner_text()
    assert f"request id\t{attempt['request_id']}" in told and attempt["request_id"]
    assert "model\tm1" in told and '"top_p": 0.5' in told and '"model": "m1"' in told


def test_hostile_replies_and_names_stay_text(page, run):
    record = next(
        one
        for one in run[0]
        if any(MARKUP in attempt["reply"] for turn in one["turns"] for attempt in turn["attempts"])
        and "model <i>one</i>" in one["match"]["policies"]
    )
    opened(page, record)
    assert "model <i>one</i>" in page.locator("#match h3").inner_text()
    replies = page.locator("pre.reply", has_text="alert(1)").first.inner_text()
    assert MARKUP.replace("\u202e", "\\u202e").strip() in replies
    assert page.locator("#match i, #match script").count() == 0


def test_words_are_found_in_the_replies_of_a_match(page, run):
    record = next(
        one
        for one in run[0]
        if any("give up" in attempt["reply"] for turn in one["turns"] for attempt in turn["attempts"])
    )
    opened(page, record)
    wanted = [
        turn["index"]
        for turn in record["turns"]
        if any("I give up" in attempt["reply"] for attempt in turn["attempts"])
    ]
    box = page.get_by_role("searchbox", name="Find in the replies of this match")
    box.fill("i GIVE up")
    expect(page.locator("#match")).to_contain_text(f"in {len(wanted)} of {len(record['turns'])} turns")
    for turn in [*wanted, wanted[0]]:
        box.press("Enter")
        assert "found" in page.locator(".turn").nth(turn).get_attribute("class")
        assert page.locator(".turn.found").count() == 1
    box.fill("no such word")
    assert page.get_by_role("button", name="Next turn found").is_disabled()


def test_the_reason_of_a_void_match_is_listed_and_shown(page, run):
    page.locator("#result").select_option("void")
    assert "void: " in page.locator("#list td:nth-child(4)").first.inner_text()
    assert "the line is dead" in page.locator("#list td:nth-child(4)").first.inner_text()
    page.locator("#list a").first.click()
    expect(page.locator("#match p.bad")).to_contain_text("the line is dead")


def test_agent_can_be_named_like_an_object_property(page, run, tmp_path):
    with closing(run_directory.open_store(run[3])) as store:
        record = next(one for one in store.records() if one.turns and one.match.policies[0] == "model two")
    turns = tuple(replace(turn, agent="constructor") for turn in record.turns)
    changed = replace(record, turns=turns, outcome=None)
    path = tmp_path / "page.html"
    with path.open("w", encoding="utf-8") as file:
        write_page(EMPTY, Replays([changed], {}, {}, {}), file)
    page.goto(f"{path.as_uri()}#match={record.match.id}")
    expect(page.locator(".turn b").first).to_have_text("1. constructor ")
    expect(page.locator(".turn")).to_have_count(len(turns))


def test_the_page_fits_paper(browser, run):
    with browser.new_page(viewport={"width": 1000, "height": 700}) as page:
        page.emulate_media(media="print")
        page.goto(f"{run[1]}#matches")
        page.locator("#list a").first.wait_for()
        tables = page.locator("table").evaluate_all("tables => tables.map((one) => [one.offsetWidth, one.innerText])")
        assert max(tables)[0] <= 1000, max(tables)
        assert page.locator("#list").evaluate("list => list.scrollHeight <= list.clientHeight")  # all is in sight


def test_the_list_and_a_match_fit_a_phone(browser, run):
    with browser.new_page(viewport={"width": 390, "height": 844}) as page:
        page.goto(f"{run[1]}#matches")
        page.locator("#list a").first.wait_for()
        record = next(one for one in run[0] if one["status"] == "finished" and "model two" in one["match"]["policies"])
        opened(page, record)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_javascript_page_explains_how_to_read_matches(browser, run):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{run[1]}#matches")
        assert "llmarena replay DIR" in page.locator("noscript").inner_text()
        assert not page.locator("#browse").is_visible()
        assert page.get_by_role("heading", name="tictactoe_v0").first.is_visible()


def test_the_report_of_50000_matches_opens_and_answers_at_once(browser, tmp_path):
    path = tmp_path / "large.html"
    with ThreadPoolExecutor(1) as thread:
        thread.submit(report_page.write, path, 50_000).result()
    with browser.new_page() as page:
        spent = page.context.new_cdp_session(page)
        spent.send("Performance.enable")
        page.goto(f"{path.as_uri()}#matches")
        page.locator("#list a").first.wait_for()
        metrics = {metric["name"]: metric["value"] for metric in spent.send("Performance.getMetrics")["metrics"]}
        assert 0 < metrics["ProcessTime"] < 5  # processor time, which is independent of other load on the machine
        assert page.locator("#shown").inner_text() == "50000 matches, 1 to 50 shown"
        page.get_by_role("button", name="Last page").click()
        assert page.locator("#list a").last.inner_text() == "49999"
        page.locator("#list").get_by_role("columnheader", name="seats", exact=True).get_by_role("button").click()
        assert page.locator("#list td:nth-child(3)").first.inner_text() == "first_legal v greedy"
        page.locator("#search").fill("greedy #49995")
        page.locator("#list a").first.press("Enter")
        expect(page.locator("#match h3")).to_contain_text("Match 49995 of tictactoe_v0")
        assert page.locator(".turn").count() > 4


def test_the_benchmark_of_the_page_runs(tmp_path, capsys):
    path = tmp_path / "small.html"
    with ThreadPoolExecutor(1) as thread:
        thread.submit(report_page.write, path, 120, models=True).result()
        thread.submit(report_page.look, path, CHROMIUM).result()
    assert set(report_page.ACTIONS) <= {line[:40].strip() for line in capsys.readouterr().out.splitlines()}
