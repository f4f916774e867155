"""How fast SPARQL is in a process of its own, and how fast it stops.

    python tests/benchmarks/queries.py [--json] [--quads 10000 200000] [--runs 5]

Per size: `cold` is the first query of a process (a checkpoint, a worker, its opening), `warm` the
same query again, `after a write` the same with one transaction before it that is not counted,
`100 writes` what a hundred transactions cost where nobody asks. `rows` reads 20,000 rows, or all
where there are fewer; `stop` is from the cancelling of a cross join until the caller is free, `next`
the first query after that. `gap` is the longest time for which a thread that only looks at the clock
was held up while rows were read or a join was stopped; `gap here` the same while the store in this
process reads the rows. The bound beside `warm` and `rows` is `GraphStore.query` in this process.
Prints median, minimum and maximum of the runs, in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import GraphChange
from synapse.engine.errors import QueryStopped
from synapse.engine.graph.checkpoints import Checkpoints
from synapse.engine.graph.store import GraphStore
from synapse.engine.graph.workers import WORKERS

GRAPH = NamedNode("vault:/all.md")
POINT = "SELECT ?o { <n7> ?p ?o }"
ROWS = "SELECT ?s ?o { ?s ?p ?o }"
MOST_ROWS = 20_000
JOIN = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }"
MEASURES = (
    "cold", "warm", "warm here", "after a write", "100 writes", "rows", "rows here", "stop", "next", "gap",
    "gap here",
)  # fmt: skip

Measured = dict[str, list[float]]


def fact(number: int) -> Triple:
    return Triple(NamedNode(f"vault:/n{number}"), NamedNode("urn:p"), Literal(f"value {number}"))


def timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


@contextmanager
def watched(gaps: list[float]) -> Iterator[None]:
    """Adds the longest time, in milliseconds, between two looks of a thread that does nothing else."""
    over = threading.Event()
    longest = 0.0

    def look() -> None:
        nonlocal longest
        before = time.perf_counter()
        while not over.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            longest, before = max(longest, now - before), now

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        gaps.append(longest * 1000)


def stopped(checkpoints: Checkpoints) -> float:
    """Milliseconds from the cancelling of a join that runs until it has ended."""
    cancel = threading.Event()
    moment = 0.0

    def stop() -> None:
        nonlocal moment
        moment = time.perf_counter()
        cancel.set()

    timer = threading.Timer(0.5, stop)
    timer.start()
    try:
        checkpoints.query(JOIN, stops=(cancel,))
    except QueryStopped:
        return (time.perf_counter() - moment) * 1000
    finally:
        timer.join()
    raise AssertionError("the join ended by itself")


def measure(quads: int, runs: int) -> Measured:
    """Each measure's runs over a store of so many quads, half of them in the default graph."""
    found: Measured = {name: [] for name in MEASURES}
    with tempfile.TemporaryDirectory() as folder:
        store = GraphStore.open(Path(folder) / "graph")
        store.load({GRAPH: [fact(number) for number in range(quads // 2)]})
        for run in range(runs):
            WORKERS.close()
            checkpoints = Checkpoints(store, Path(folder) / "checkpoints")
            measure_once(store, checkpoints, quads + run * 1_000, found)
            checkpoints.close()
        WORKERS.close()
        store.close()
    return found


def measure_once(store: GraphStore, checkpoints: Checkpoints, unused: int, found: Measured) -> None:
    """Adds one run to what was found. unused: the number of a fact from which on none is there yet."""

    def write(number: int) -> None:
        store.apply([GraphChange(GRAPH, added=frozenset({fact(number)}))])

    found["cold"].append(timed(lambda: checkpoints.query(POINT)))
    found["warm"].append(timed(lambda: checkpoints.query(POINT)))
    found["warm here"].append(timed(lambda: store.query(POINT)))
    write(unused)
    found["after a write"].append(timed(lambda: checkpoints.query(POINT)))
    found["100 writes"].append(timed(lambda: [write(unused + number) for number in range(1, 101)]))
    checkpoints.query(POINT)
    with watched(found["gap"]):
        found["rows"].append(timed(lambda: checkpoints.query(ROWS, limit=MOST_ROWS)))
        found["stop"].append(stopped(checkpoints))
    found["next"].append(timed(lambda: checkpoints.query(POINT)))
    with watched(found["gap here"]):
        found["rows here"].append(timed(lambda: store.query(ROWS, limit=MOST_ROWS)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quads", type=int, nargs="+", default=[10_000, 200_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measured = {quads: measure(quads, options.runs) for quads in options.quads}
    if options.json:
        print(json.dumps({"processors": os.cpu_count(), "milliseconds": measured}))
        return 0
    print(f"{options.runs} runs, {os.cpu_count()} processors, Python {sys.version.split()[0]}; milliseconds")
    for quads, found in measured.items():
        print(f"\n{quads:,} quads{'median':>18}{'min':>10}{'max':>10}")
        for name, values in found.items():
            print(f"  {name:<24}{statistics.median(values):>8.1f}{min(values):>10.1f}{max(values):>10.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
