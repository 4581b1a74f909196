# pip: rliable==1.2.0 arch==7.2.0 numpy==2.4.6 scipy==1.17.1 pandas==2.3.3 statsmodels==0.15.0
# pip: absl-py==2.5.1 seaborn==0.13.2 matplotlib==3.11.2
"""Aggregates of runs x tasks and their stratified bootstrap, against rliable (Agarwal et al. 2021).

Point estimates agree to rounding. Ends of bootstrap intervals are random numbers in both programs.
An end of rliable, the quantile q of its N draws, has the rank qN with a standard error of
sqrt(q (1 - q) N), so fovea's quantiles at q -/+ 4 standard errors, from more draws, must enclose it:
a criterion that holds for discrete distributions as well. Where the distribution has no such steps,
the difference must also be at most 1 % of the interval's width, which is about three standard
errors of 50,000 draws. rliable is run with two seeds, whose difference shows its own noise.
"""

import os
import sys
import time

import numpy as np
from rliable import library, metrics

sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # last: this file is called rliable, too
from peer import Driver, relative, report

DRAWS = 50_000  # of rliable
OURS = 500_000
ERRORS = 4  # standard errors
ENDS = (0.025, 0.975)
NAMES = ("mean", "median", "IQM", "optimality gap")

driver = Driver()
rng = np.random.default_rng(22)


# ---- matrices: [runs, tasks] ----


def normal(runs, tasks):
    return rng.normal(0.6, 0.3, (runs, tasks))


def skewed(runs, tasks):
    """Some tasks far above 1, as scores normalised by a human's are."""
    return rng.lognormal(-0.5, 1.2, (runs, tasks)) * rng.lognormal(0, 1, tasks)


def tied(runs, tasks):
    return rng.integers(0, 4, (runs, tasks)) / 2


def accuracies(runs, tasks):
    """1 - error of a thousand cases: many ties, close to 1."""
    return rng.binomial(1000, 0.985, (runs, tasks)) / 1000


def constant(runs, tasks):
    return np.full((runs, tasks), 0.3)


def vast(runs, tasks):
    return rng.normal(0, 1e9, (runs, tasks))


KINDS = (normal, skewed, tied, accuracies, constant, vast)


def of(scores):
    """A matrix as the driver reads it: sizes and task after task."""
    runs, tasks = scores.shape
    return tasks, runs, scores.T


def both(x, y):
    return x.shape[1], x.shape[0], y.shape[0], x.T, y.T


def aggregates(scores):
    return np.array([metrics.aggregate_mean(scores), metrics.aggregate_median(scores),
                     metrics.aggregate_iqm(scores), metrics.aggregate_optimality_gap(scores)])


# ---- point estimates ----


def shapes():
    """Three to fifty runs, one task to many; every remainder of the count of scores modulo 4."""
    yield from ((runs, 1) for runs in range(3, 51))
    yield from ((runs, tasks) for runs in (3, 4, 5, 7, 10, 25, 50) for tasks in (2, 3, 5, 26, 57))


def compare_estimates():
    matrices = [kind(*shape) for kind in KINDS for shape in shapes()]
    ours = driver.ask(*(("aggregates", *of(scores)) for scores in matrices))
    expected = [aggregates(scores) for scores in matrices]
    for i, name in enumerate(NAMES):
        worst = max(relative([a[i]], [b[i]]) for a, b in zip(ours, expected, strict=True))
        report(worst < 1e-12, f"{name} of {len(matrices)} matrices", f"differs by {worst:.1e} at most")


def compare_improvement():
    pairs = [(kind(*shape), kind(int(rng.integers(3, 51)), shape[1]))
             for kind in KINDS for shape in ((3, 1), (4, 2), (10, 1), (10, 5), (50, 1), (7, 26))]
    pairs += [(x, x) for x, _ in pairs[:8]]
    ours = driver.ask(*(("improvement", *both(x, y)) for x, y in pairs))
    worst = max(relative(found, [metrics.probability_of_improvement(x, y)])
                for found, (x, y) in zip(ours, pairs, strict=True))
    report(worst < 1e-12, f"probability of improvement of {len(pairs)} pairs",
           f"differs by {worst:.1e} at most")


