"""Exported training data, as ``datasets`` reads them and the trainers of TRL take them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
datasets = pytest.importorskip("datasets")

from rating.cli import main  # noqa: E402
from rating.training import write  # noqa: E402
from tests.docs.pages import code_blocks  # noqa: E402
from tests.rating.training.conftest import NAME, run  # noqa: E402, F401  a fixture

FORMATS = ("sft", "preference", "grpo", "deals")


def export(run: Path, path: Path, format: str, *flags: str) -> Path:  # noqa: F811
    assert main(["export", str(run), "--format", format, "--out", str(path), *flags]) == 0
    return path


@pytest.fixture(scope="module")
def data(run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:  # noqa: F811
    """A directory with a card of each format."""
    where = tmp_path_factory.mktemp("data")
    return {format: export(run, where / format, format, "--parquet") for format in FORMATS}


def load(path: Path, cache: Path) -> Any:
    return datasets.load_dataset(str(path), cache_dir=str(cache))["train"]


@pytest.mark.parametrize(
    "flags", [(), ("--rejected",), ("--reasoning", "--history", "full"), ("--legal", "--logprobs")]
)
def test_parquet_holds_the_rows_of_the_json_lines(run: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:  # noqa: F811
    lines = export(run, tmp_path / "rows.jsonl", "sft", *flags).read_text(encoding="utf-8").split("\n")[:-1]
    found = load(export(run, tmp_path / "data", "sft", "--parquet", *flags), tmp_path / "cache")
    assert [json.loads(json.dumps(row)) for row in found] == [
        {**row, "messages": [{"role": None, "content": None, **message} for message in row["messages"]]}
        for row in map(json.loads, lines)
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_card_of_each_format_describes_its_rows(
    data: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture, format: str
) -> None:
    text = (data[format] / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(text.split("---\n")[1])
    found = load(data[format], tmp_path)
    assert found.num_rows > 0 and f"# {found.num_rows} rows for training ({format})" in text
    assert front["configs"][0]["config_name"] == format
    assert datasets.get_dataset_config_names(str(data[format])) == [format]
    assert "malformed" not in caplog.text
    assert NAME not in text


def test_json_lines_are_read_by_datasets(run: Path, tmp_path: Path) -> None:  # noqa: F811
    path = export(run, tmp_path / "rows.jsonl", "preference")
    found = datasets.load_dataset("json", data_files=str(path), cache_dir=str(tmp_path / "cache"))["train"]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    assert [row["chosen"] for row in found] == [row["chosen"] for row in rows]


def test_parquet_same_run_gives_the_same_bytes(
    run: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write, "ROW_GROUP", 5)
    first, second = (export(run, tmp_path / name, "grpo", "--parquet") for name in ("first", "second"))
    names = sorted(str(path.relative_to(first)) for path in first.rglob("*.*"))
    assert names == ["README.md", "data/train.parquet"]
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    lines = export(run, tmp_path / "x", "grpo").read_text(encoding="utf-8").split("\n")
    assert load(first, tmp_path / "cache").num_rows == len(lines) - 1


def test_parquet_without_rows_is_not_written(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    out = tmp_path / "data"
    assert main(["export", str(run), "--format", "sft", "--min-reward", "9", "--parquet", "--out", str(out)]) == 1
    assert "data: not written, because there are no rows" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_parquet_into_a_full_directory_is_refused(data: dict[str, Path], run: Path) -> None:  # noqa: F811
    before = sorted(data["sft"].rglob("*"))
    assert main(["export", str(run), "--format", "sft", "--parquet", "--out", str(data["sft"])]) == 2
    assert sorted(data["sft"].rglob("*")) == before


@pytest.fixture
def model(tiny_model: Path) -> str:
    return str(tiny_model)


def test_trl_sft_trains_on_conversations(
    data: dict[str, Path], model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sft").symlink_to(data["sft"])
    (code,) = [block.text for block in code_blocks("training_reference.md") if block.title == "tune.py"]
    own = {"Qwen/Qwen3-0.6B": model, "max_steps=1000": "max_steps=1, use_cpu=True, report_to='none'"}
    for shown, meant in own.items():
        assert code.count(shown) == 1
        code = code.replace(shown, meant)
    exec(compile(code, "tune.py", "exec"), {})


def test_trl_dpo_trains_on_preferences(data: dict[str, Path], model: str, tmp_path: Path) -> None:
    from transformers import AutoTokenizer
    from trl import DPOConfig, DPOTrainer

    found = load(data["preference"], tmp_path / "cache")
    settings = DPOConfig(str(tmp_path), max_steps=1, use_cpu=True, report_to="none", per_device_train_batch_size=2)
    tokenizer = AutoTokenizer.from_pretrained(model)
    trainer = DPOTrainer(model, args=settings, train_dataset=found, processing_class=tokenizer)
    assert trainer.train().training_loss > 0


def test_trl_grpo_samples_for_recorded_prompts(data: dict[str, Path], model: str, tmp_path: Path) -> None:
    from trl import GRPOConfig, GRPOTrainer

    asked = []

    def reward(completions: list[Any], group: list[str], **_: Any) -> list[float]:
        asked.extend(group)
        return [float(len(completion[0]["content"])) for completion in completions]

    settings = GRPOConfig(
        str(tmp_path), max_steps=1, use_cpu=True, report_to="none", per_device_train_batch_size=2, num_generations=2,
        max_completion_length=8,
    )  # fmt: skip
    found = load(data["grpo"], tmp_path / "cache")
    GRPOTrainer(model, reward, args=settings, train_dataset=found).train()
    assert set(asked) <= set(found["group"]) and asked
