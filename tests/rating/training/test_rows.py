"""Rows of each format, as ``llmarena export`` writes them."""

import io
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agents.training import Deal
from agents.turn import STANDARD_TURNS
from llmarena_envs import tictactoe_v0
from llmarena_envs.core.failures import InvalidReply
from rating.cli import main
from rating.store.records import Record
from rating.training.conversations import Selection, Tally, played_seats
from rating.training.rows import FORMATS, Preference, Sft
from rating.training.write import write_json_lines
from tests.rating.training.conftest import NAME
from tests.rating.training.matches import Says, recorded

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rows(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    @cache
    def export(format: str, *flags: str) -> Rows:
        path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
        assert main(["export", str(run), "--format", format, "--out", str(path), *flags]) == 0
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]

    return export


def states_a_move(reply: str, agent: str) -> bool:
    env = tictactoe_v0.raw_env()
    env.reset(seed=0)
    try:
        env.codec.parse(reply, env.view(agent))
    except InvalidReply:
        return False
    return True


@pytest.mark.parametrize(
    ("format", "flags"),
    [
        ("sft", {}),
        ("sft", {"rejected": True, "reasoning": True}),
        ("preference", {}),
        ("grpo", {}),
        ("grpo", {"reasoning": True}),
        ("grpo", {"legal": True, "logprobs": True}),
        ("deals", {}),
    ],
)
def test_rows_have_the_declared_columns_in_order(rows: Any, format: str, flags: dict[str, bool]) -> None:
    columns = list(FORMATS[format](**flags).columns)
    found = rows(format, *(f"--{flag}" for flag in flags))
    assert found and all(list(row) == columns for row in found)


def test_sft_trainable_messages_are_moves(rows: Any) -> None:
    for row in rows("sft"):
        assert [message["role"] for message in row["messages"]] == [
            "system",
            *["user", "assistant"] * len(row["turns"]),
        ]
        assert row["trainable"] == [message["role"] == "assistant" for message in row["messages"]]
        assert all(states_a_move(message["content"], row["agent"]) for message in row["messages"][2::2])
        assert set(row["kinds"]) == {"ok"}
        assert row["policy"] != "never"
        assert row["policy"] == row["policies"][int(row["agent"][-1])]


