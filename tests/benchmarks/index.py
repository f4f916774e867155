"""How fast a vault becomes facts: cold, warm, and one edit, over generated notes.

    python tests/benchmarks/index.py [--quick] [--json] [--notes 1000 10000] [--runs 5]

Each run is a process of its own over the same notes (10 links, 5 properties each; fixed seed), so
that peak memory is that of one run. Prints median, minimum and maximum of the runs. The bound in
the same run is the bare file work: reading every note's bytes and hashing them.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

WORDS = ("river", "stone", "market", "ledger", "orchard", "signal", "harbour", "lantern", "meadow", "copper")
TYPES = ("Person", "Project", "Book", "Module", "Event")
MEASURES = ("floor", "cold", "warm", "edit")


def make_vault(folder: Path, notes: int) -> None:
    """Write `notes` notes of about 1.5 kB in folders of 100."""
    chance = random.Random(notes)
    names = [f"area-{n // 100:03d}/{chance.choice(WORDS)}-{n:05d}" for n in range(notes)]
    for number, name in enumerate(names):
        links = chance.sample(names, min(10, notes))
        text = " ".join(chance.choices(WORDS, k=120))
        frontmatter = [
            f"type: {TYPES[number % len(TYPES)]}",
            f"title: {chance.choice(WORDS).title()} {number}",
            f"created: 2026-{1 + number % 12:02d}-{1 + number % 28:02d}",
            f"rating: {number % 10}",
            f"depends_on: '[[{links[0]}]]'",
        ]
        body = [f"{text}\n", *(f"- see [[{link}]] {chance.choice(WORDS)}" for link in links[1:6])]
        body += [f"\n- [[knows:{links[6]}]]", f"- part of [[part_of:{links[7]}]]"]
        body += [f"\nAlso [[{links[8]}|another]] and [a third](/{links[9]}.md). #{chance.choice(WORDS)}\n"]
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("---\n" + "\n".join(frontmatter) + "\n---\n\n" + "\n".join(body), encoding="utf-8")


def run_once(vault: Path) -> dict[str, float]:
    """Seconds for each measure, and facts, inferred facts and peak memory (MB) of this process."""
    from synapse.engine import open_vault

    began = time.perf_counter()
    files = sorted(vault.rglob("*.md"))
    for file in files:
        sha256(file.read_bytes()).digest()
    found: dict[str, float] = {"floor": time.perf_counter() - began}
    with tempfile.TemporaryDirectory() as data:
        with open_vault(vault, Path(data)) as engine:
            began = time.perf_counter()
            report = engine.index()
            found["cold"] = time.perf_counter() - began
        began = time.perf_counter()
        with open_vault(vault, Path(data)) as engine:
            engine.index()
            found["warm"] = time.perf_counter() - began
            engine.explain(*_some_fact(engine))  # the reasoner's state is made when it is first needed
            file = files[len(files) // 2]
            path, before = file.relative_to(vault).as_posix(), file.read_bytes()
            began = time.perf_counter()
            engine.write_note(path, before + b"\nOne more line.\n", before)
            found["edit"] = time.perf_counter() - began
            engine.write_note(path, before, before + b"\nOne more line.\n")
    found["facts"], found["inferred"] = report.facts, report.inferred
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def _some_fact(engine: object) -> tuple[str, str, str]:
    found = engine.query("SELECT ?s ?o { ?s prop:depends_on ?o } LIMIT 1")  # type: ignore[attr-defined]
    subject, object_ = (str(term) for term in found.rows[0])
    return subject, "depends_on", object_


def measure(notes: int, runs: int) -> dict[str, object]:
    """Median, minimum and maximum of each measure over `runs` processes."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        make_vault(vault, notes)
        results = []
        for _ in range(runs):
            command = [sys.executable, __file__, "--child", str(vault)]
            results.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    row: dict[str, object] = {"notes": notes, "runs": runs}
    for name in (*MEASURES, "peak_mb"):
        values = [result[name] for result in results]
        row[name] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    row["facts"], row["inferred"] = results[0]["facts"], results[0]["inferred"]
    row["notes_per_second"] = notes / row["cold"]["median"]  # type: ignore[index]
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="1,000 notes, one run: only that it works")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        print(json.dumps(run_once(options.child)))
        return
    sizes, runs = ([1_000], 1) if options.quick else (options.notes, options.runs)
    rows = [measure(notes, runs) for notes in sizes]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(
            f"{row['notes']:,} notes, {row['facts']:,.0f} facts, {row['inferred']:,.0f} inferred,"
            f" {runs} runs: {row['notes_per_second']:,.0f} notes/s"
        )
        for name in (*MEASURES, "peak_mb"):
            value, unit = row[name], "MB" if name == "peak_mb" else "s"
            print(
                f"  {name:8} {value['median']:9.3f} {unit:2}  ({value['min']:.3f} to {value['max']:.3f})"  # type: ignore[index]
            )


if __name__ == "__main__":
    main()
