import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.prompts import PromptError, Prompts, Template


def test_placeholders_are_filled_in() -> None:
    template = Template("{who} plays {{X}} on {board}.", "here")
    assert template.placeholders == {"who", "board"}
    assert template.render(who="Ann", board="B", unused=1) == "Ann plays {X} on B."


def test_a_missing_field_is_an_error_that_names_what_there_is() -> None:
    with pytest.raises(PromptError, match=r"here: unknown placeholder \{marc\}; this text may use \['board', 'mark'\]"):
        Template("{marc}", "here").render(mark="X", board="")


@pytest.mark.parametrize("source", ["{}", "{0}", "{a.b}", "{a[0]}", "{a!r}", "{a:>3}", "{", "}", "{a", "{a b}"])
def test_anything_but_plain_names_is_refused(source: str) -> None:
    with pytest.raises(PromptError, match="here"):
        Template(source, "here")


@given(st.text())
def test_values_are_never_read_as_templates(value: str) -> None:
    assert Template("<{x}>", "here").render(x=value) == f"<{value}>"
    assert Template("<{x}>", "here").render(x="{x}{y}") == "<{x}{y}>"


def _package(folder: Path, name: str, text: str) -> str:
    prompts = folder / name / "prompts"
    prompts.mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    (prompts / "en.toml").write_text(text, encoding="utf-8")
    return name


@pytest.fixture
def package_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_texts_are_read_without_the_line_breaks_around_them(package_folder: Path) -> None:
    prompts = Prompts(_package(package_folder, "game_a", 'rules = """\n  Rules: {x}\n\nEnd.\n"""\n'), "en")
    assert prompts.render("rules", x=1) == "  Rules: 1\n\nEnd."
    assert prompts["rules"].placeholders == {"x"}


def test_joined_texts_stand_below_each_other(package_folder: Path) -> None:
    prompts = Prompts(_package(package_folder, "game_b", 'a = "A {x}"\nb = "B {y}"\n'), "en")
    joined = prompts.joined("a", "b", "a")
    assert joined.render(x=1, y=2) == "A 1\nB 2\nA 1"
    with pytest.raises(PromptError, match=r"en.toml \[a, b, a\]: unknown placeholder \{y\}"):
        joined.render(x=1)


def test_errors_of_a_file_name_the_file(package_folder: Path) -> None:
    with pytest.raises(PromptError, match=r"game_c/prompts/en.toml \[turns\]: expected a text, got int"):
        Prompts(_package(package_folder, "game_c", "turns = 3\n"), "en")
    prompts = Prompts(_package(package_folder, "game_d", 'rules = "r"\n'), "en")
    with pytest.raises(PromptError, match=r"game_d/prompts/en.toml: no text 'hint'; it has \['rules'\]"):
        prompts["hint"]
    with pytest.raises(PromptError, match=r"game_e/prompts/en.toml \[rules\]"):
        Prompts(_package(package_folder, "game_e", 'rules = "{0}"\n'), "en")


def test_an_unknown_language_is_an_option_error() -> None:
    with pytest.raises(OptionError, match="language: expected one of 'en', 'zh', got 'zn'; did you mean 'zh' or 'en'"):
        Prompts("llmarena_envs.tictactoe", "zn")


def test_prompts_are_found_wherever_the_process_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "tic-tac-toe" in Prompts("llmarena_envs.tictactoe", "en").render("rules")
    assert "llmarena_envs" in sys.modules
