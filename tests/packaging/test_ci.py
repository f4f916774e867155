"""What CI says of skipped tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_runs"/>
<testcase classname="tests.a" name="test_left_out"><skipped type="pytest.skip" message="{reason}"/></testcase>
<testcase classname="tests.a" name="test_known"><skipped type="pytest.xfail" message="a bug"/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("reason", "data", "status"),
    [
        ("needs ../shared/data/okf, which is not here", True, 1),
        ("needs ../shared/data/okf, which is not here", False, 0),
        ("needs an X server", True, 0),
    ],
)
def test_a_skip_for_data_that_are_here_fails(tmp_path: Path, reason: str, data: bool, status: int) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT.format(reason=reason), encoding="utf-8")
    if data:
        (tmp_path / "data").mkdir()
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci/skipped.py"), str(report), str(tmp_path / "data")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status
    assert f"tests.a::test_left_out: {reason}" in done.stdout
    assert "test_known" not in done.stdout


def test_a_run_that_wrote_no_report_fails(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci/skipped.py"), str(tmp_path / "absent.xml"), str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no test report" in done.stderr
