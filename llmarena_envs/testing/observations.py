"""Rules about spaces, observations and masks."""

import copy
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.transcript import expect_equal, plain, snapshot
from llmarena_envs.testing.trial import Trial, act_and_finish_stage, agents_to_move, is_over, random_move

TRIED = 4
"""Number of legal and of illegal actions tried at one position."""


def metadata_is_complete(trial: Trial) -> None:
    """``metadata`` has name and version of the environment, its render modes and whether it is parallelizable."""
    metadata = trial.make().metadata
    name = metadata.get("name", "")
    base, _, version = name.rpartition("_v")
    trial.expect(base and version.isdigit(), "a name such as tictactoe_v0", name)
    modes = metadata.get("render_modes", [])
    trial.expect({"ansi", "human"} <= set(modes), "render modes 'ansi' and 'human'", modes)
    parallelizable = metadata.get("is_parallelizable")
    trial.expect(isinstance(parallelizable, bool), "is_parallelizable as True or False", parallelizable)
    if trial.parallel_env_fn is not None:
        trial.expect(parallelizable, "is_parallelizable = True, as there is a parallel_env", parallelizable)


def spaces_are_the_same_objects_for_life(trial: Trial) -> None:
    """``observation_space`` and ``action_space`` return the same objects at every call and after every reset."""
    env = trial.make()
    spaces = {agent: (env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents}
    for seed in trial.seeds:
        for _ in trial.play(env, seed):
            for agent, (observation_space, action_space) in spaces.items():
                same = env.observation_space(agent) is observation_space and env.action_space(agent) is action_space
                trial.expect(same, "the spaces of the beginning", "other objects", agent)


def observations_have_the_agreed_keys(trial: Trial) -> None:
    """The keys are ``rules``, ``text`` (and ``action_mask`` beside ``Discrete`` actions), or ``observation``, ``action_mask``.

    Texts are not blank. Text observations also have ``fresh_history`` if the environment has such turns.
    """
    for env in trial.positions():
        for agent in env.possible_agents:
            observation = env.observe(agent)
            discrete = isinstance(env.action_space(agent), Discrete)
            types: dict[str, type]
            if "text" in observation:
                types = {"rules": str, "text": str} | ({"action_mask": np.ndarray} if discrete else {})
                types |= {"fresh_history": int} if env.unwrapped.fresh_turns else {}
            else:
                types = {"observation": np.ndarray, "action_mask": np.ndarray}
            came = {key: type(value) for key, value in observation.items()}
            trial.expect(list(came.items()) == list(types.items()), f"{types} in this order", came, agent)
            blank = [key for key, said in observation.items() if isinstance(said, str) and not said.strip()]
            trial.expect(not blank, "texts that say something", f"nothing in {blank}", agent)


def observations_are_in_their_spaces(trial: Trial) -> None:
    """``observe`` returns a member of the space for every agent at any time, also after the end."""
    for env in trial.positions():
        for agent in env.possible_agents:
            observation, space = env.observe(agent), env.observation_space(agent)
            trial.expect(space.contains(observation), f"a member of {space}", observation, agent)


def views_never_change(trial: Trial) -> None:
    """A view does not change with later moves."""
    for seed in trial.seeds:
        env, taken = trial.make(), []
        for _ in trial.play(env, seed):
            views = [env.unwrapped.view(agent) for agent in env.possible_agents]
            taken += [(view, plain(view)) for view in views]
        for view, said in taken:
            expect_equal(trial, said, plain(view), "a view that stays as it was", view.agent)


def observations_never_change(trial: Trial) -> None:
    """An observation does not change with later moves: arrays are not reused for the next observation."""
    for seed in trial.seeds:
        env, taken = trial.make(), []
        for _ in trial.play(env, seed):
            observed = [(agent, env.observe(agent)) for agent in env.possible_agents]
            taken += [(agent, observation, plain(observation)) for agent, observation in observed]
        for agent, observation, said in taken:
            expect_equal(trial, said, plain(observation), "an observation that stays as it was", agent)


def chats_alternate_and_end_with_the_user(trial: Trial) -> None:
    """A ``codec.chat(view)`` begins with ``system``; ``user`` and ``assistant`` alternate, ``user`` is last; none is blank."""
    for env in trial.positions():
        raw = env.unwrapped
        for agent in agents_to_move(env) if isinstance(raw, TextEnv) and not is_over(env) else ():
            chat = raw.codec.chat(raw.view(agent))
            if chat is not None:
                roles = [message.role for message in chat]
                expected = ["system", "user", *["assistant", "user"] * (len(chat) // 2 - 1)]
                expect_equal(trial, expected, roles, "the roles of the chat", agent)
                trial.expect(all(message.content.strip() for message in chat), "no blank message", chat, agent)


def rules_texts_stay_the_same(trial: Trial) -> None:
    """The system prompt ``rules`` of an agent is the same at every turn of a match."""
    for seed in trial.seeds:
        env = trial.make()
        told: dict[str, str] = {}
        for _ in trial.play(env, seed):
            for agent in env.possible_agents:
                rules = env.observe(agent).get("rules", "")
                expect_equal(trial, told.setdefault(agent, rules), rules, "rules", agent)


def masks_of_waiting_agents_are_zero(trial: Trial) -> None:
    """The mask of an agent that is not to move is all zeros; the selected agent's is not."""
    for env in trial.positions():
        moving = agents_to_move(env)
        for agent in env.possible_agents:
            mask = env.observe(agent).get("action_mask")
            if mask is None:
                continue
            trial.expect(
                bool(mask.any()) == (agent in moving), f"a mask for {moving} only, who are to move", mask, agent
            )


def masks_show_exactly_the_legal_actions(trial: Trial) -> None:
    """Actions with a 1 in the mask are accepted by ``step``, actions with a 0 forfeit; a few of each are tried."""
    for env in trial.positions():
        mask = None if is_over(env) else env.observe(env.agent_selection).get("action_mask")
        if mask is None:
            continue
        for legal in (True, False):
            actions = np.flatnonzero(mask == legal)
            for action in _rng(trial).permutation(actions)[:TRIED].tolist():
                _try(trial, copy.deepcopy(env), action, legal)


def _rng(trial: Trial) -> np.random.Generator:
    return np.random.default_rng([trial.seed or 0, trial.turn or 0])


def _try(trial: Trial, env: Any, action: int, legal: bool) -> None:
    agent = env.agent_selection
    act_and_finish_stage(env, action, _rng(trial))
    accepted = not env.infos[agent]["illegal"]
    verdict = {True: "accepted", False: "a forfeit"}
    trial.expect(
        accepted == legal, f"action {action} (mask {int(legal)}) to be {verdict[legal]}", verdict[accepted], agent
    )


def endings_are_stated(trial: Trial) -> None:
    """The text after a match is not that of a running one, tells an own forfeit from another's, and stays the same."""
    for seed in trial.seeds:
        for forfeit_at in (None, 1 + seed % 2):
            env = trial.make()
            if not isinstance(env.unwrapped, TextEnv) or env.unwrapped.obs_type != "text":
                return
            _play_to_the_end(trial, env, seed, forfeit_at)
            texts = {agent: _expect_ending(trial, env.unwrapped, agent) for agent in env.possible_agents}
            env.step(None)
            after = {agent: env.observe(agent)["text"] for agent in env.possible_agents}
            expect_equal(trial, texts, after, "the texts after the first agent has left")


def _expect_ending(trial: Trial, env: TextEnv, agent: str) -> str:
    """Expects that the text of an agent states the end of the match, and returns it."""
    view, ending, text = env.view(agent), env.ending(agent), str(env.observe(agent)["text"])
    trial.expect(text != env.codec.observation(view), "a text that states the end", text, agent)
    if ending and ending.offenders:
        another = next(each for each in env.possible_agents if (each == agent) != (agent in ending.offenders))
        distinct = text != env.codec.ending(view, ending._replace(offenders=(another,)))
        trial.expect(distinct, f"a text that says whether {agent} is one of {ending.offenders}", text, agent)
    return text


def _play_to_the_end(trial: Trial, env: Any, seed: int, forfeit_at: int | None) -> None:
    """Plays a match of random moves until it is over; the agent of turn ``forfeit_at`` forfeits it."""

    def move(env: Any, rng: np.random.Generator) -> Any:
        return None if trial.turn == forfeit_at else random_move(env, rng)

    for _ in trial.play(env, seed, move):
        if is_over(env):
            break


def pictures_are_drawn(trial: Trial) -> None:
    """With ``render_mode="ansi"`` every position is rendered as text, deterministically."""
    for env in trial.positions(render_mode="ansi"):
        picture = env.render()
        trial.expect(isinstance(picture, str) and picture, "a text", picture)
        expect_equal(trial, plain(picture), plain(env.render()), "the picture")


def stories_are_told_in_scenes(trial: Trial) -> None:
    """``transcript`` returns scenes with agents of the environment, is deterministic and has no side effects."""
    for env in trial.positions():
        raw, before = env.unwrapped, snapshot(env)
        if not hasattr(raw, "transcript"):
            return
        story = raw.transcript()
        strangers = {name for scene in story for name in (scene.speaker, *scene.hidden_from)} - {
            "",
            *env.possible_agents,
        }
        trial.expect(not strangers, f"agents out of {env.possible_agents}", strangers)
        texts = [text for scene in story for text in (scene.heading, scene.text, *scene.marks)]
        trial.expect(all(isinstance(text, str) for text in texts), "texts", texts)
        expect_equal(trial, plain(story), plain(raw.transcript()), "the story")
        expect_equal(trial, before, snapshot(env), "the position unchanged by telling its story")


RULES = (
    metadata_is_complete,
    spaces_are_the_same_objects_for_life,
    observations_have_the_agreed_keys,
    observations_are_in_their_spaces,
    views_never_change,
    observations_never_change,
    chats_alternate_and_end_with_the_user,
    rules_texts_stay_the_same,
    masks_of_waiting_agents_are_zero,
    masks_show_exactly_the_legal_actions,
    pictures_are_drawn,
    stories_are_told_in_scenes,
)
