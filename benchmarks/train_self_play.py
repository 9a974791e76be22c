"""Trains a transformer or a language model by self-play, and rates every checkpoint with the harness.

    python -m benchmarks.train_self_play --out self-play
    python -m benchmarks.train_self_play --game openspiel/kuhn_poker --seed 1 --out kuhn --picture kuhn/curve
    python -m benchmarks.train_self_play --planted-collapse --out collapse
    python -m benchmarks.train_self_play --hidden 512 --layers 6 --heads 8 --device cuda --out large  # 19 million weights
    python -m benchmarks.train_self_play --model Qwen/Qwen3-0.6B --learning-rate 1e-4 --device cuda --out qwen

1. Warm start: the network imitates matches of the scripted policies of the game.
2. Self-play: PPO (Schulman et al., arXiv 1707.06347). A match is against the latest network, an earlier checkpoint or a
   scripted policy. The baseline of an advantage is the mean reward of its seat (role-conditioned, as in SPIRAL, arXiv
   2506.24119) plus the value head of the seat.
3. Rating: every few updates the checkpoint joins the pool of opponents and the rated run in ``OUT/ratings``. It also plays the
   same held-out deals against every scripted policy, to detect a collapse: a significant fall of this score. The self-play
   reward cannot show one: in a zero-sum game its mean over both seats is 0. A fall has other causes too: close to an
   equilibrium, a player exploits weak policies less. In Kuhn poker the exploitability decides.

Checkpoints are policies of the harness:
``benchmarks.self_play.checkpoints:checkpoint:path=OUT/checkpoints/update-0032.safetensors``.

``--model`` trains LoRA weights of a language model, which reads the match as text and answers with the label of a move.

Needs ``pip install 'llmarena-envs[local,plots]'``, ``openspiel`` for its games, and ``trl`` for ``--model``.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.options import option, parse
from benchmarks.self_play.checkpoints import load, save
from benchmarks.self_play.evaluation import CollapseDetector, RatedRun, evaluate, exploitability, progress, seeded
from benchmarks.self_play.games import SEATS, SETTINGS
from benchmarks.self_play.language_model import LanguageModel
from benchmarks.self_play.matches import Match, Player, Record, legal_mask, play
from benchmarks.self_play.network import Network, Transformer, padded
from llmarena_envs.core.options import OptionError, check_choice, check_int
from rating.cli.flags import check_extra
from rating.stats.estimates import Floats, mean_estimate

PASSES = 3
"""Passes over the imitated matches."""

EPOCHS = 2
"""Passes over the matches of an update."""

CLIP = 0.2
"""Clipping range of the probability ratio."""

DECAY = 0.95
"""Weight of the past in the mean reward of a seat."""

LEVEL = 0.05
"""Maximum probability of a false flag over the training."""


@dataclass(frozen=True)
class Options:
    """Options of the training."""

    game: str = option("tictactoe_v0", "tictactoe_v0, connect_four_v0, openspiel/kuhn_poker or bid_v0")
    seed: int = option(0, "seed of everything")
    imitated: int = option(3000, "scripted matches to imitate", smoke=40)
    updates: int = option(256, "updates of self-play", smoke=4)
    matches: int = option(128, "matches of an update", smoke=8)
    imitation_rate: float = option(1e-3, "learning rate of the warm start")
    learning_rate: float = option(1e-3, "learning rate of self-play")
    entropy: float = option(0.02, "weight of the entropy bonus")
    latest: float = option(0.5, "weight of the latest network among the opponents")
    earlier: float = option(0.25, "weight of earlier checkpoints, uniformly")
    scripted: float = option(0.25, "weight of scripted policies, uniformly")
    rate_every: int = option(32, "updates between two checkpoints", smoke=2)
    rated: int = option(200, "maximum rated matches of a checkpoint", smoke=6)
    deals: int = option(100, "held-out deals of each checkpoint against each scripted policy, on both seats", smoke=3)
    planted_collapse: bool = option(False, "no entropy bonus and ten times the learning rate in the second half")
    hidden: int = option(96, "width of the network", smoke=16)
    layers: int = option(2, "layers of the network", smoke=1)
    heads: int = option(4, "attention heads", smoke=2)
    model: str = option(
        "", "language model to train in place of the network: a directory, or a name in the hub's cache"
    )
    rank: int = option(16, "rank of the LoRA weights of the language model")
    device: str = option("cpu", "device of the network in training, e.g. cuda")
    out: str = option("self-play", "new directory of the results")
    picture: str = option("", "file to draw the curve in, as PNG and SVG, without their endings")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


# Learning


def decisions_of(records: Sequence[Record], device: torch.device) -> tuple[Tensor, ...]:
    """Returns padded sequences, and for each decision its sequence, the last token before it, its action and its seat."""
    decisions = [
        (row, place, action, record.seat)
        for row, record in enumerate(records)
        for place, action in zip(record.places, record.actions, strict=True)
    ]
    columns = torch.tensor(decisions, device=device).T
    return padded([record.tokens for record in records], device), *columns


class RoleBaselines:
    """The mean reward of each seat, moving with ``DECAY``: the baseline of the seat's advantages."""

    def __init__(self) -> None:
        self.means: list[float | None] = [None] * SEATS

    def add(self, records: Sequence[Record]) -> None:
        """Adds the rewards of matches."""
        for seat in range(SEATS):
            rewards = [record.reward for record in records if record.seat == seat]
            if rewards:
                now, before = float(np.mean(rewards)), self.means[seat]
                self.means[seat] = now if before is None else DECAY * before + (1 - DECAY) * now

    def advantage(self, record: Record) -> float:
        """Returns the reward of a seat beyond the usual reward of this seat."""
        return record.reward - (self.means[record.seat] or 0.0)


