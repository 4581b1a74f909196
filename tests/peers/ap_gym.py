# pip: ap-gym==0.7.1 gymnasium==1.3.0 numpy==2.4.6 scipy==1.17.1 aiohttp==3.14.5
"""Pictures, glimpses and rewards of CircleSquare and its variants, against ap_gym (Schneider et al. 2026).

ap_gym draws the case, the first place and the actions; fovea plays the same episode and answers; then
ap_gym steps with these answers and actions. fovea's agent makes no step after its last answer, so the
last action is 0, which costs nothing.
"""

import os
import sys

import ap_gym  # noqa: F401  its import registers the worlds
import gymnasium
import numpy as np

sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # last: this file is called ap_gym
from peer import Driver, report

EPISODES = 200
SIDE, CLASSES = 5, 2
RULES = [
    "sensor.standardise=no", f"sensor.side={SIDE}", "sensor.scales=1", "sensor.bilinear=yes", "sensor.inside=yes",
    "policy=relative", "policy.reach=0.2", "policy.cost=1e-3", "first=random", "glimpses=1",
    "reward=cross_entropy", "core=gru", "core.width=16", "encoder.width=16", "glimpse.width=16",
]  # fmt: skip

driver = Driver("FOVEA_PEER_PLAY")


def begin(env, seed, steps):
    """Starts an episode; returns its case, its actions and what it shows first."""
    observation, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    actions = rng.normal(0, 1, (steps, 2)).astype(np.float32)
    actions[-1] = 0
    return int(np.ravel(info["index"])[0]), actions, observation


def compare(name, size, gradient, steps=16):
    env = gymnasium.make(name)
    dataset = env.unwrapped.config.dataset
    bound = 1 - SIDE / size
    world = ["env=circle_square", f"env.size={size}", f"env.gradient={'yes' if gradient else 'no'}"]
    settings = [*world, f"env.steps={steps}", *RULES]
    worst = dict.fromkeys(("picture", "place", "glimpse", "reward"), 0.0)

    def note(what, ours, theirs):
        worst[what] = max(worst[what], float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs)))))

    for seed in range(EPISODES):
        case, actions, observation = begin(env, seed, steps)
        places = [*observation["glimpse_pos"], *actions[:-1].ravel()]
        numbers = driver.ask(["play", len(settings), *settings, case, steps, *places])[0]
        image, episode = np.split(np.array(numbers), [size * size])
        note("picture", image.reshape(size, size), dataset[case][0][..., 0])
        for action, step in zip(actions, episode.reshape(steps, -1), strict=True):
            place, glimpse, log_p, reward = np.split(step, np.cumsum([2, SIDE * SIDE, CLASSES]))
            note("place", place / bound, observation["glimpse_pos"])
            note("glimpse", glimpse, np.ravel(observation["glimpse"]))
            observation, theirs, *_ = env.step({"action": action, "prediction": log_p.astype(np.float32)})
            note("reward", reward, theirs)
    largest = max(worst.values())
    report(largest < 1e-6, f"{name}, {EPISODES} episodes",
           "differs by at most " + ", ".join(f"{v:.1e} ({k})" for k, v in worst.items()))


for suffix, size in (("", 28), ("-s20", 20), ("-s15", 15)):
    for ground in ("", "-nograd"):
        compare(f"CircleSquare{suffix}{ground}-v0", size, not ground)
for steps in (32, 64):
    compare(f"CircleSquare-t{steps}-v0", 28, True, steps)
