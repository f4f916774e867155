"""Who is who, and who may write: never more rights than a person gave."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from synapse.agents.registry import UNNAMED, AgentRefused, Identity, Registry
from synapse.bridge import places
from synapse.engine.errors import NotFound, SynapseError, UsageError, WriteFailed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "agents.json"


@pytest.fixture
def registry(file: Path) -> Registry:
    return Registry(file)


def test_a_new_name_may_read_until_a_person_allows_it(registry: Registry) -> None:
    assert registry.identify("claude", None) == Identity("claude", False, "read")
    registry.allow("claude")
    assert registry.identify("claude", None) == Identity("claude", False, "write")
    assert registry.access("claude") == "write"
    assert registry.access("somebody else") == "read"


def test_without_a_name_it_is_the_unnamed_agent(registry: Registry) -> None:
    assert registry.identify(None, None) == Identity(UNNAMED, False, "read")
    assert registry.identify("  ", None).name == UNNAMED


def test_a_token_proves_the_name_and_is_not_kept(registry: Registry, file: Path) -> None:
    token = registry.add("claude")
    assert registry.identify(None, token) == Identity("claude", True, "read")
    registry.allow("claude")
    assert registry.identify("called otherwise", token) == Identity("claude", True, "write")
    assert token not in file.read_text("utf-8") and token[4:] not in file.read_text("utf-8")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_name_with_a_token_cannot_be_claimed(registry: Registry) -> None:
    registry.add("claude")
    registry.allow("claude")
    for claim in ("claude", "Claude", " CLAUDE "):
        with pytest.raises(AgentRefused, match="token"):
            registry.identify(claim, None)


def test_a_new_token_voids_the_old_one(registry: Registry) -> None:
    first = registry.add("claude")
    second = registry.add("claude")
    assert registry.identify(None, second).proven
    with pytest.raises(AgentRefused):
        registry.identify(None, first)


@pytest.mark.parametrize("token", ["", "syn_", "syn_" + "a" * 43, "x" * 100_000, "\ud800", "é"])
def test_what_was_never_issued_is_refused(registry: Registry, token: str) -> None:
    registry.add("claude")
    with pytest.raises(AgentRefused, match="SYNAPSE_AGENT_TOKEN"):
        registry.identify("claude", token)


def test_who_is_revoked_stays_out_with_token_and_with_name(registry: Registry) -> None:
    token = registry.add("claude")
    registry.identify("codex", None)
    for name in ("claude", "codex"):
        registry.allow(name)
        registry.revoke(name)
        assert registry.access(name) == "revoked"
    for claim, proof in ((None, token), ("claude", None), ("codex", None)):
        with pytest.raises(AgentRefused):
            registry.identify(claim, proof)
    registry.allow("codex")
    assert registry.identify("codex", None).access == "write"


def test_pause_stops_writes_until_resume_and_gives_no_right(registry: Registry) -> None:
    registry.identify("claude", None)
    for act in (registry.pause, registry.resume):
        with pytest.raises(UsageError):
            act("claude")
    assert registry.access("claude") == "read"
    registry.allow("claude")
    registry.pause("claude")
    assert registry.access("claude") == "paused"
    registry.resume("claude")
    assert registry.access("claude") == "write"


@pytest.mark.parametrize("name", ["x" * 65, "a\x00b", "a\x1b[31mb", "a\u202eb", "\ud800"])
def test_impossible_names_are_refused(registry: Registry, name: str) -> None:
    with pytest.raises(AgentRefused):
        registry.identify(name, None)
    with pytest.raises(SynapseError):
        registry.add(name)
    assert registry.known() == ()


def test_names_are_one_whatever_their_case_and_composition(registry: Registry) -> None:
    registry.identify("José", None)
    registry.identify("JOSE\u0301", None)
    assert [agent.name for agent in registry.known()] == ["José"]


def test_acts_on_an_unknown_agent_name_the_known_ones(registry: Registry) -> None:
    registry.identify("claude", None)
    for act in (registry.allow, registry.pause, registry.resume, registry.revoke):
        with pytest.raises(NotFound) as caught:
            act("cloude")
        assert "claude" in caught.value.hint


def test_two_registries_see_each_others_acts_at_once(registry: Registry, file: Path) -> None:
    other = Registry(file)
    registry.identify("claude", None)
    assert other.access("claude") == "read"
    other.allow("claude")
    assert registry.access("claude") == "write"
    registry.revoke("claude")
    assert other.access("claude") == "revoked"


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b'{"agents": {}}', b'{"agents": [1]}', b'{"agents": [{"name":',
        b"\xff\xfe",
        b'{"agents": [{"name": "claude", "access": "god"}]}',
        b'{"agents": [{"name": "claude", "access": "write", "last_seen": "yesterday"}]}',
    ],
)  # fmt: skip
def test_a_file_that_makes_no_sense_gives_no_rights_and_is_put_aside(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    registry = Registry(file)
    assert registry.access("claude") == "read"
    assert registry.identify("claude", None).access == "read"
    assert file.with_name("agents.json.unreadable").read_bytes() == content


def test_an_unreadable_file_gives_no_rights_and_is_not_overwritten(
    file: Path, ordinary_user: list[str]
) -> None:
    registry = Registry(file)
    registry.identify("claude", None)
    registry.allow("claude")
    before = file.read_bytes()
    file.chmod(0)
    code = (
        "import sys; from pathlib import Path; from synapse.agents.registry import *\n"
        "r = Registry(Path(sys.argv[1])); print(r.access('claude'))\n"
        "try: r.allow('claude')\n"
        "except Exception as e: print(type(e).__name__)\n"
    )
    done = subprocess.run(
        [*ordinary_user, sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["read", "WriteFailed"]
    file.chmod(0o600)
    assert file.read_bytes() == before


def test_a_disk_that_refuses_does_not_keep_a_known_agent_out(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    registry = Registry(blocked / "agents.json")
    assert registry.identify("claude", None) == Identity("claude", False, "read")
    with pytest.raises(WriteFailed):
        registry.add("claude")


def test_many_at_once_lose_nothing(file: Path) -> None:
    def work(number: int) -> None:
        mine = Registry(file)
        mine.identify(f"agent-{number}", None)
        mine.allow(f"agent-{number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {agent.access for agent in Registry(file).known()} == {"write"}
    assert len(json.loads(file.read_text("utf-8"))["agents"]) == 12


def test_the_list_lies_in_the_users_configuration(user_folder: Path) -> None:
    Registry().identify("claude", None)
    assert (Path(places.configuration_folder()) / "agents.json").exists()
    assert Path(places.configuration_folder()).is_relative_to(user_folder)
