"""A public test set on disk: a table as sacrebleu prints it, with a line of column names before it."""

import csv

from benchmarks.deepeval.__main__ import PAPER
from benchmarks.experiments.command import main
from llmarena_envs import writer_editor_v0
from llmarena_envs.writer_editor.tasks import Languages, load_documents

DOCUMENTS, SENTENCES = 20, 8
NAMES = "src\ttgt\tdoc_id\n"


def made(path, *, shuffled=False):
    """Writes a set of 160 aligned sentences, some with quotes, as ``--echo src ref docid`` prints them."""
    rows = [
        f'Satz {place} sagt: "Nummer {number}".\tSentence {place} says: "number {number}".\tnews.{number}\n'
        for number in range(DOCUMENTS)
        for place in range(SENTENCES)
    ]
    path.write_text(NAMES + "".join(rows[::8] + rows[1::8] if shuffled else rows), encoding="utf-8")
    return path


def test_sentences_of_a_document_become_one_passage(tmp_path):
    documents = load_documents(made(tmp_path / "wmt.tsv"), Languages("de", "en"))
    assert [document.doc_id for document in documents] == [f"news.{number}" for number in range(DOCUMENTS)]
    for number, document in enumerate(documents):
        assert document.src.count("\n") == document.tgt.count("\n") == SENTENCES - 1
        assert document.tgt.startswith(f'Sentence 0 says: "number {number}".\nSentence 1 says')
    env = writer_editor_v0.env(task="translation", tasks=str(tmp_path / "wmt.tsv"), src_lang="de", tgt_lang="en")
    env.reset(seed=0)
    assert "Satz 7 sagt" in env.observe("writer_0")["text"]


def test_t4_plays_a_table_of_a_public_set(tmp_path, capsys):
    file = made(tmp_path / "wmt.tsv")
    words = ["t4", "--alone", "--policy", "echo", "random", "--judge", "by_length", "--tasks", str(file)]
    assert main(PAPER, [*words, "--matches", "3", "--workers", "1", "--out", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "t4-matches.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert {row["different tasks (measured)"] for row in rows} == {"3"}
    assert main(PAPER, ["t4", "--tasks", str(made(file, shuffled=True)), "--out", str(tmp_path / "again")]) == 2
    assert "wmt.tsv, line 22: doc_id: 'news.0' goes on after another document" in capsys.readouterr().err
