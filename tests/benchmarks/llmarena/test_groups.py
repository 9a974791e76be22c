"""Groups of players: the file, and the averages."""

import pytest

from benchmarks.experiments.published import load_published
from benchmarks.llmarena.groups import check_groups, group_table, published_group_table, read_groups
from llmarena_envs.core.options import OptionError
from rating.schemes.summary import summarise_scores


def groups(tmp_path, text):
    path = tmp_path / "groups.csv"
    path.write_bytes(text.encode())
    return read_groups(path)


def test_group_file_accepts_bom_crlf_and_quotes(tmp_path):
    text = '\ufeffpolicy,group\r\nopenai:a,70B\r\n\r\n"b,c", 30B\r\nrandom,\r\n'
    assert groups(tmp_path, text) == {"openai:a": "70B", "b,c": "30B", "random": ""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected policy,group, got ''"),
        ("\nname,size\n", "line 2: expected policy,group, got 'name,size'"),
        ("policy,group\na,x\nb\n", "line 3: expected a policy and its group, got 'b'"),
        ("policy,group\n\na,x,y\n", "line 3: expected a policy and its group, got 'a,x,y'"),
        ("policy,group\n,x\n", "line 2: expected a policy and its group"),
        ("policy,group\na,x\na,y\n", "line 3: expected every policy once, got 'a' again"),
        ('policy,group\n"a"b,x\n', "line 2: expected a CSV file"),
    ],
)
def test_another_file_is_refused_with_the_number_of_the_line(tmp_path, text, message):
    with pytest.raises(OptionError, match=message):
        groups(tmp_path, text)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "groups.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OptionError, match="expected a CSV file"):
        read_groups(tmp_path / "groups.csv")
    with pytest.raises(OptionError, match="No such file"):
        read_groups(tmp_path / "nothing.csv")


def test_group_file_lists_exactly_the_runs_policies(tmp_path):
    check_groups({"a": "x", "b": ""}, ["a", "b"], tmp_path)
    with pytest.raises(OptionError, match="expected a line for every policy, found none for b, c"):
        check_groups({"a": "x"}, ["a", "b", "c"], tmp_path)
    with pytest.raises(OptionError, match="got 'minmax'; did you mean 'minimax'"):
        check_groups({"minmax": "x"}, ["minimax"], tmp_path)


def test_group_average_is_the_mean_of_players_averages():
    scores = {"bid_v0": {"a": 2.0, "b": 1.0, "c": 1.0}, "hanabi_v0": {"a": 1.0, "b": 4.0}}
    summary = summarise_scores(scores, {})
    table = group_table(summary, {"c": "small", "a": "large", "b": "large"}, {"bid_v0": "bid", "hanabi_v0": "hanabi"})
    small, large = (
        [cell if isinstance(cell, str) or cell is None else cell[0::3] for cell in row] for row in table.rows
    )
    assert small == ["small", "c", (50.0, 1), None, (50.0, 1)]
    # a: 100 and 25, b: 50 and 100
    assert large == ["large", "b, a", (75.0, 2), (62.5, 2), (68.75, 2)]


def test_published_groups_are_computed_beside_printed_values():
    published = load_published("benchmarks.llmarena")
    rows = {row[0]: row for row in published_group_table(published["T1_normalised"], published["T1_groups"]).rows}
    averages = {name: (round(row[-2].value, 2), row[-2].n, row[-1]) for name, row in rows.items()}
    assert averages == {"70B": (83.0, 4, 82.87), "30B": (80.69, 2, 80.68), "10B": (71.05, 6, 71.05)}
    # The gaps that the text names: 70B to 30B is not 2.19; bid and Hanabi of 10B against its mean.
    assert rows["10B"][5].value == pytest.approx(71.05 - 31.71, abs=0.02)