def test_sft_with_rejected_gives_them_weight_zero(rows: Any) -> None:
    stumbling = [row for row in rows("sft", "--rejected") if row["policy"] == NAME]
    assert len(stumbling) > 3
    for row in stumbling:
        replies = [(message, kind) for message, kind in zip(row["messages"], row["trainable"], strict=True)]
        said = [(message, kind) for message, kind in replies if message["role"] == "assistant"]
        assert [kind for _, kind in said] == [False, True] * (len(said) // 2)
        assert [message["weight"] for message, _ in said] == [0, 1] * (len(said) // 2)
        assert row["kinds"] == ["unparsable", "ok"] * (len(said) // 2)
        assert all(states_a_move(message["content"], row["agent"]) == learned for message, learned in said)
        assert sum(row["rewards"]) + row["initial_reward"] == row["reward"]


def test_sft_selects_by_policy_and_reward(rows: Any) -> None:
    every = rows("sft")
    assert {row["policy"] for row in every} == {NAME, "minimax", "random"}
    assert rows("sft", "--policy", "random", "--policy", "minimax") == [row for row in every if row["policy"] != NAME]
    assert rows("sft", "--min-reward", "0") == [row for row in every if row["reward"] >= 0]
    winners = rows("sft", "--winners")
    assert winners == [row for row in every if row["reward"] == 1]
    assert 0 < len(winners) < len(every)


def test_sft_single_turn_gives_a_row_per_turn(rows: Any) -> None:
    turns = rows("sft", "--history", "single_turn")
    assert all([message["role"] for message in row["messages"]] == ["system", "user", "assistant"] for row in turns)
    assert Counter(row["match"] for row in turns) == Counter(row["match"] for row in rows("sft") for _ in row["turns"])


def test_reasoning_is_a_separate_column(rows: Any) -> None:
    for row in rows("sft", "--reasoning", "--policy", NAME):
        assert row["reasoning"] == ["right"] * len(row["turns"])
    for row in rows("grpo", "--reasoning", "--policy", NAME):
        assert row["reasoning"] == ["wrong", "right"] * (len(row["turns"]) // 2)


def test_legal_moves_and_log_probabilities_are_columns_of_each_reply(rows: Any) -> None:
    found = rows("grpo", "--legal", "--logprobs")
    for row in found:
        assert len(row["legal"]) == len(row["logprobs"]) == len(row["turns"])
        assert all(moves and all(states_a_move(move, row["agent"]) for move in moves) for moves in row["legal"])
    ours = [row for row in found if row["policy"] == NAME]
    assert ours and all(row["logprobs"] == [None, -1.5] * (len(row["turns"]) // 2) for row in ours)
    assert {logprob for row in found if row["policy"] == "random" for logprob in row["logprobs"]} == {None}
    assert all("legal" not in row for row in rows("grpo"))


def test_preference_reask_pairs_a_rejected_reply_with_the_move(rows: Any) -> None:
    pairs = [row for row in rows("preference") if row["source"] == "reask"]
    assert len(pairs) == sum(row["kinds"].count("ok") for row in rows("sft", "--policy", NAME))
    for row in pairs:
        (chosen,), (rejected,) = row["chosen"], row["rejected"]
        assert row["prompt"][-1]["role"] == "user"
        assert chosen["content"] != rejected["content"]
        assert states_a_move(chosen["content"], row["agent"])
        assert not states_a_move(rejected["content"], row["agent"])
        assert (row["rejected_kind"], row["rejected_reward"]) == ("unparsable", None)


def test_preference_deal_pairs_moves_by_reward(rows: Any) -> None:
    pairs = [row for row in rows("preference") if row["source"] == "deal"]
    assert len(pairs) > 0
    used = Counter()
    for row in pairs:
        (chosen,), (rejected,) = row["chosen"], row["rejected"]
        assert row["chosen_reward"] > row["rejected_reward"]
        assert chosen["role"] == rejected["role"] == "assistant"
        for reply in (chosen["content"], rejected["content"]):
            assert states_a_move(reply, row["agent"])
            used[json.dumps([row["group"], row["prompt"], reply])] += 1
    assert set(used.values()) == {1}
    wide = [row for row in rows("preference", "--margin", "1.5") if row["source"] == "deal"]
    assert wide == [row for row in pairs if row["chosen_reward"] - row["rejected_reward"] >= 1.5]


def test_preference_same_move_in_other_words_gives_no_pair() -> None:
    played = [
        recorded("tictactoe_v0", Says("a"), "first_legal"),
        recorded("tictactoe_v0", Says("b"), "minimax", number=1),
    ]
    assert played[0].outcome.seats[0].reward != played[1].outcome.seats[0].reward
    settings = {"tictactoe_v0": STANDARD_TURNS}
    for moves_differ in (False, True):
        if moves_differ:
            played[1] = recorded("tictactoe_v0", "first_legal", "minimax", number=1)
        pairs = list(Preference().rows(played_seats(played, settings, Selection(), Tally())))
        assert [row["turn"] for row in pairs if row["agent"] == "player_0"] == [0] * moves_differ


def test_grpo_samples_of_one_prompt_are_adjacent(rows: Any) -> None:
    samples = rows("grpo")
    assert len(samples) == len(list(itertools.groupby(row["match"] + row["agent"] for row in samples)))
    for _, same in itertools.groupby(samples, key=lambda row: row["prompt_id"]):
        group = list(same)
        assert {row["samples"] for row in group} == {len(group)}
        assert len({json.dumps([row["prompt"], row["group"], row["agent"]]) for row in group}) == 1
    prompts = [json.dumps([row["prompt"], row["group"], row["agent"]]) for row in samples]
    assert max(Counter(prompts).values()) > 1
    assert len(set(prompts)) == len({row["prompt_id"] for row in samples})
    for row in samples:
        assert row["mask"] == [message["role"] == "assistant" for message in row["completion"]]
        assert len(row["turns"]) == row["mask"].count(True)
    assert any("unparsable" in row["kinds"] for row in samples if row["policy"] == "never")


def test_deals_give_the_recorded_prompts_when_played(rows: Any) -> None:
    deals = rows("deals")
    assert sum(row["matches"] for row in deals) == len({row["match"] for row in rows("grpo")})
    prompts = {row["group"]: row["prompt"] for row in rows("grpo") if row["agent"] == "player_0"}
    for row in deals:
        deal = Deal(**json.loads(row["deal"]))
        assert deal.group == row["group"]
        question = deal.match().start_sync()
        assert question is not None
        assert prompts.get(row["group"], list(question.messages)) == list(question.messages)
    assert len({row["group"] for row in deals}) == len(deals) > 3


def test_sft_rows_hold_one_match_at_a_time() -> None:
    begun = []

    def records() -> Iterator[Record]:
        for number in range(3):
            begun.append(number)
            yield recorded("tictactoe_v0", Says("x" * 100_000), "random", number=number)

    settings, tally, sft = {"tictactoe_v0": STANDARD_TURNS}, Tally(), Sft()
    rows = sft.rows(played_seats(records(), settings, Selection(), tally))
    file = io.StringIO()
    for match in range(3):
        assert write_json_lines(itertools.islice(rows, 2), file) == 2
        assert begun == list(range(match + 1))
    assert tally.matches == 3
    assert min(map(len, file.getvalue().splitlines()[::2])) > 300_000
