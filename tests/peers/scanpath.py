# pip: --no-deps multimatch-gaze==0.1.3 gazeparser==0.12.3 dtw-python==1.9.0
# pip: numpy==2.4.6 scipy==1.17.1 pandas==2.3.3 python-dateutil pytz tzdata six
"""Measures between scanpaths: MultiMatch, against multimatch_gaze; ScanMatch, against GazeParser; dynamic time
warping, against dtw-python. GazeParser itself needs a window system, so its file is loaded alone; hence --no-deps."""

import importlib.util
import os
import sys
from importlib.metadata import files

import multimatch_gaze
import numpy as np
from dtw import dtw

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from peer import Driver, report


def load_scan_match():
    path = next(file.locate() for file in files("gazeparser") if file.name == "ScanMatch.py")
    spec = importlib.util.spec_from_file_location("scan_match", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ScanMatch


ScanMatch = load_scan_match()
driver = Driver()
rng = np.random.default_rng(26)
WIDTH = 1200  # pixels of the images; their sides are multiples of the 12 columns of ScanMatch


def draw_pairs(height):
    """Pairs of paths in pixels, of 3 to 20 places; a few share places, as gazes on one image do."""
    pairs = []
    for _ in range(100):
        a, b = (rng.random((rng.integers(3, 21), 2)) * [WIDTH, height] for _ in range(2))
        if rng.random() < 0.3:
            b[: min(len(a), len(b)) // 2] = a[: min(len(a), len(b)) // 2] + rng.normal(0, 5, 2)
        pairs.append((np.clip(a, 0, [WIDTH - 1, height - 1]), np.clip(b, 0, [WIDTH - 1, height - 1])))
    return pairs


def multimatch(a, b, height):
    kind = [("start_x", float), ("start_y", float), ("duration", float)]
    paths = [np.array([(*place, 1.0) for place in path], dtype=kind) for path in (a, b)]
    return multimatch_gaze.docomparison(*paths, [WIDTH, height])[:4]


def scanmatch(a, b, height):
    match = ScanMatch(Xres=WIDTH, Yres=height, Xbin=12, Ybin=12 * height // WIDTH, Threshold=3.5, GapValue=0, TempBin=0)
    return match.match(*(match.fixationToSequence(path).astype(int) for path in (a, b)))[0]


def warping(a, b):
    return dtw(a / WIDTH, b / WIDTH, dist_method="euclidean", step_pattern="symmetric1").distance


def compare(height):
    pairs = draw_pairs(height)
    ours = driver.ask(*(("scanpaths", height / WIDTH, len(a), a / WIDTH, len(b), b / WIDTH) for a, b in pairs))
    names = "MultiMatch's vector", "direction", "length", "position", "ScanMatch", "DTW"
    theirs = [[*multimatch(a, b, height), scanmatch(a, b, height), warping(a, b)] for a, b in pairs]
    for name, worst in zip(names, np.abs(np.array(ours) - np.array(theirs, dtype=float)).max(axis=0), strict=True):
        report(worst < 1e-9, f"{name} of {len(pairs)} pairs on images of {WIDTH} x {height}", f"differs by {worst:.1e} at most")


for height in (1200, 800, 300):
    compare(height)
