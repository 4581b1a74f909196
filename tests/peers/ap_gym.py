# pip: ap-gym==0.7.1 gymnasium==1.3.0 numpy==2.4.6 scipy==1.17.1 aiohttp==3.14.5 pillow==13.0.0
"""Pictures, glimpses, targets and rewards of CircleSquare and its variants, of the localisation of a patch and of
LightDark, against ap_gym (Schneider et al. 2026).

ap_gym draws the case, the first place and the actions; fovea plays the same episode and answers; then
ap_gym steps with these answers and actions. fovea's agent makes no step after its last answer, so the
last action is 0, which costs nothing. What fovea draws, a target or noise, is given to ap_gym.
"""

import os
import sys
import tempfile

import ap_gym  # its import registers the environments
import gymnasium
import numpy as np
from ap_gym.envs.image import ImageClassificationDataset, ImagePerceptionConfig

sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # last: this file is called ap_gym
from peer import Driver, report

EPISODES = 200
SIDE, CLASSES = 5, 2
AGENT = [
    "policy=relative", "first=random", "glimpses=1", "core=gru", "core.width=16", "encoder.width=16", "glimpse.width=16",
]  # fmt: skip
RULES = [
    "sensor.standardise=no", f"sensor.side={SIDE}", "sensor.scales=1", "sensor.bilinear=yes", "sensor.inside=yes",
    "policy.reach=0.2", "policy.cost=1e-3", *AGENT,
]  # fmt: skip

driver = Driver("FOVEA_PEER_PLAY")


class Worst:
    """The largest difference of each kind."""

    def __init__(self):
        self.of = {}

    def note(self, what, ours, theirs):
        difference = float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs))))
        self.of[what] = max(self.of.get(what, 0.0), difference)

    def report(self, name):
        report(max(self.of.values()) < 1e-6, f"{name}, {EPISODES} episodes",
               "differs by at most " + ", ".join(f"{v:.1e} ({k})" for k, v in self.of.items()))


def draw_actions(seed, steps):
    actions = np.random.default_rng(seed).normal(0, 1, (steps, 2)).astype(np.float32)
    actions[-1] = 0
    return actions


def play(settings, case, steps, places):
    return np.array(driver.ask(["play", len(settings), *settings, case, steps, *places])[0])


def compare(name, size, gradient, steps=16):
    env = gymnasium.make(name)
    dataset = env.unwrapped.config.dataset
    bound = 1 - SIDE / size
    world = ["env=circle_square", f"env.size={size}", f"env.gradient={'yes' if gradient else 'no'}"]
    settings = [*world, f"env.steps={steps}", "reward=cross_entropy", *RULES]
    worst = Worst()
    for seed in range(EPISODES):
        observation, info = env.reset(seed=seed)
        case, actions = int(np.ravel(info["index"])[0]), draw_actions(seed, steps)
        numbers = play(settings, case, steps, [*observation["glimpse_pos"], *actions[:-1].ravel()])
        image, episode = np.split(numbers, [size * size])
        worst.note("picture", image.reshape(size, size), dataset[case][0][..., 0])
        for action, step in zip(actions, episode.reshape(steps, -1), strict=True):
            place, glimpse, log_p, reward = np.split(step, np.cumsum([2, SIDE * SIDE, CLASSES]))
            worst.note("place", place / bound, observation["glimpse_pos"])
            worst.note("glimpse", glimpse, np.ravel(observation["glimpse"]))
            observation, theirs, *_ = env.step({"action": action, "prediction": log_p.astype(np.float32)})
            worst.note("reward", reward, theirs)
    worst.report(name)


class Pictures(ImageClassificationDataset):
    """Random pictures, which are also IDX files for fovea."""

    def __init__(self, folder, size, count=20):
        self._pictures = np.random.default_rng(0).integers(0, 256, (count, size, size), dtype=np.uint8)
        self.settings = [f"env.{kind}={folder}/{kind}" for kind in ("images", "labels")]
        head = bytes([0, 0, 8, 3, *count.to_bytes(4), *size.to_bytes(4), *size.to_bytes(4)])
        with open(f"{folder}/images", "wb") as file:
            file.write(head + self._pictures.tobytes())
        with open(f"{folder}/labels", "wb") as file:
            file.write(bytes([0, 0, 8, 1, *count.to_bytes(4), *[0] * count]))

    def _get_num_classes(self):
        return CLASSES

    def _get_num_channels(self):
        return 1

    def _get_length(self):
        return len(self._pictures)

    def _get_data_point(self, idx):
        return self._pictures[idx], 0


