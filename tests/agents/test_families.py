import pytest

from agents.families import family_of


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("openai:gpt-4o:base_url=http://server/deepseek", "OpenAI"),
        ("openai:o3-mini", "OpenAI"),
        ("hf:meta-llama/Llama-3-70b", "Meta"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "DeepSeek"),
        ("Qwen2.5-72B", "Alibaba"),
        ("echo", ""),
        ("openai:acme-7b", ""),
    ],
)
def test_family_of_a_name_is_its_maker_or_unknown(name, family):
    assert family_of(name) == family


def test_family_of_a_users_table_comes_first():
    own = {"acme": "Acme", "our judge": "Acme", "gpt": "Other"}
    assert [family_of(name, own) for name in ("openai:acme-7b", "Our judge", "gpt-4o")] == ["Acme", "Acme", "Other"]
