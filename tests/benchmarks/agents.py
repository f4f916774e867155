"""How fast agents are served: the bridge's start and size, calls through it, what stops and what waits.

    python tests/benchmarks/agents.py [--runs 20] [--json] [--only start calls crossing stopping]

Everything is real: bridges and owners are processes of their own on a copy of the sample vault (for
stopping: on 200,000 generated quads). Prints the median with minimum and maximum of the runs, beside
a peer or a bound of the same run: the bare interpreter for the bridge's start, the SDK's own
stdio-to-HTTP pump for calls.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
PARTS = ("start", "calls", "crossing", "stopping", "window")
CROSS_JOIN = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d }"


@dataclass
class Measured:
    """One line of the table: samples in `unit`."""

    what: str
    unit: str
    samples: list[float] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "unit": self.unit,
            "runs": len(self.samples),
            "median": statistics.median(self.samples),
            "min": min(self.samples),
            "max": max(self.samples),
        }


class World:
    """A user of their own, whose processes end with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_RUNTIME_DIR": str(folder),
        }
        os.environ.update(self.environment)
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, *command: str, stdin: Any = subprocess.PIPE) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command, env=self.environment, cwd="/", stdin=stdin, stdout=subprocess.PIPE,
            stderr=(self.folder / "stderr.log").open("ab"),
        )  # fmt: skip
        self.processes.append(process)
        return process

    def synapse(self, *arguments: str) -> subprocess.Popen[bytes]:
        return self.start(sys.executable, "-m", "synapse", *arguments)

    def serve(self, vault: Path) -> subprocess.Popen[bytes]:
        """A headless owner that has read the vault and the SDK."""
        owner = self.synapse("serve", str(vault), "--json")
        assert owner.stdout is not None
        assert owner.stdout.readline(), "the owner did not start"
        with Bridge(self, vault) as bridge:
            bridge.initialize()
            bridge.call("entity_dossier", entity="modules/payments")
        return owner

    def end(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Bridge:
    """A bridge spoken to one frame at a time."""

    def __init__(self, world: World, vault: Path, command: tuple[str, ...] = ()) -> None:
        own = (sys.executable, "-m", "synapse", "mcp", "--vault", str(vault), "--agent", "benchmark")
        self.process = world.start(*(command or own))
        self._is_peer = bool(command)
        self._next = 0

    def __enter__(self) -> Bridge:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        if self._is_peer:  # it takes its time, which is not what is measured
            self.process.kill()
        self.process.wait(30)

    def send(self, method: str, params: dict[str, Any], id: int | None = None) -> None:
        assert self.process.stdin is not None
        frame = {"jsonrpc": "2.0", "method": method, "params": params}
        if id is not None:
            frame["id"] = id
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError("the bridge ended")
            frame: dict[str, Any] = json.loads(line)
            if "id" in frame and "method" not in frame:
                return frame

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._next += 1
        self.send(method, params, self._next)
        frame = self.read()
        assert frame["id"] == self._next and "result" in frame, frame
        return frame["result"]

    def initialize(self) -> None:
        self.ask("initialize", INITIALIZE)
        self.send("notifications/initialized", {})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return result

    @property
    def megabytes(self) -> float:
        """Resident memory now, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def start(world: World, vault: Path, runs: int) -> list[Measured]:
    """The bridge from its start to the answer to `initialize`, and its memory then."""
    bare, first, size, absent = (
        Measured("bare interpreter, start to first line", "ms"),
        Measured("bridge, start to the answer to initialize", "ms"),
        Measured("bridge, resident memory after a call", "MB"),
        Measured("bridge, the same with no owner running", "ms"),
    )
    other = world.folder / "other"
    other.mkdir()
    owner = world.serve(vault)
    for _ in range(runs):
        began = time.perf_counter()
        process = world.start(sys.executable, "-c", "print(1, flush=True); input()")
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        bare.samples.append(1000 * (time.perf_counter() - began))
        process.stdin.close()
        process.wait(10)
        began = time.perf_counter()
        with Bridge(world, vault) as bridge:
            bridge.initialize()
            first.samples.append(1000 * (time.perf_counter() - began))
            bridge.call("entity_dossier", entity="modules/payments")
            size.samples.append(bridge.megabytes)
        began = time.perf_counter()
        with Bridge(world, other) as bridge:
            bridge.initialize()
            absent.samples.append(1000 * (time.perf_counter() - began))
    owner.send_signal(signal.SIGTERM)
    owner.wait(30)
    return [bare, first, absent, size]


PEER = """
import sys
from mcp.server import MCPServer
server = MCPServer("peer")
@server.tool()
def entity_dossier(entity: str) -> dict:
    return {"entity": entity}
import uvicorn
uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
"""
PUMP = """
import sys, anyio
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
async def main():
    async with streamable_http_client(sys.argv[1]) as far, stdio_server() as near:
        (far_in, far_out, *_), (near_in, near_out) = far, near
        async def pump(source, target):
            async for message in source:
                await target.send(message)
        async with anyio.create_task_group() as group:
            group.start_soon(pump, far_in, near_out)
            await pump(near_in, far_out)
            group.cancel_scope.cancel()
anyio.run(main)
"""


def calls(world: World, vault: Path, runs: int) -> list[Measured]:
    """A dossier through the bridge; beside it the SDK's pump to an HTTP server that answers at once."""
    ours = Measured("dossier through the bridge", "ms")
    peer = Measured("an empty tool through the SDK's stdio-to-HTTP pump", "ms")
    peer_start = Measured("the SDK's pump, start to the answer to initialize", "ms")
    peer_size = Measured("the SDK's pump, resident memory", "MB")
    owner = world.serve(vault)
    with Bridge(world, vault) as bridge:
        bridge.initialize()
        bridge.call("entity_dossier", entity="modules/payments")
        for _ in range(runs):
            ours.samples.append(
                1000 * timed(lambda: bridge.call("entity_dossier", entity="modules/payments"))
            )
    port = free_port()
    server = world.start(sys.executable, "-c", PEER, str(port))
    wait_for_port(port)
    pump = (sys.executable, "-c", PUMP, f"http://127.0.0.1:{port}/mcp")
    for _ in range(5):
        began = time.perf_counter()
        with Bridge(world, vault, pump) as bridge:
            bridge.initialize()
            peer_start.samples.append(1000 * (time.perf_counter() - began))
            bridge.call("entity_dossier", entity="modules/payments")
            peer_size.samples.append(bridge.megabytes)
            for _ in range(max(1, runs // 5)):
                peer.samples.append(1000 * timed(lambda: bridge.call("entity_dossier", entity="x")))
    for process in (server, owner):
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    return [ours, peer, peer_start, peer_size]


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int) -> None:
    import socket

    end = time.monotonic() + 30
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError("the peer did not start")


def crossing(world: World, vault: Path, runs: int) -> list[Measured]:
    """A hundred calls of ten bridges at once; every answer must be that of its own question."""
    whole = Measured("100 calls at once from 10 bridges, until the last answer", "ms")
    notes = sorted(path.relative_to(vault).with_suffix("").as_posix() for path in vault.rglob("m*/*.md"))[:10]
    owner = world.serve(vault)
    bridges = [Bridge(world, vault) for _ in range(10)]
    for bridge in bridges:
        bridge.initialize()
        bridge.call("entity_dossier", entity=notes[0])
    for _ in range(runs):
        began = time.perf_counter()
        for number in range(10):
            for place, bridge in enumerate(bridges):
                entity = notes[(number + place) % len(notes)]
                bridge.send(
                    "tools/call", {"name": "entity_dossier", "arguments": {"entity": entity}}, 1000 + number
                )
        for place, bridge in enumerate(bridges):
            for _ in range(10):
                frame = bridge.read()
                entity = notes[(frame["id"] - 1000 + place) % len(notes)]
                assert frame["result"]["structuredContent"]["entity"]["id"] == entity, "a crossed answer"
        whole.samples.append(1000 * (time.perf_counter() - began))
    for bridge in bridges:
        bridge.__exit__()
    owner.send_signal(signal.SIGTERM)
    owner.wait(30)
    return [whole]


def stopping(world: World, vault: Path, runs: int) -> list[Measured]:
    """A cross join over 200,000 quads: cancelled by its agent, and by its own time limit."""
    cancelled = Measured("cross join on 200k quads, from cancel to the next answer", "ms")
    limited = Measured("the same with a timeout of 1 s, from the call to its error", "ms")
    large = world.folder / "large"
    write_large_vault(large)
    owner = serve_large(world, large)
    with Bridge(world, large) as bridge:
        bridge.initialize()
        bridge.call("sparql_query", query="SELECT ?s { ?s ?p ?o }", limit=1)
        for number in range(min(runs, 10)):
            id = 500 + number
            query = {"name": "sparql_query", "arguments": {"query": CROSS_JOIN, "timeout": 60}}
            bridge.send("tools/call", query, id)
            time.sleep(0.7)
            began = time.perf_counter()
            bridge.send("notifications/cancelled", {"requestId": id})
            bridge.call("sparql_query", query="SELECT ?s { ?s ?p ?o }", limit=1)
            cancelled.samples.append(1000 * (time.perf_counter() - began))
            began = time.perf_counter()
            result = bridge.ask(
                "tools/call", {"name": "sparql_query", "arguments": {"query": CROSS_JOIN, "timeout": 1}}
            )
            assert result["isError"], result
            limited.samples.append(1000 * (time.perf_counter() - began))
    owner.send_signal(signal.SIGTERM)
    owner.wait(30)
    return [cancelled, limited]


WINDOW = """
import sys, threading, time
from pathlib import Path
from PySide6.QtCore import QTimer, Qt
from PySide6.QtWidgets import QApplication
from synapse.window.main_window import MainWindow
from synapse.window.opening import VaultHost
from synapse.window.settings import WindowSettings
from synapse.window.theme import Theme

app = QApplication(sys.argv[:1])
settings = WindowSettings()
theme = Theme(settings.theme)
theme.apply(app)
host = VaultHost()
window = MainWindow(settings, theme, host)
window.show()
window.open_vault(Path(sys.argv[1]))
last, worst = time.perf_counter(), 0.0

def tick():
    global last, worst
    now = time.perf_counter()
    worst, last = max(worst, now - last), now

timer = QTimer()
timer.setTimerType(Qt.TimerType.PreciseTimer)
timer.timeout.connect(tick)
timer.start(2)

def listen():
    global worst
    for line in sys.stdin:
        if line.startswith("query"):
            window.desk.session.run(
                window.desk.session.engine.query, line.split(" ", 1)[1], limit=1, timeout=3.0
            )
        print(1000 * worst, flush=True)
        worst = 0.0

threading.Thread(target=listen, daemon=True).start()
app.exec()
"""


def window(world: World, vault: Path, runs: int) -> list[Measured]:
    """The largest gap in a window's event loop, in slices of a second."""
    idle = Measured("window idle, largest event-loop gap a second", "ms")
    attaching = Measured("the first agent attaches (the SDK is loaded), largest gap", "ms")
    writing = Measured("ten agents write, largest gap a second", "ms")
    joining = Measured("a cross join on 200k quads is running, largest gap a second", "ms")
    from synapse.agents.registry import Registry

    registry = Registry()
    registry.identify("benchmark", None)
    registry.allow("benchmark")
    world.environment["QT_QPA_PLATFORM"] = "offscreen"

    def gap(process: subprocess.Popen[bytes], told: str = "gap") -> float:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(told.encode() + b"\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    shown = world.start(sys.executable, "-c", WINDOW, str(vault))
    settle(vault)
    for _ in range(5):
        gap(shown)
        time.sleep(1)
        idle.samples.append(gap(shown))
    bridges = [Bridge(world, vault) for _ in range(10)]
    for bridge in bridges:
        bridge.initialize()
    bridges[0].call("entity_dossier", entity="modules/payments")
    attaching.samples.append(gap(shown))
    end = time.perf_counter() + max(5, min(runs, 20))
    number = 0
    gap(shown)
    mark = time.perf_counter()
    while time.perf_counter() < end:
        for place, bridge in enumerate(bridges):
            number += 1
            fact = {"subject": f"counters/n{number}", "predicate": "count_of", "object": f"counters/{place}"}
            arguments = {"facts": [fact], "source": "a benchmark", "reason": "counting"}
            bridge.send("tools/call", {"name": "assert_facts", "arguments": arguments}, number)
        for bridge in bridges:
            frame = bridge.read()
            assert not frame["result"].get("isError"), frame
        if time.perf_counter() - mark > 1:
            writing.samples.append(gap(shown))
            mark = time.perf_counter()
    for bridge in bridges:
        bridge.__exit__()
    shown.kill()  # closing, with agents attached, would ask a person
    shown.wait(30)
    large = world.folder / "large"
    if not large.exists():
        write_large_vault(large)
    shown = world.start(sys.executable, "-c", WINDOW, str(large))
    settle(large)
    for _ in range(5):
        gap(shown, f"query {CROSS_JOIN}")
        time.sleep(1)
        joining.samples.append(gap(shown))
        time.sleep(3)
    shown.kill()  # closing, with agents attached, would ask a person
    shown.wait(30)
    return [idle, attaching, writing, joining]


def settle(vault: Path) -> None:
    """Waits until the owner of a vault has read it."""
    from synapse.bridge import discovery

    while discovery.read(vault) is None:
        time.sleep(0.1)
    subprocess.run(
        [sys.executable, "-m", "synapse", "index", str(vault)], check=True, capture_output=True, cwd="/"
    )
    time.sleep(2)


def write_large_vault(folder: Path) -> None:
    """A vault with one note, and an RDF-like mass of facts as notes with many values."""
    folder.mkdir()
    for number in range(400):
        values = "\n".join(f"  - v{number}-{value}" for value in range(125))
        links = "\n".join(f"- [[knows:n{(number + step) % 400}]]" for step in range(1, 125))
        (folder / f"n{number}.md").write_text(f"---\nvalues:\n{values}\n---\n\n{links}\n", encoding="utf-8")


def serve_large(world: World, vault: Path) -> subprocess.Popen[bytes]:
    owner = world.synapse("serve", str(vault), "--json")
    assert owner.stdout is not None
    assert owner.stdout.readline(), "the owner did not start"
    return owner


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--json", action="store_true")
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    values = options.parse_args()
    found: list[Measured] = []
    with tempfile.TemporaryDirectory() as name:
        world = World(Path(name))
        from synapse.engine import create_sample_vault

        vault = Path(name) / "vault"
        create_sample_vault(vault)
        try:
            for part in values.only:
                found += globals()[part](world, vault, values.runs)
        finally:
            world.end()
    if values.json:
        print(json.dumps([one.as_json() for one in found], indent=2))
        return
    for one in found:
        told = one.as_json()
        print(
            f"{one.what:<62} {told['median']:9.1f} {one.unit:<3}"
            f"({told['min']:.1f}-{told['max']:.1f}, {told['runs']} runs)"
        )


if __name__ == "__main__":
    main()
