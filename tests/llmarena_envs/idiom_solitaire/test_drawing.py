"""Pictures of idiom solitaire."""

from llmarena_envs import idiom_solitaire_v0
from tests.support.pictures import shown


def chain(*replies, **options):
    env = idiom_solitaire_v0.raw_env(**{"start": "画龙点睛", "allow_dead_end_start": True, "language": "en", **options})
    env.reset(seed=0)
    for reply in replies:
        env.step(env.parse(reply, env.agent_selection))
    return env


def test_chain_shows_the_author_of_each_idiom():
    env = chain("一心一意", start="始终如一")
    text = shown(env.draw("player_1"))
    assert "始终如一 (referee) → 一心一意 (player_0)" in text
    assert text == shown(env.draw())


def test_judge_sees_only_the_idiom_and_players_only_after_it_lost():
    env = chain("睛大好人", accept_outside=True)
    judge = shown(env.draw("judge_0"))
    assert "睛大好人" in judge and "画龙点睛" not in judge and "player" not in judge
    assert "睛大好人" in shown(env.draw()) and "睛大好人" not in shown(env.draw("player_1"))
    env.step("verdict: no")
    assert "睛大好人" in shown(env.draw("player_1")) and "the judge ruled it out" in shown(env.draw("player_1"))


def test_of_a_long_chain_the_end_is_shown():
    env = chain(start=0, allow_dead_end_start=False, max_turns=1000, language="zh")
    links = env.game.links
    for idiom in links.lexicon.by_rank[:499]:
        env.game.pool = env.game.pool.with_message("idiom", "player_0", idiom)
    text = shown(env.draw("player_0"))
    assert "之前还有 440 条" in text and env.game.chain[-1] in text and env.game.chain[439] not in text
