import sys
import zlib
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


def test_missing_field_error_names_existing_ones() -> None:
    with pytest.raises(PromptError, match=r"here: unknown placeholder \{marc\}; this text may use \['board', 'mark'\]"):
        Template("{marc}", "here").render(mark="X", board="")


@pytest.mark.parametrize(
    "source", ["{}", "{0}", "{a.b}", "{a[0]}", "{a!r}", "{a:>3}", "{", "}", "{a", "{a b}", "{a:x|y|z}", "{a:{b}|c}"]
)
def test_templates_accept_plain_names_only(source: str) -> None:
    with pytest.raises(PromptError, match="here"):
        Template(source, "here")


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 cards are"), (1, "1 card is"), (2, "2 cards are"), ("1", "1 cards are")]
)
def test_words_agree_with_a_number(number: object, text: str) -> None:
    template = Template("{number} {number:card is|cards are} 100% {{a|b}}{number:|!}", "here")
    assert template.placeholders == {"number"}
    assert template.render(number=number) == f"{text} 100% {{a|b}}{'' if number == 1 else '!'}"


def test_missing_number_error_names_existing_ones() -> None:
    with pytest.raises(PromptError, match=r"here: unknown placeholder \{cards\}; this text may use \['board'\]"):
        Template("{cards:card|cards}", "here").render(board="")
    with pytest.raises(PromptError, match=r"here: unknown placeholder \{mark\}; this text may use \['cards'\]"):
        Template("{cards:card|cards} {mark}", "here").render(cards=1)


@pytest.mark.parametrize(("source", "got"), [("{a} {mark}", "mark"), ("{a} {a:card|cards}", "a:0")])
def test_text_without_position_is_refused(source: str, got: str) -> None:
    with pytest.raises(PromptError, match=rf"here: .*'a', 'b'.* got \{{{got}\}}"):
        Template(source, "here").by_position("a", "b")


@given(st.text())
def test_values_are_never_read_as_templates(value: str) -> None:
    assert Template("<{x}>", "here").render(x=value) == f"<{value}>"
    assert Template("<{x}>", "here").render(x="{x}{y}") == "<{x}{y}>"


def _package(folder: Path, name: str, text: str, **others: str) -> str:
    prompts = folder / name / "prompts"
    prompts.mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    for language, source in {"en": text, **others}.items():
        (prompts / f"{language}.toml").write_text(source, encoding="utf-8")
    return name


@pytest.fixture
def package_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_joined_texts_are_on_separate_lines(package_folder: Path) -> None:
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


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("other", "message"),
    [
        ('rules = "R"\nhint = "H {x}"\n', r"zh.toml \[rules\]: \{n\} is missing, which \S*/en.toml has"),
        ('rules = "R {n}"\nhint = "H {y}"\n', r"zh.toml \[hint\]: \{x\} is missing"),
        (
            'rules = "R {n} {m} {y}"\nhint = "H {x}"\n',
            r"zh.toml \[rules\]: \{m\}, \{y\} is not in \S*/en.toml, which has \{n\}",
        ),
        ('rules = "R {n}"\n', r"zh.toml: no text 'hint', which \S*/en.toml has"),
        ('rules = "R {n}"\nhint = "{x}"\nmore = ""\n', r"en.toml: no text 'more', which \S*/zh.toml has"),
        ('rules = "R"\nhint = "{x}"\n[unused]\nrules = ["m"]\n', r"zh.toml \[rules\]: \{n\} is missing"),
        ('rules = "{n}"\nhint = "{x}"\n[unused]\nrules = ["n"]\n', r"zh.toml \[unused\] rules: \{n\} is used there"),
        ('rules = "{n}"\nhint = "{x}"\n[unused]\nroles = ["n"]\n', r"zh.toml \[unused\] roles: no such text"),
        ('rules = "{n}"\nhint = "{x}"\n[unused]\nrules = "n"\n', r"zh.toml \[unused\] rules: expected a list"),
        ('unused = "n"\n', r"zh.toml \[unused\]: expected a table"),
        ("rules = R\n", r"zh.toml: "),
    ],
)
def test_a_language_that_differs_is_an_error_in_every_language(
    package_folder: Path, request: pytest.FixtureRequest, language: str, other: str, message: str
) -> None:
    name = f"game_{zlib.crc32(request.node.name.encode())}"
    package = _package(package_folder, name, 'rules = "R {n}"\nhint = "H {x}"\n', zh=other)
    with pytest.raises(PromptError, match=message):
        Prompts(package, language)


def test_a_language_may_leave_out_a_placeholder_on_purpose(package_folder: Path) -> None:
    zh = 'rules = "规则"\n[unused]\nrules = ["n"]\n'
    package = _package(package_folder, "game_f", 'rules = "{n} {n:rule|rules}"\n', zh=zh)
    assert Prompts(package, "zh").render("rules", n=1) == "规则"
    assert Prompts(package, "en").render("rules", n=1) == "1 rule"


def test_without_the_default_language_the_others_are_compared(package_folder: Path) -> None:
    package = _package(package_folder, "game_g", 'rules = "{n}"', de='rules = "{n}"', fr='rules = ""')
    (package_folder / package / "prompts" / "en.toml").unlink()
    with pytest.raises(PromptError, match=r"fr.toml \[rules\]: \{n\} is missing, which game_g/prompts/de.toml has"):
        Prompts(package, "de")


def test_an_unknown_language_is_an_option_error() -> None:
    with pytest.raises(OptionError, match="language: expected one of 'en', 'zh', got 'zn'; did you mean 'zh' or 'en'"):
        Prompts("llmarena_envs.tictactoe", "zn")


def test_prompts_are_found_wherever_the_process_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "tic-tac-toe" in Prompts("llmarena_envs.tictactoe", "en").render("rules")
    assert "llmarena_envs" in sys.modules


def test_package_without_texts_explains_packaging(tmp_path, monkeypatch):
    (tmp_path / "textless").mkdir()
    (tmp_path / "textless" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for _ in range(2):
        with pytest.raises(PromptError, match=r"textless: expected texts in prompts/en.toml .*package-data"):
            Prompts("textless", "en")
        (tmp_path / "textless" / "prompts").mkdir(exist_ok=True)