def compare_profiles():
    matrices = [kind(*shape) for kind in KINDS for shape in ((3, 1), (10, 5), (50, 26))]
    thresholds = [np.quantile(scores, np.linspace(0, 1, 41)) for scores in matrices]  # ties included
    ours = driver.ask(*(("profile", *of(scores), len(taus), taus)
                        for scores, taus in zip(matrices, thresholds, strict=True)))
    worst = max(relative(found, library.score_distributions(scores, taus))
                for found, scores, taus in zip(ours, matrices, thresholds, strict=True))
    report(worst < 1e-12, f"performance profiles of {len(matrices)} matrices",
           f"differ by {worst:.1e} at most")


# ---- bootstrap intervals ----


def peers_ends(scores, function, draws, seed):
    np.random.seed(seed)  # rliable draws with numpy's global generator
    _, ends = library.get_interval_estimates({"": scores}, function, reps=draws)
    return ends[""]  # [2, numbers]


def our_quantiles(command, draws):
    """[number, end]: the quantile, and those 4 standard errors of both programs away from it."""
    error = {q: ERRORS * (q * (1 - q) * (1 / draws + 1 / OURS)) ** 0.5 for q in ENDS}
    wanted = [q + side * error[q] for q in ENDS for side in (0, -1, 1)]
    found = driver.ask(("quantiles", OURS, 1, len(wanted), wanted, *command))[0]
    return np.reshape(found, (-1, len(ENDS), 3))


def compare_ends(title, names, command, scores, function, draws, steps):
    """names: of the first of the driver's numbers; as many does `function` return.
    steps: the distribution is coarse, neighbouring values may be 1 % of the width apart.
    """
    started = time.time()
    ours = our_quantiles(command, draws)
    first, second = (peers_ends(scores, function, draws, seed) for seed in (1, 2))
    for i, name in enumerate(names):
        width = ours[i, 1, 0] - ours[i, 0, 0]
        slack = 1e-12 * max(1, abs(ours[i]).max())  # rounding, where all draws are equal
        inside = all(low - slack <= end <= high + slack
                     for (_, low, high), end in zip(ours[i], first[:, i], strict=True))
        apart = abs(first[:, i] - ours[i, :, 0]).max()
        noise = abs(first[:, i] - second[:, i]).max()
        right = inside and (steps or apart <= max(0.01 * width, slack))
        report(right, f"{title}, {name}",
               f"ends differ by {100 * apart / width:.2f} % of the width; rliable's from its own with "
               f"another seed by {100 * noise / width:.2f} %" if width > 0 else f"differ by {apart:.1e}")
    print(f"        {draws:,} draws of rliable, twice: {time.time() - started:.0f} s", flush=True)


def compare_intervals():
    for title, scores, draws, steps in (
            ("10 runs of a task", normal(10, 1), DRAWS, False),
            ("7 runs of 5 tasks", skewed(7, 5), DRAWS, False),
            ("5 runs of 26 tasks", skewed(5, 26), DRAWS, False),
            ("50 runs of 3 tasks", normal(50, 3), DRAWS, False),
            ("3 runs of a task", normal(3, 1), 10_000, True),
            ("10 runs of 6 tasks, many ties", tied(10, 6), 10_000, True),
            ("4 runs of 2 tasks, all the same", constant(4, 2), 2_000, True)):
        compare_ends(title, NAMES, ("aggregates", *of(scores)), scores, aggregates, draws, steps)


def compare_improvement_intervals():
    def improvement(x, y):
        return np.array([metrics.probability_of_improvement(x, y)])

    for title, x, y, draws in (
            ("10 runs against 7 of a task", normal(10, 1) + 0.2, normal(7, 1), DRAWS),
            ("50 runs against 20 of a task", normal(50, 1) + 0.1, normal(20, 1), 10_000),
            ("5 runs against 5 of 3 tasks, ties", tied(5, 3), tied(5, 3), 5_000)):
        compare_ends(title, ("probability of improvement",), ("improvement", *both(x, y)), [x, y],
                     improvement, draws, True)


def compare_profile_bands():
    """A band at tau is the bootstrap of the mean over the matrix of [score > tau]."""
    scores = normal(10, 5)
    for tau in (0.3, 0.6, 0.9):
        above = (scores > tau).astype(float)
        compare_ends(f"profile of 10 runs of 5 tasks above {tau}", ("band",),
                     ("aggregates", *of(above)), scores,
                     lambda drawn, tau=tau: library.score_distributions(drawn, [tau]), 10_000, True)


compare_estimates()
compare_improvement()
compare_profiles()
compare_intervals()
compare_improvement_intervals()
compare_profile_bands()