def compare_location(size, steps=16):
    """The target of each episode is the one that fovea drew."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = Pictures(folder, size)
        env = ap_gym.envs.image_localization.ImageLocalizationEnv(
            ImagePerceptionConfig(dataset=pictures, sensor_size=(SIDE, SIDE), step_limit=steps, prefetch=False))
        inner, bound = env.vector_env, 1 - SIDE / size
        perception = inner._ImageLocalizationVectorEnv__image_perception_module
        settings = ["env=locate", *pictures.settings, "env.divide=no", "env.size=0", f"env.patch={SIDE}",
                    f"env.steps={steps}", *RULES]
        worst = Worst()
        for seed in range(EPISODES):
            observation, info = env.reset(seed=seed)
            case, actions = int(np.ravel(info["index"])[0]), draw_actions(seed, steps)
            numbers = play(settings, case, steps, [*observation["glimpse_pos"], *actions[:-1].ravel()])
            image, cue, episode = np.split(numbers, np.cumsum([size * size, SIDE * SIDE]))
            worst.note("picture", image.reshape(size, size), pictures[case][0][..., 0])
            target = episode.reshape(steps, -1)[0, -3:-1]
            inner._ImageLocalizationVectorEnv__current_prediction_target = target[None].astype(np.float32)
            worst.note("cue", cue, np.ravel(perception.get_glimpse(target[None])))
            for action, step in zip(actions, episode.reshape(steps, -1), strict=True):
                place, glimpse, answer, target, reward = np.split(step, np.cumsum([2, SIDE * SIDE, 2, 2]))
                worst.note("place", place / bound, observation["glimpse_pos"])
                worst.note("glimpse", glimpse, np.ravel(observation["glimpse"]))
                observation, theirs, _, _, info = env.step({"action": action, "prediction": answer.astype(np.float32)})
                worst.note("target", target, np.ravel(info["prediction"]["target"]))
                worst.note("reward", reward, theirs)
        worst.report(f"localisation in {size} x {size} pixels")


class Noise:
    """Stands for ap_gym's generator: returns given numbers."""

    def __init__(self, numbers):
        self._numbers = list(numbers)

    def normal(self, size):
        return self._numbers.pop(0)[:size]


def compare_light(steps=50):
    """fovea's noise is found in an episode that stays; ap_gym then gets the same noise elsewhere."""
    env = gymnasium.make("LightDark-v0").unwrapped
    deviation = env._LightDarkEnv__get_std_dev
    settings = ["env=light_dark", f"env.steps={steps}", "policy.reach=0.15", "policy.cost=0", "glimpse.where=0", *AGENT]
    worst, squares, ends = Worst(), 0.0, 0
    for seed in range(EPISODES):
        rng, actions = np.random.default_rng(seed), draw_actions(seed, steps)
        first, stay = rng.uniform(-1, 1, 2).astype(np.float32), np.array([0.5, 0.25], np.float32)
        still = play(settings, seed, steps, [*stay, *np.zeros(2 * steps - 2)])[2:].reshape(steps, -1)
        noise = (still[:, 2:4] - stay) / deviation(stay)
        squares += float(np.mean(noise**2)) / EPISODES
        episode = play(settings, seed, steps, [*first, *actions[:-1].ravel()])[2:].reshape(-1, 9)
        env.reset(seed=seed)
        env._LightDarkEnv__pos = first.copy()
        env.np_random = Noise(noise)
        observation = env._LightDarkEnv__get_obs()
        for t, step in enumerate(episode):
            place, seen, answer, target, reward = np.split(step, [2, 4, 6, 8])
            worst.note("seen", seen, observation["noisy_position"])
            action = actions[t]
            if t + 1 < steps:  # ap_gym looks once more after the last answer
                both = {"action": action, "prediction": answer.astype(np.float32)}
                observation, theirs, ended, _, info = env.step(both)
                worst.note("place", place, info["prediction"]["target"])
                worst.note("target", target, info["prediction"]["target"])
                worst.note("reward", reward, theirs + 1e-3 * float(np.sum(action**2)))  # without the cost
                worst.note("end", float(t + 1 == len(episode)), float(ended))
        ends += len(episode) < steps
    worst.report("LightDark-v0")
    report(abs(squares - 1) < 0.05 and ends > 0, "LightDark-v0, noise of one deviation",
           f"mean square {squares:.3f}; {ends} episodes end early")


for suffix, size in (("", 28), ("-s20", 20), ("-s15", 15)):
    for ground in ("", "-nograd"):
        compare(f"CircleSquare{suffix}{ground}-v0", size, not ground)
for steps in (32, 64):
    compare(f"CircleSquare-t{steps}-v0", 28, True, steps)
for size in (28, 12):
    compare_location(size)
compare_light()
