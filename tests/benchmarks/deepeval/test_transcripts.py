"""Transcripts of the four tasks: the files, hostile players, one player alone."""

import pytest

from benchmarks.deepeval.__main__ import PAPER
from benchmarks.deepeval.transcripts import TITLES
from benchmarks.experiments.command import main

FILES = {f"transcripts-{name.replace('#', '-')}.md" for name in TITLES}


@pytest.mark.slow
def test_every_task_has_its_transcript_with_the_judges_reasons(tmp_path):
    words = ["--policy", "tests.rating.players:hostile", "--workers", "1", "--language", "zh", "--out", str(tmp_path)]
    assert main(PAPER, ["transcripts", *words]) == 0
    assert {path.name for path in tmp_path.glob("transcripts-*.md")} == FILES
    for name in FILES:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "tests.rating.players:hostile" in text
        assert "### The end" in text
        assert "你" in text
    review = (tmp_path / "transcripts-writer_editor_v0-code_review.md").read_text(encoding="utf-8")
    assert "plays:\n\n````text\n```python\n" in review
    assert "quality" in review and "(`rubric`)" in review
    assert "<title>Transcripts of DeepEval" in (tmp_path / "transcripts-report.html").read_text(encoding="utf-8")
