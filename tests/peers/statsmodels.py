# pip: statsmodels==0.15.0 numpy==2.4.6 scipy==1.17.1 pandas==2.3.3
"""McNemar's and Holm's tests and Wilson's interval, against statsmodels; Student's t, against scipy."""

import os
import sys

import numpy as np
from scipy.stats import t
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # last: this file is called statsmodels
from peer import Driver, relative, report

driver = Driver()
rng = np.random.default_rng(22)


def compare_mcnemar():
    cases = [(a, b) for a in range(12) for b in range(12) if a + b > 0]
    cases += [(30, 55), (200, 260), (1000, 1), (4000, 4100), (0, 900)]
    ours = driver.ask(*(("mcnemar", *case) for case in cases))
    expected = [mcnemar([[0, a], [b, 0]], exact=True).pvalue for a, b in cases]
    worst = max(abs(found[0] / p - 1) for found, p in zip(ours, expected, strict=True))
    report(worst < 1e-9, f"McNemar's exact test of {len(cases)} tables", f"differs by {worst:.1e} at most")


def compare_holm():
    lists = [rng.random(n) ** 4 for n in (1, 2, 3, 5, 10, 40)]
    lists += [np.array([0.01, 0.01, 0.04, 0.04, 1]), np.zeros(3), np.array([0.5, 0.02, 0.02])]
    ours = driver.ask(*(("holm", len(p), p) for p in lists))
    worst = max(relative(found, multipletests(p, method="holm")[1])
                for found, p in zip(ours, lists, strict=True))
    report(worst < 1e-12, f"Holm's test of {len(lists)} lists", f"differs by {worst:.1e} at most")


def compare_intervals():
    counts = [(0, 1), (1, 1), (0, 10000), (169, 10000), (5000, 10000), (10000, 10000), (3, 7)]
    ours = driver.ask(*(("wilson", *count) for count in counts))
    worst = max(relative(found, proportion_confint(*count, alpha=0.05, method="wilson"))
                for found, count in zip(ours, counts, strict=True))
    report(worst < 1e-12, f"Wilson's interval of {len(counts)} counts", f"differs by {worst:.1e} at most")
    freedoms = [*range(1, 101), 1000, 10**6]
    ours = driver.ask(*(("student", n) for n in freedoms))
    worst = max(abs(found[0] - t.ppf(0.975, n)) for found, n in zip(ours, freedoms, strict=True))
    report(worst < 1e-9, f"Student's quantile of {len(freedoms)} degrees of freedom",
           f"differs by {worst:.1e} at most")


compare_mcnemar()
compare_holm()
compare_intervals()
