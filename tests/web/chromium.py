"""Chromium by the pipe of its DevTools: no port, no package beside the standard library."""
import fcntl
import json
import os
import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium", path="/usr/bin")


class Chromium:
    """A page in a headless browser. `urls` are those it asked for."""

    def __init__(self, url, width=1280, height=900):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # the browser may still write
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()
        ours = [fcntl.fcntl(each, fcntl.F_DUPFD, 20) for each in (to_read, from_write)]

        def hand_over():
            os.dup2(ours[0], 3)
            os.dup2(ours[1], 4)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-background-networking", "--no-first-run", "--disable-component-update",
             f"--user-data-dir={self.profile.name}"],
            preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for each in (to_read, from_write, *ours):
            os.close(each)
        self.rest, self.number, self.urls, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Network.enable")
        self.call("Page.enable")
        self.size(width, height)
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        os.close(self.to_write)
        os.close(self.from_read)
        self.profile.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            got = os.read(self.from_read, 1 << 16)
            if not got:
                raise RuntimeError("the browser ended")
            self.rest += got
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if self.session:
            question["sessionId"] = self.session
        data = json.dumps(question).encode() + b"\0"
        while data:
            data = data[os.write(self.to_write, data):]
        while True:
            answer = self.message()
            if answer.get("method") == "Network.requestWillBeSent":
                self.urls.append(answer["params"]["request"]["url"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, expression):
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"])[:600])
        return done["result"].get("value")

    def until(self, expression):
        self.value(f"new Promise((done, failed) => {{ const end = Date.now() + 60000; (function look() {{"
                   f" if ({expression}) done(); else if (Date.now() > end) failed(new Error('never true: '"
                   f" + {json.dumps(expression)})); else setTimeout(look, 10); }})(); }})")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def key(self, name, code, text=""):
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **typed)

    def type(self, text):
        self.call("Input.insertText", text=text)
