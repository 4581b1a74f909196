"""What the peers share: calls of the driver, and ok/FAILED lines."""

import os
import subprocess


class Driver:
    """A program that answers commands: that of peers.c, or of play.c."""

    def __init__(self, variable="FOVEA_PEERS"):
        self._program = os.environ[variable]

    def ask(self, *words):
        """Runs commands, one of numbers and words each, and returns a list of floats for each."""
        text = "\n".join(" ".join(map(str, self._flat(command))) for command in words)
        done = subprocess.run([self._program], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr.strip() or f"{self._program}: exit status {done.returncode}")
        return [list(map(float, line.split())) for line in done.stdout.splitlines()]

    def _flat(self, words):
        """Numbers so that they read back exactly; arrays element by element."""
        for word in words:
            if isinstance(word, str):
                yield word
            elif hasattr(word, "__iter__"):
                yield from self._flat(word)
            else:
                yield repr(float(word))


def report(right, name, figures=""):
    """Prints one result, which tests/peers/run counts."""
    print(f"{'ok     ' if right else 'FAILED '} {name}{': ' if figures else ''}{figures}", flush=True)


def relative(found, expected):
    """The largest difference, relative to numbers above 1."""
    return max(abs(a - b) / max(1, abs(b)) for a, b in zip(found, expected, strict=True))