def imitate(network: Network, records: Sequence[Record], rate: float, rng: np.random.Generator) -> list[float]:
    """Trains the network to choose the recorded actions among all actions, and returns the losses."""
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    losses = []
    for _ in range(PASSES):
        for rows in _minibatches(len(records), 64, rng):
            tokens, sequences, places, actions, _ = decisions_of([records[row] for row in rows], network.device)
            logits, _ = network(tokens)
            loss = functional.cross_entropy(logits[sequences, places], actions)
            _step(network, optimizer, loss)
            losses.append(loss.item())
    return losses


def update(
    network: Network,
    optimizer: torch.optim.Optimizer,
    records: Sequence[Record],
    baselines: RoleBaselines,
    options: Options,
    rng: np.random.Generator,
) -> float:
    """Makes one update of PPO, and returns the mean entropy of the decisions."""
    baselines.add(records)
    residuals = {record: baselines.advantage(record) for record in records}
    scale = float(np.std([residuals[record] - value for record in records for value in record.values])) + 1e-6
    device, entropies = network.device, []
    for _ in range(EPOCHS):
        for rows in _minibatches(len(records), -(-len(records) // 4), rng):
            chosen = [records[row] for row in rows]
            tokens, sequences, places, actions, seats = decisions_of(chosen, device)
            # The value head predicts the reward beyond the mean of the seat.
            targets = torch.tensor([residuals[record] for record in chosen], device=device)[sequences]
            values_before = torch.tensor([value for record in chosen for value in record.values], device=device)
            logs_before = torch.tensor([log for record in chosen for log in record.logs], device=device)
            mask = legal_mask([legal for record in chosen for legal in record.legal], network.setting.actions)
            logits, values = network(tokens)
            logs = functional.log_softmax(logits[sequences, places].masked_fill(~mask.to(device), -1e9), dim=-1)
            ratio = (logs.gather(1, actions[:, None])[:, 0] - logs_before).exp()
            advantages = (targets - values_before) / scale
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            gain = torch.minimum(ratio * advantages, clipped * advantages).mean()
            entropy = -(logs.exp() * logs).sum(-1).mean()
            value_loss = (values[sequences, places, seats] - targets).square().mean()
            _step(network, optimizer, 0.5 * value_loss - gain - options.entropy * entropy)
            entropies.append(entropy.item())
    return float(np.mean(entropies))


def _step(network: Network, optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 0.5)
    optimizer.step()


def _minibatches(count: int, size: int, rng: np.random.Generator) -> list[list[int]]:
    order = rng.permutation(count).tolist()
    return [order[start : start + size] for start in range(0, count, size)]


# The training


class Training:
    """The state of a training.

    Args:
        options: its options.
    """

    def __init__(self, options: Options) -> None:
        torch.manual_seed(options.seed)
        self.options = options
        self.setting = SETTINGS[options.game]
        self.rng = np.random.default_rng(options.seed)
        self.generator = seeded(options.seed, 0)
        self.network: Network = (
            LanguageModel(self.setting, options.model, options.rank, options.device)
            if options.model
            else Transformer(self.setting, options.hidden, options.layers, options.heads).to(options.device)
        )
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=options.learning_rate)
        self.baselines = RoleBaselines()
        self.earlier: list[Network] = []
        self._deal = 0

    def imitate(self) -> list[float]:
        """Imitates matches between scripted policies."""
        scripted = list(self.setting.scripted.values())
        matches = [
            self._match([scripted[index] for index in self.rng.integers(len(scripted), size=SEATS)])
            for _ in range(self.options.imitated)
        ]
        play(self.setting, matches, self.generator)
        records = [record for match in matches for record in match.records if record.actions]
        return imitate(self.network, records, self.options.imitation_rate, self.rng)

    def update(self) -> dict[str, float]:
        """Plays matches with the pool and makes one update.

        Returns:
            ``self_play``, the mean reward of both seats in matches of the latest network with itself; ``first_seat``, the mean
            of the first one there; ``pool``, the mean reward against other opponents; ``entropy``; ``legal``, the share of
            legal moves before masking.
        """
        options = self.options
        weights = np.array([options.latest, options.earlier, options.scripted])
        scripted = list(self.setting.scripted.values())
        matches = []
        for number in range(options.matches):
            kind = self.rng.choice(3, p=weights / weights.sum())
            pool: Sequence[Player] = ([self.network], self.earlier, scripted)[kind]
            opponent = pool[int(self.rng.integers(len(pool)))]
            matches.append(self._match([self.network, opponent][:: 1 if number % 2 == 0 else -1]))
        play(self.setting, matches, self.generator)
        mirrored, own, against = [], [], []
        for match in matches:
            records = [record for record in match.records if match.players[record.seat] is self.network]
            if len(records) == SEATS:
                mirrored.append(match)
            else:
                against += [record.reward for record in records]
            own += [record for record in records if record.actions]
        entropy = update(self.network, self.optimizer, own, self.baselines, options, self.rng)
        return {
            "self_play": _mean([record.reward for match in mirrored for record in match.records]),
            "first_seat": _mean([match.records[0].reward for match in mirrored]),
            "pool": _mean(against),
            "entropy": entropy,
            "legal": _mean([share for record in own for share in record.legal_shares]),
        }

    def plant_collapse(self) -> None:
        """Switches the entropy bonus off, and makes the learning rate ten times as large."""
        self.options = replace(self.options, entropy=0.0)
        for group in self.optimizer.param_groups:
            group["lr"] *= 10

    def _match(self, players: Sequence[Player]) -> Match:
        self._deal += 1
        return Match(self.setting, players, (self.options.seed, 0, self._deal))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


# The course of a training


def run(options: Options) -> dict[str, Any]:
    """Trains and rates.

    Returns:
        ``options``; ``weights``, the number of weights; ``imitation_loss``, the first and the last; ``updates``, see
        ``Training.update``; ``checkpoints``, each with its ``rating`` in the end, ``score`` against the scripted policies,
        ``win_rate`` against imitation and ``better``, the better one of both, ``exploitability`` in OpenSpiel's games, and
        ``fall``, the evidence that its score is below an earlier one; ``flagged``, the update whose checkpoint was first
        flagged; ``ladder``, the ratings of the scripted policies; ``change`` of the score from imitation to the end; ``seconds``.

    Raises:
        OptionError: if an option is invalid.
    """
    check_choice("game", options.game, SETTINGS)
    for name in ("imitated", "matches", "rate_every", "rated", "deals"):
        check_int(name, getattr(options, name), 1, 10**6)
    out = Path(options.out)
    if out.exists() and any(out.iterdir()):
        raise OptionError(f"--out: expected a new or empty directory, got {out}")
    torch.set_num_threads(1)  # for reproducible networks
    start = time.perf_counter()
    training = Training(options)
    setting, earlier = training.setting, training.earlier
    ratings = RatedRun(out / "ratings", setting, options.seed, options.rated, options.device)
    detector = CollapseDetector(LEVEL, max(1, options.updates // options.rate_every))
    losses = training.imitate()
    updates: list[dict[str, float]] = []
    checkpoints: list[dict[str, Any]] = []
    scores: list[Floats] = []
    for number in range(options.updates + 1):
        if number == options.updates // 2 + 1 and options.planted_collapse:
            training.plant_collapse()
        if number:
            updates.append(training.update())
            print(_update_line(number, updates[-1]), flush=True)
        if number % options.rate_every:
            continue
        name = f"update-{number:04}"
        path = out / "checkpoints" / f"{name}.safetensors"
        save(training.network, path)
        earlier.append(load(path, options.device))
        board = ratings.add(name, path)
        scores.append(evaluate(setting, earlier[-1], options.deals, options.seed))
        win = progress(setting, earlier[-1], earlier[0], options.deals, options.seed) if number else None
        checkpoints.append(
            {
                "name": name,
                "update": number,
                "rating": board[name],
                "score": _interval(scores[-1]),
                "win_rate": [win.win_rate.value, win.win_rate.low, win.win_rate.high] if win else None,
                "better": win and {"new": name, "old": checkpoints[0]["name"], None: None}[win.better],
                "exploitability": exploitability(earlier[-1]),
                "fall": detector.add(number, scores[-1]),
            }
        )
        print(f"{' | '.join(_row(checkpoints[-1]))}{flag_line(detector.flagged)}", flush=True)
    return {
        "options": asdict(options),
        "weights": sum(weight.numel() for weight in training.network.parameters()),
        "imitation_loss": [losses[0], losses[-1]],
        "updates": updates,
        "checkpoints": [{**own, "rating": board[own["name"]]} for own in checkpoints],
        "flagged": detector.flagged,
        "ladder": {spec: board[spec] for spec in setting.ladder},
        "change": _interval(scores[-1] - scores[0]),
        "seconds": time.perf_counter() - start,
    }


def _interval(values: Floats) -> list[float | None]:
    estimate = mean_estimate(values.tolist())
    assert estimate is not None
    return [*estimate[:3]]


def _update_line(number: int, own: Mapping[str, float]) -> str:
    return (
        f"update {number:4}  self-play reward {own['self_play']:+.3f}  (first seat {own['first_seat']:+.2f})"
        f"  pool {own['pool']:+.3f}  entropy {own['entropy']:.3f}  legal {own['legal']:.1%}"
    )


def written(interval: Sequence[float | None] | None, form: str = ".3f") -> str:
    """Returns a value with its interval."""
    value, low, high = ("-" if number is None else format(number, form) for number in interval or [None] * 3)
    return f"{value} ({low} to {high})" if interval else ""


def flag_line(flagged: int | None) -> str:
    """Returns the statement about a collapse; empty without one."""
    return "" if flagged is None else f"  Flagged at update {flagged}: the score had fallen significantly."


HEADER = (
    "policy",
    "rating",
    "score against scripted",
    "win rate against imitation",
    "better",
    "exploitability",
    "fall, e",
)


def _row(own: Mapping[str, Any]) -> tuple[str, ...]:
    exploited, better = own["exploitability"], own["better"]
    return (
        own["name"],
        written(own["rating"], ".4g"),
        written(own["score"]),
        written(own["win_rate"]),
        "" if own["win_rate"] is None else better or "undecided",
        "" if exploited is None else f"{exploited:.3f}",
        f"{own['fall']:.3g}",
    )


def summary(result: Mapping[str, Any]) -> str:
    """Returns the result as Markdown."""
    options, blank = result["options"], [""] * (len(HEADER) - 2)
    ladder = [(spec, written(own, ".4g"), *blank) for spec, own in result["ladder"].items()]
    rows = [HEADER, ["---"] * len(HEADER), *ladder, *map(_row, result["checkpoints"])]
    return "\n".join(
        [
            f"# {options['game']}, seed {options['seed']}",
            "",
            f"{result['weights']:,} weights, {options['updates']} updates of {options['matches']} matches, "
            f"{result['seconds']:.0f} seconds.",
            "",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
            f"Change of the score from imitation: {written(result['change'])}.",
            flag_line(result["flagged"]).strip() or "No significant fall of the score.",
            "",
        ]
    )


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Draws rating and score over the updates, with intervals; dashed lines are scripted policies, a red line the flag."""
    from benchmarks.experiments import pictures  # Matplotlib is needed for a picture only

    checkpoints = result["checkpoints"]
    updates = [own["update"] for own in checkpoints]
    labels = {"rating": "rating, 95 % interval", "score": "score against scripted policies"}
    with pictures.axes(columns=2) as (figure, fields):
        for axes, (name, label) in zip(fields, labels.items(), strict=True):
            values = [own[name] for own in checkpoints]
            # An interval without a limit is drawn without a bar.
            bars = [[0.0 if own[end] is None else abs(own[end] - own[0]) for own in values] for end in (1, 2)]
            axes.errorbar(updates, [own[0] for own in values], bars, color=pictures.COLOURS[0], marker="o", capsize=3)
            axes.set_xlabel("update")
            axes.set_ylabel(label)
        for number, (spec, own) in enumerate(result["ladder"].items()):
            colour, (side, x) = pictures.COLOURS[5 - number], (("left", 0), ("right", updates[-1]))[number % 2]
            fields[0].axhline(own[0], color=colour, linestyle="--", linewidth=1)
            fields[0].text(x, own[0], pictures.plain(spec), color=colour, ha=side, va="bottom", fontsize="small")
        if result["flagged"] is not None:
            fields[1].axvline(result["flagged"], color=pictures.COLOURS[1], label="first significant fall")
            fields[1].legend(frameon=False, fontsize="small")
        pictures.save(figure, path)


def main() -> None:
    """Trains, rates, prints the course, and writes the results."""
    options = parse(Options, __doc__)
    try:
        if options.picture:
            check_extra("--picture needs", "plots", "matplotlib")
        result = run(options)
    except OptionError as error:
        sys.exit(str(error))
    out = Path(options.out)
    (out / "curve.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (out / "summary.md").write_text(summary(result), encoding="utf-8")
    print(summary(result))
    if options.picture:
        draw(result, Path(options.picture))


if __name__ == "__main__":
    main()
