# pip: websocket-client==1.9.0
"""The web page of `fovea view --export FILE.html` in headless Chromium, driven with keys and mouse; Debian's package
chromium has to be installed. What it shows is compared with the trace."""

import base64
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

import websocket

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from peer import report

FOVEA, TRAINED = os.environ["FOVEA_PEER_PROGRAM"], os.path.join(os.environ["FOVEA_SOURCE"], "experiments/trained")


def read_trace(path):
    """The arrays of a safetensors file as functions of an index."""
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    arrays = {}
    for name, blob in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        code = {"F32": "f", "F64": "d", "I32": "i", "I64": "q", "U8": "B"}[blob["dtype"]]
        start, end = (8 + size + offset for offset in blob["data_offsets"])
        arrays[name] = blob["shape"], memoryview(data)[start:end].cast(code)
    return arrays


def at(arrays, name, *index):
    shape, values = arrays[name]
    place = 0
    for length, i in zip(shape, index, strict=True):
        place = place * length + i
    return values[place]


class Page:
    """A page in a browser of its own, over the protocol of the browser's tools."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp()
        self.browser = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             "--remote-allow-origins=*", "--window-size=1280,1000", f"--user-data-dir={self.folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = os.path.join(self.folder, "DevToolsActivePort")
        self.wait(lambda: os.path.exists(port_file) and open(port_file).read().count("\n"), "the browser")
        port = open(port_file).read().split()[0]
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list"))
        self.socket = websocket.create_connection(next(p["webSocketDebuggerUrl"] for p in pages if p["type"] == "page"))
        self.id, self.events = 0, []
        for domain in "Page", "Runtime", "Network", "Log":
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url="file://" + urllib.request.pathname2url(os.path.abspath(path)))
        self.wait(lambda: self.value("document.readyState") == "complete" and self.value("document.title"), "the page")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.browser.terminate()
        self.browser.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self, condition, what):
        end = time.time() + 60
        while not condition():
            if time.time() > end:
                raise SystemExit(f"waited in vain for {what}")
            time.sleep(0.05)

    def call(self, method, **parameters):
        self.id += 1
        self.socket.send(json.dumps({"id": self.id, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.id:
                return answer.get("result", answer)
            self.events.append(answer)

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def text(self, selector):
        return self.value(f"document.querySelector('{selector}').textContent")

    def key(self, name):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)

    def click(self, selector, share=0.5):
        """Clicks at that share of an element's width."""
        x, y, width, height = self.value(
            f"(b => [b.x, b.y, b.width, b.height])(document.querySelector('{selector}').getBoundingClientRect())")
        where = dict(x=x + share * width, y=y + height / 2, button="left", clickCount=1)
        self.call("Input.dispatchMouseEvent", type="mousePressed", **where)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **where)

    def pixel(self, x, y):
        """Of the first canvas, [red, green, blue]."""
        return self.value(f"[...document.querySelector('canvas').getContext('2d').getImageData({x}, {y}, 1, 1).data]")[:3]

    def problems(self):
        """Errors, and what was loaded besides the page."""
        found = []
        for event in self.events:
            method, detail = event.get("method", ""), event.get("params", {})
            if method == "Runtime.exceptionThrown" or (method == "Log.entryAdded" and detail["entry"]["level"] == "error"):
                found.append(json.dumps(detail)[:200])
            if method == "Network.requestWillBeSent" and detail["type"] != "Document":
                found.append("loads " + detail["request"]["url"])
        return found


