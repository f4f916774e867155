"""Names the tests that a run skipped; fails where one lacked data that are here.

usage: skipped.py JUNIT_XML DATA_FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree


def skipped(report: Path) -> list[tuple[str, str]]:
    """Name and reason of each skipped test, in the order of the run."""
    found = []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        mark = case.find("skipped")
        if mark is not None and mark.get("type") != "pytest.xfail":
            name = "::".join(part for part in (case.get("classname"), case.get("name")) if part)
            found.append((name, mark.get("message", "")))
    return found


def main(report: Path, data: Path) -> int:
    if not report.exists() or not report.stat().st_size:
        print("no test report was written", file=sys.stderr)
        return 1
    tests = skipped(report)
    print(f"skipped: {len(tests)}")
    for name, reason in tests:
        print(f"  {name}: {reason}")
    # The fixture `shared_data` words its reason so.
    lacking = [name for name, reason in tests if "shared/data" in reason]
    if data.is_dir() and lacking:
        print(f"{data} is here, and yet {len(lacking)} tests that need it were skipped", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
