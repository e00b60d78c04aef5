"""A real browser that tells what a page asks for and complains of: headless Chromium, spoken to over a pipe."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--disable-quic --no-first-run --hide-scrollbars --remote-debugging-pipe"
)
# Chromium listens at descriptor 3 and answers at 4. The ends are moved out of the way first, for they may be these.
_EXEC = (
    "import fcntl, os, sys; a, b = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]);"
    "os.dup2(a, 3); os.dup2(b, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_SECONDS = 60.0


@dataclass
class Visit:
    """What a page did while it was loaded."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


class Browser:
    """One tab of a running Chromium."""

    def __init__(self, writer: int, reader: int) -> None:
        self._writer, self._reader, self._left, self._number = writer, reader, b"", 0
        self._visit = Visit()
        self._session: str | None = None
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.tell(f"{domain}.enable")

    def open(self, path: Path, *, width: int, height: int = 900, dark: bool = False) -> Visit:
        """Load a page afresh, and wait until it is quiet."""
        self._visit = Visit()
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[theme])
        self.tell(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.tell("Page.navigate", url=path.resolve().as_uri())
        until = time.monotonic() + _SECONDS
        while self.ask("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < until, "the page does not finish loading"
            time.sleep(0.02)
        self.ask("new Promise(done => setTimeout(done, 300))")  # what is asked for late is heard too
        return self._visit

    def ask(self, expression: str) -> Any:
        """What JavaScript says of the page."""
        told = self.tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return told["result"].get("value")

    def picture(self, path: Path) -> Path:
        """A PNG of the whole page."""
        told = self.tell("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(told["data"]))
        return path

    def tell(self, method: str, **params: Any) -> dict[str, Any]:
        """One command, and its answer; events on the way are noted."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            part = os.read(self._reader, 1 << 16)
            assert part, "the browser has gone"
            self._left += part
        message, _, self._left = self._left.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self._visit.requests.append(params["request"]["url"])
            case "Runtime.exceptionThrown":
                self._visit.complaints.append(str(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self._visit.complaints.append(str(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self._visit.complaints.append(params["entry"]["text"])


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile; skips, saying how to install one, where there is none."""
    command = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if command is None:
        pytest.skip("no Chromium to look at pages with: apt-get install -y chromium")
    from_us, to_us = os.pipe(), os.pipe()
    ends = [str(from_us[0]), str(to_us[1])]
    process = subprocess.Popen(
        [sys.executable, "-c", _EXEC, *ends, command, *_FLAGS.split(), f"--user-data-dir={profile}"],
        pass_fds=(from_us[0], to_us[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(from_us[0])
    os.close(to_us[1])
    try:
        yield Browser(from_us[1], to_us[0])
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(from_us[1])
        os.close(to_us[0])
