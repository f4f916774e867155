"""The right to a vault's store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from synapse.engine import open_vault
from synapse.engine.errors import VaultLocked


def test_a_vault_opened_on_one_thread_and_closed_on_another_is_free_again(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with ThreadPoolExecutor(1) as pool:
        engine = pool.submit(open_vault, tmp_path / "vault", tmp_path / "data").result()
    with pytest.raises(VaultLocked):
        open_vault(tmp_path / "vault", tmp_path / "data")
    engine.close()
    open_vault(tmp_path / "vault", tmp_path / "data").close()
