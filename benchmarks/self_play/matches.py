"""Matches of networks and scripted policies, played in batches."""

import copy
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from agents.policy import ScriptedPolicy
from benchmarks.self_play.games import SEATS, Setting
from benchmarks.self_play.network import Network
from llmarena_envs.core.game import Game

Player = Network | ScriptedPolicy


@dataclass(eq=False)
class Record:
    """The decisions of a seat in a match.

    Attributes:
        seat: its index.
        tokens: the sequence at the last decision; earlier decisions saw its beginnings.
        places: index of the last token before each decision.
        actions: chosen actions.
        legal: legal actions at each decision.
        logs: log probability of each action, among the legal ones.
        values: value of the seat at each decision.
        legal_shares: probability of all legal actions before masking.
        reward: total reward.
    """

    seat: int
    tokens: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    legal: list[Sequence[int]] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    legal_shares: list[float] = field(default_factory=list)
    reward: float = 0.0


class Match:
    """A match of two players.

    Args:
        setting: the game.
        players: by seat; scripted policies are copied.
        deal: seed of the deal and of the scripted policies.
    """

    def __init__(self, setting: Setting, players: Sequence[Player], deal: Sequence[int]) -> None:
        self.game = copy.copy(setting.game)
        self.game.reset(np.random.default_rng(deal))
        self.players = [player if isinstance(player, Network) else copy.copy(player) for player in players]
        for seat, player in enumerate(self.players):
            if isinstance(player, ScriptedPolicy):
                player.reset(self.game.agents[seat], int(np.random.SeedSequence([*deal, seat]).generate_state(1)[0]))
        self.records = [Record(seat) for seat in range(SEATS)]


def play(setting: Setting, matches: Sequence[Match], generator: torch.Generator) -> None:
    """Plays all matches to their ends at once: a forward pass of each network for all seats to move."""
    while under_way := [match for match in matches if match.game.to_move]:
        asked: dict[Network, list[Record]] = defaultdict(list)
        turns = []
        for match in under_way:
            movers = []
            for agent in match.game.to_move:
                record = match.records[match.game.agents.index(agent)]
                player, view = match.players[record.seat], match.game.view(agent)
                record.tokens = setting.tokens(view)
                record.places.append(len(record.tokens) - 1)
                record.legal.append(view.legal)
                if isinstance(player, Network):
                    asked[player].append(record)
                else:
                    record.actions.append(_ask(player, match.game, agent))
                movers.append(record)
            turns.append((match, movers))
        for network, records in asked.items():
            _decide(network, records, generator)
        for match, movers in turns:
            match.game.apply(tuple([record.actions[-1] for record in movers]))
            for record, reward in zip(match.records, match.game.rewards, strict=True):
                record.reward += reward


def _ask(policy: ScriptedPolicy, game: Game[Any, Any], agent: str) -> int:
    if policy.reads == "draw":
        return int(policy(lambda rng: game.random_action(agent, rng)))
    if policy.reads == "position":
        return int(policy(lambda rng: game.sampled(agent, rng)))
    return int(policy(game.view(agent)))


def _decide(network: Network, records: Sequence[Record], generator: torch.Generator) -> None:
    """Samples the next action of each record."""
    logits, values = network.decide([record.tokens for record in records])
    mask = legal_mask([record.legal[-1] for record in records], logits.shape[1])
    shares = (functional.softmax(logits, dim=-1) * mask).sum(-1).tolist()
    logs = functional.log_softmax(logits.masked_fill(~mask, -math.inf), dim=-1)
    actions = torch.multinomial(logs.exp(), 1, generator=generator)
    chosen = zip(records, actions[:, 0].tolist(), logs.gather(1, actions)[:, 0].tolist(), values, shares, strict=True)
    for record, action, log, value, share in chosen:
        record.actions.append(action)
        record.logs.append(log)
        record.values.append(value[record.seat].item())
        record.legal_shares.append(share)


def legal_mask(legal: Sequence[Sequence[int]], actions: int) -> Tensor:
    """Returns the legal actions as a mask (rows, actions)."""
    mask = torch.zeros(len(legal), actions, dtype=torch.bool)
    for row, own in enumerate(legal):
        mask[row, list(own)] = True
    return mask
