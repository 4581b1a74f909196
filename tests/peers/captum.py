# pip: captum==0.9.0 torch==2.15.0
"""Maps of `fovea explain`, against Captum (Kokhlikyan et al. 2020) on the same network in PyTorch.

The trained agent of cluttered-60 is rebuilt from its checkpoint: retina, convolutions, glimpse
network, GRU and the answer's logits, at the places where fovea looked. Differences are relative to
the largest number of each episode's map.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
from captum.attr import InputXGradient, IntegratedGradients, LayerAttribution, LayerGradCam, Occlusion, Saliency
from torch import nn
from torch.nn import functional as F

sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # last: this file is called captum, too
from peer import report

RUN = "experiments/trained/cluttered-60"
EPISODES = 10
SIDE, SCALES = 12, 3
TOLERANCE = 1e-4

torch.set_default_dtype(torch.float64)


def read(path):
    """The arrays of a safetensors file."""
    types = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64}
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    arrays = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    return arrays


class Agent(nn.Module):
    """The logits [E, 10] of pictures [E, 1, H, W] that are seen at held places [E, T, 2]."""

    def __init__(self, weights, places):
        super().__init__()
        w = {name: torch.from_numpy(value.astype(np.float64)) for name, value in weights.items()}
        self.w, self.places = w, places
        self.first, self.second = nn.Conv2d(1, 16, 4, 2), nn.Conv2d(16, 32, 3)
        for layer, name in ((self.first, "encoder"), (self.second, "encoder.second")):
            # Filters stand as [F, K, K, C].
            K, C = layer.kernel_size[0], layer.in_channels
            layer.weight.data = w[f"{name}.w"].reshape(-1, K, K, C).permute(0, 3, 1, 2).contiguous()
            layer.bias.data = w[f"{name}.bias"].flatten()
        self.active = nn.ReLU()

    def retina(self, pictures):
        """Patches [E * T * S, 1, G, G]; fov_sensor_look."""
        E, _, H, W = pictures.shape
        margin = SIDE << SCALES
        padded = F.pad(pictures, (margin,) * 4)[:, 0]
        episode = torch.arange(E)[:, None, None, None]
        patches = []
        for s in range(SCALES):
            width = SIDE << s
            column, row = (torch.from_numpy(np.floor((self.places[..., axis] + 1) / 2 * extent + 0.5)).long()
                           - width // 2 + margin for axis, extent in enumerate((W, H)))
            step = torch.arange(width)
            crops = padded[episode, (row[..., None] + step)[..., None], (column[..., None] + step)[..., None, :]]
            patches.append(F.avg_pool2d(crops, 1 << s))
        return torch.stack(patches, 2).reshape(-1, 1, SIDE, SIDE)

    def forward(self, pictures):
        w, (E, T, _) = self.w, self.places.shape
        maps = self.active(self.second(torch.relu(self.first(self.retina(pictures)))))
        content = maps.permute(0, 2, 3, 1).reshape(E, T, -1)
        where = torch.relu(torch.from_numpy(self.places.astype(np.float64)) @ w["where.w"].T + w["where.bias"])
        g = torch.relu(content @ w["glimpse.what"].T + where @ w["glimpse.where"].T + w["glimpse.bias"])
        h = torch.zeros(E, w["core.u"].shape[1])
        for t in range(T):
            x, y = g[:, t] @ w["core.w"].T + w["core.bias"], h @ w["core.u"].T + w["core.state_bias"]
            (x_r, x_z, x_n), (y_r, y_z, y_n) = x.chunk(3, 1), y.chunk(3, 1)
            r, z = torch.sigmoid(x_r + y_r), torch.sigmoid(x_z + y_z)
            h = (1 - z) * torch.tanh(x_n + r * y_n) + z * h
        return h @ w["class.w"].T + w["class.bias"]


def explain(method, *options):
    """What fovea writes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ["FOVEA_PEER_PROGRAM"], "explain", RUN, "--episodes", str(EPISODES), "--method",
                        method, "-o", folder, "env.data=envs/mnist-subset", *options],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return read(f"{folder}/maps.safetensors")


def grad_cam(agent, pictures, answers):
    """Grad-CAM of all patches, whose cells are added to the pixels that they cover."""
    cams = LayerGradCam(agent, agent.active).attribute(pictures, target=answers, relu_attributions=True)
    cams = LayerAttribution.interpolate(cams, (SIDE, SIDE), "bilinear").detach()
    pixels = pictures.clone().requires_grad_()
    agent.retina(pixels).backward(cams)
    return pixels.grad


def compare(name, found, expected):
    found = found["map"].reshape(EPISODES, -1).astype(np.float64)
    expected = expected.detach().numpy().reshape(EPISODES, -1)
    difference = (np.abs(found - expected).max(1) / np.abs(expected).max(1)).max()
    report(difference < TOLERANCE, name, f"largest difference {difference:.1e}")


seen = explain("saliency")
pictures = torch.from_numpy(seen["pixels"].astype(np.float64)).reshape(EPISODES, 1, 60, 60)
answers = torch.from_numpy(seen["answer"].astype(np.int64))
agent = Agent(read(f"{RUN}/best.safetensors"), seen["place"])

logits = agent(pictures).detach()
report(bool((logits.argmax(1) == answers).all()), "the same answers")
values = logits.gather(1, answers[:, None])[:, 0].numpy()
difference = np.abs(values - seen["y"]).max()
report(difference < TOLERANCE, "logits", f"largest difference {difference:.1e}")

compare("Saliency", seen, Saliency(agent).attribute(pictures.requires_grad_(), target=answers))
compare("InputXGradient", explain("input_x_gradient"),
        InputXGradient(agent).attribute(pictures, target=answers))
for steps in (10, 50):
    compare(f"IntegratedGradients, {steps} steps, baseline 0.25",
            explain("integrated_gradients", f"integrated_gradients.steps={steps}",
                    "integrated_gradients.baseline=0.25"),
            IntegratedGradients(agent).attribute(pictures, 0.25, answers, n_steps=steps, method="riemann_middle",
                                                 internal_batch_size=EPISODES))
with torch.no_grad():
    for side, stride in ((6, 3), (7, 4)):
        compare(f"Occlusion, squares of {side}, strides of {stride}",
                explain("occlusion", f"occlusion.side={side}", f"occlusion.stride={stride}"),
                Occlusion(agent).attribute(pictures, (1, side, side), (1, stride, stride), target=answers))
compare("LayerGradCam", explain("grad_cam"), grad_cam(agent, pictures.detach(), answers))
