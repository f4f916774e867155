"""All tools, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Mapping

from synapse.agents.tools import dossiers, impacts, neighbourhoods, provenances, querying, searching, stating
from synapse.agents.tools.tool import Tool

TOOLS: tuple[Tool, ...] = (
    searching.DIGEST,
    searching.SEARCH,
    dossiers.TOOL,
    neighbourhoods.TOOL,
    impacts.TOOL,
    provenances.TOOL,
    stating.ASSERT,
    stating.RETRACT,
    querying.TOOL,
)

BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
