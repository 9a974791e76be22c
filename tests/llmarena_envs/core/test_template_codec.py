"""The codec of games whose texts are a dict of templates, on the example game."""

import pytest

from llmarena_envs.core.failures import InvalidReply, Reason
from llmarena_envs.core.prompts import PromptError, Prompts
from llmarena_envs.core.template_codec import TemplateCodec
from llmarena_envs.example_game import PROMPTS, NimView, env

VIEW = NimView("player_0", True, (0, 1), 2)


def codec(prompts=PROMPTS, names=("1", "2", "3")) -> TemplateCodec[NimView]:
    return TemplateCodec[NimView](prompts, names, "/somewhere/nim.py", sticks=21)


def test_texts_hold_the_fields_of_the_view() -> None:
    assert (
        codec()
        .rules("player_1")
        .startswith("You are player_1 in a game of Nim. Take 1, 2 or 3 of at most 21 sticks in turn.")
    )
    assert codec().observation(VIEW).startswith("There are 2 sticks left.\nIt is your turn.")
    assert "with one of 1, 2 in place of <number>" in codec().observation(VIEW)
    waiting = VIEW._replace(to_move=False, legal=(), sticks=1)
    assert codec().observation(waiting) == "There is 1 stick left.\nIt is not your turn."


@pytest.mark.parametrize(
    "reply", ["take: 2", "I think.\n**Take:** 2", "2", '{"take": 2}', "<answer>2</answer>", "TAKE: 2."]
)
def test_read_accepts_the_label_and_the_bare_name(reply: str) -> None:
    assert codec().read(reply, VIEW) == 1


@pytest.mark.parametrize(
    "reply", ["take: 12", "take: 2.5", "take: -2", "take: 2nd", "I might take 2 sticks later.", "1\n2"]
)
def test_read_refuses_other_replies(reply: str) -> None:
    with pytest.raises(InvalidReply, match="take: 1"):
        codec().parse(reply, VIEW)


def test_read_names_with_a_common_beginning() -> None:
    names = codec(names=("up", "up left", "(1, 2)"))
    for action, name in enumerate(names.action_names):
        assert names.read(f"take: {name.upper()}", VIEW) == action
        assert names.read(names.format(action, VIEW), VIEW) == action


@pytest.mark.parametrize("name", ["rules", "observation", "instruction", "wait", "action"])
def test_mistyped_text_names_the_file_and_the_nearest_name(name: str) -> None:
    mistyped = name[:-2] + name[-1]
    with pytest.raises(PromptError, match=f"^nim.py: no text '{name}'; the nearest name is '{mistyped}'$"):
        codec({mistyped if key == name else key: text for key, text in PROMPTS.items()})


def test_mistyped_reason_names_the_file_and_the_nearest_name() -> None:
    with pytest.raises(PromptError, match=r"^nim.py: no text 'reason_too_many'; the nearest name is 'reason_to_many'$"):
        codec({**PROMPTS, "reason_to_many": "too many"}).explain(Reason("too_many"), VIEW)


def test_unknown_placeholder_names_the_file_and_the_fields() -> None:
    with pytest.raises(
        PromptError, match=r"^nim.py \[observation\]: unknown placeholder \{stick\}; this text may use .*'sticks'"
    ):
        codec({**PROMPTS, "observation": "{stick}"}).observation(VIEW)


def test_picture_shows_each_agent_if_texts_differ() -> None:
    match = env(sticks=4)
    match.reset(seed=0)
    game = match.unwrapped.game
    assert codec().picture(game) == f"There are {game.sticks} sticks left."
    seen = codec({**PROMPTS, "observation": "{agent} sees {sticks}."}).picture(game)
    assert seen == f"player_0: player_0 sees {game.sticks}.\nplayer_1: player_1 sees {game.sticks}."


def test_illegal_action_is_explained_by_default() -> None:
    match = env(sticks=4)
    match.reset(seed=1)
    raw = match.unwrapped
    raw.game.sticks = 1
    with pytest.raises(InvalidReply, match=r"^that move is not legal now$"):
        raw.parse("take: 3", "player_0")


def test_texts_of_files_have_their_language(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "sticks" / "prompts"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    for language in ("en", "zh"):
        lines = [f"{name} = '''{text}'''\n" for name, text in {**PROMPTS, "rules": language}.items()]
        (folder / f"{language}.toml").write_text("".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    chinese = codec(Prompts("sticks", "zh"))
    assert (chinese.language, chinese.rules("player_0")) == ("zh", "zh")
    assert chinese.explain(Reason("not_legal"), VIEW) == "现在不能这样行动"