def export(folder, *arguments):
    path = os.path.join(folder, "gaze.html")
    done = subprocess.run([FOVEA, "view", *arguments, "--export", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return path


def compare_digits(folder):
    run = os.path.join(TRAINED, "cluttered-60")
    trace = read_trace(os.path.join(run, "trace.safetensors"))
    glimpses = at(trace, "lengths", 5)
    with Page(export(folder, run, "--episode", "5", "--count", "3")) as page:
        report(page.text("#glimpse") == f"glimpse 1 of {glimpses}" and page.text("#episode") == "episode 5episode 6episode 7",
               "the page begins with the episodes that were asked for", page.text("#glimpse"))
        page.key("ArrowRight")
        page.key("ArrowRight")
        p = [f"{at(trace, 'probabilities', 5, 2, a):.3f}" for a in range(10)]
        shown = page.value("[...document.querySelectorAll('tr')].map(r => r.lastChild.textContent)")
        report(shown == p and page.text("#glimpse").startswith("glimpse 3 "), "keys step, probabilities are those of the trace")
        before = page.value("document.querySelector('canvas').toDataURL()")
        for i in range(page.value("document.querySelectorAll('#layers button').length")):
            page.click(f"#layers button:nth-child({i + 1})")
        height, width = trace["images"][0][2:4]
        scale = 512 / max(width, height)
        wrong = [(x, y) for x in range(0, width, 7) for y in range(0, height, 7)
                 if page.pixel(int((x + 0.5) * scale), int((y + 0.5) * scale)) != [at(trace, "images", 5, 0, y, x, 0)] * 3]
        report(not wrong and page.value("document.querySelector('canvas').toDataURL()") != before,
               "without layers the image is that of the trace", f"{len(wrong)} pixels differ")
        page.click("#layers button:nth-child(2)")  # the path: a disc at the first place
        x, y = ((at(trace, "locations", 5, 0, i) + 1) / 2 * side * scale for i, side in enumerate((width, height)))
        report(page.pixel(int(x), int(y)) == [240, 228, 66], "the path begins at the first place", str(page.pixel(int(x), int(y))))
        page.click("#time", 0.999)
        report(page.text("#glimpse") == f"glimpse {glimpses} of {glimpses}", "the mouse moves the slider", page.text("#glimpse"))
        page.click("#next")
        page.click("#play")
        page.wait(lambda: page.text("#glimpse").startswith("glimpse 3 "), "the third glimpse")
        report(page.value("state.episode") == 1 and page.text("#play") == "pause", "an episode plays")
        page.click("#theme")
        report(page.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "the light theme")
        report(not page.problems(), "nothing fails and nothing is loaded", "; ".join(page.problems()))
        picture = base64.b64decode(page.call("Page.captureScreenshot")["data"])
        open("build-peers/page.png", "wb").write(picture)


def compare_explanation(folder):
    """The maps and the Jacobian of a game, whose pictures change, against those of fovea explain."""
    run = os.path.join(TRAINED, "catch")
    for options in ["--time", "3", "--method", "integrated_gradients"], ["--jacobian", "logits"]:
        done = subprocess.run([FOVEA, "explain", run, "--episodes", "1", *options, "-o", folder], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
    maps = read_trace(os.path.join(folder, "maps.safetensors"))
    norms = read_trace(os.path.join(folder, "jacobian.safetensors"))
    height, width = maps["map"][0][2:4]
    with Page(export(folder, run, "--method", "integrated_gradients", "--count", "1")) as page:
        page.key("ArrowRight")
        page.key("ArrowRight")
        for i in range(2, page.value("document.querySelectorAll('#layers button').length") + 1):
            page.click(f"#layers button:nth-child({i})")
        scale = page.value("data.agents[0].episodes[0].scales[2]")
        text = page.text(".scale")
        report(text == f"\u2212{scale:.2g}{scale:.2g}integrated_gradients of the answer's logit after glimpse 3",
               "the colours have a scale", text)
        far = 0
        for x, y in [(x, y) for x in range(width) for y in range(height)]:
            share = max(-1, min(1, at(maps, "map", 0, 2, y, x, 0) / scale))
            alpha, colour = 0.45 + 0.55 * abs(share), (26, 140, 255) if share < 0 else (255, 115, 0)
            below = 255 * at(maps, "pixels", 0, 2, y, x, 0)
            shown = page.pixel((x + 0.5) * 512 / width, (y + 0.5) * 512 / height)
            far = max([far] + [abs(s - (c * abs(share) + (1 - alpha) * below)) for s, c in zip(shown, colour)])
        report(far < 3, "the map is drawn over the picture of its glimpse", f"off by {far:.1f} of 255")
        rows = page.value("data.agents[0].episodes[0].jacobian")
        exact = [[at(norms, "jacobian", 0, t, s) for s in range(t + 1)] for t in range(len(rows))]
        far = max(abs(a - b) / max(b, 1e-9) for row, other in zip(rows, exact) for a, b in zip(row, other))
        report(far < 1e-4 and len(rows) > 3, "the Jacobian is that of fovea explain", f"off by {far:.1e}")
        shown = "[...document.querySelectorAll('.scale, .norms')].map(e => e.getClientRects().length > 0)"
        picture = "document.querySelector('canvas').toDataURL()"
        parts, image = page.value(shown), page.value(picture)
        page.key("7")
        report(parts == [True, True] and page.value(shown) == [False, False] and page.value(picture) != image,
               "7 hides the explanation", f"{parts}, {page.value(shown)}")
        page.key("7")
        report(page.value(shown) == [True, True] and page.value(picture) == image and not page.problems(),
               "7 shows it again", "; ".join(page.problems()))


def compare_others(folder):
    trace = read_trace(os.path.join(TRAINED, "catch", "trace.safetensors"))
    with Page(export(folder, os.path.join(TRAINED, "catch"), "--count", "2")) as page:
        page.key("End")
        last = at(trace, "lengths", 0) - 1
        total = sum(at(trace, "rewards", 0, t) for t in range(last + 1))
        report(page.text("h2").startswith(f"return {total:g}") and not page.problems(), "a game has its return", page.text("h2"))
    compare_explanation(folder)
    # Names are text, whatever is in them.
    odd = os.path.join(folder, "<b>&\"'</script>".replace("/", "|"))
    shutil.copytree(os.path.join(TRAINED, "cluttered-60"), odd)
    with Page(export(folder, odd, os.path.join(TRAINED, "cluttered-60"), "--wrong", "--count", "4")) as page:
        titles = page.value("[...document.querySelectorAll('h2')].map(h => h.firstChild.textContent.trim())")
        report(titles == [os.path.basename(odd), "cluttered-60"] and not page.problems(), "two agents have their names", str(titles))
        wrong = page.value("data.agents[0].episodes.map(e => e.wrong)")
        report(wrong == [1] * 4, "only wrong episodes, if asked for", str(wrong))


if not shutil.which("chromium"):
    report(False, "chromium is not installed")
else:
    with tempfile.TemporaryDirectory() as work:
        compare_digits(work)
        compare_others(work)
