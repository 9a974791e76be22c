"""What order a Swiss tournament recovers, predicted by a simulation that shares no code with it.

``python -m tests.rating.schemes.swiss_prediction`` prints the mean Spearman correlation of the fitted order with the true one,
and its Monte-Carlo error. The tournament: strengths at even steps, initial scores without any information; the five best
policies outside a pairing judge it, each wrong with its own probability, and the majority decides.
"""

import math
import sys

import numpy as np

POLICIES = 8
ROUNDS = 3
QUESTIONS = 40
STEP = 30.0
"""Elo between neighbours."""

STRENGTHS = STEP * np.arange(POLICIES)
ERRORS = np.array([0.5, 0.5, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])
"""How often each is wrong as a judge: the stronger, the less. With the worst five as judges the result would be 0.05 less."""

PREDICTED = 0.8354
"""Mean Spearman correlation over 8,000 tournaments."""

MONTE_CARLO_ERROR = 0.0014


def matchings(players):
    if not players:
        return [[]]
    first, *others = players
    return [
        [(first, second), *rest] for second in others for rest in matchings([name for name in others if name != second])
    ]


ALL = np.array(matchings(list(range(POLICIES))))


def fit(wins):
    """Bradley-Terry in Elo by plain Newton steps on the log posterior, prior sd 418."""
    size, scale = len(wins), math.log(10) / 400
    games, x = wins + wins.T, np.zeros(len(wins))
    for _ in range(15):
        p = 1 / (1 + np.exp(x[None, :] - x[:, None]))
        weight = games * p * (1 - p)
        curvature = np.diag(weight.sum(1)) - weight + np.eye(size) / (418 * scale) ** 2
        x = x + np.linalg.solve(curvature, (wins - games * p).sum(1) - x / (418 * scale) ** 2)
    return x / scale


def majority_is_wrong(members):
    wrong = np.array([1.0])
    for member in members:
        wrong = np.convolve(wrong, [1 - ERRORS[member], ERRORS[member]])
    return wrong[len(members) // 2 + 1 :].sum()


def tournament(rng):
    """Returns the fitted ratings of one tournament."""
    wins, met = np.zeros((POLICIES, POLICIES)), np.zeros((POLICIES, POLICIES), dtype=bool)
    ratings = rng.permutation(POLICIES).astype(float)
    for number in range(ROUNDS):
        first, second = ALL[..., 0], ALL[..., 1]
        cost = ((ratings[first] - ratings[second]) ** 2).sum(1) + 1e12 * met[first, second].sum(1)
        for a, b in sorted(ALL[cost.argmin()].tolist(), key=lambda pair: -max(ratings[pair[0]], ratings[pair[1]])):
            judges = [int(name) for name in np.argsort(-ratings) if name not in (a, b)][:5]
            better = 1 / (1 + 10 ** ((STRENGTHS[b] - STRENGTHS[a]) / 400))
            wrong = majority_is_wrong(judges)
            won = rng.binomial(QUESTIONS, better * (1 - wrong) + (1 - better) * wrong)
            wins[a, b] += won
            wins[b, a] += QUESTIONS - won
            met[a, b] = met[b, a] = True
            if number:
                ratings = fit(wins)
        ratings = fit(wins)
    return ratings


def spearman(values):
    """Returns the rank correlation of ratings with the strengths, which rise with the index."""
    distance = np.argsort(np.argsort(values)) - np.arange(len(values))
    return 1 - 6 * float((distance**2).sum()) / (len(values) * (len(values) ** 2 - 1))


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 8_000
    rng = np.random.default_rng(2405)
    found = np.array([spearman(tournament(rng)) for _ in range(runs)])
    print(f"{found.mean():.4f} +- {found.std(ddof=1) / math.sqrt(runs):.4f}, sd {found.std(ddof=1):.3f}")
