"""Where named graphs come from, as PROV-O statements for `urn:synapse:meta`.

Pure functions (design/data-model.md, section 6; https://www.w3.org/TR/prov-o/). Every node has a
stable IRI, none is blank; withdrawn statements are RDF 1.2 triple terms in object position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import Facts
from synapse.engine.record.events import Agent, Event, Identifiers
from synapse.engine.terms import assertion_graph, canonical
from synapse.engine.terms import vocabulary as v

INDEXER: Final = NamedNode(v.AGENT + "indexer")
CONTENT_HASH: Final = NamedNode(v.PROP + "content_hash")
PATH: Final = NamedNode(v.PROP + "path")
REASON: Final = NamedNode(v.PROP + "reason")
SOURCE: Final = NamedNode(v.PROP + "source")
CLIENT: Final = NamedNode(v.PROP + "client")
CLIENT_VERSION: Final = NamedNode(v.PROP + "client_version")
WITHDREW: Final = NamedNode(v.PROP + "withdrew")

_OWN_AGENTS: Final = {INDEXER: "Synapse's indexer", v.REASONER: "Synapse's reasoner"}
_NOT_RDF_TEXT: Final = re.compile("[\x00\ud800-\udfff]")
_ids = Identifiers()


def new_activity(started: str) -> NamedNode:
    """A name for an activity that begins now. started: as events.utc_now gives it."""
    return activity_iri(_ids.new(started))


def activity_iri(activity: str) -> NamedNode:
    """The activity of a journal event, by the event's id."""
    return NamedNode(v.ACTIVITY + quote(activity, safe=""))


@lru_cache(maxsize=1024)
def agent_iri(agent: Agent) -> NamedNode:
    """One node for each person, and for each program and version of it an agent came through."""
    parts = (agent.kind, agent.name, agent.client, agent.version)
    named = "/".join(quote(_clean(part), safe="") for part in parts)
    return NamedNode(v.AGENT + named.rstrip("/"))


@lru_cache(maxsize=1024)
def agent(agent: Agent | NamedNode) -> Facts:
    """What is known of an agent; a node is one of Synapse's own (INDEXER, the reasoner)."""
    if isinstance(agent, NamedNode):
        label = Literal(_OWN_AGENTS[agent])
        return frozenset({_typed(agent, v.PROV_SOFTWARE_AGENT), Triple(agent, v.RDFS_LABEL, label)})
    node = agent_iri(agent)
    kind = v.PROV_PERSON if agent.kind == "person" else v.PROV_SOFTWARE_AGENT
    found = {_typed(node, kind), Triple(node, v.RDFS_LABEL, _text(agent.name))}
    if agent.client:
        found.add(Triple(node, CLIENT, _text(agent.client)))
    if agent.version:
        found.add(Triple(node, CLIENT_VERSION, _text(agent.version)))
    return frozenset(found)


def activity(node: NamedNode, started: str, ended: str, who: Agent | NamedNode, why: str = "") -> Facts:
    """An activity from `started` to `ended` (UTC, ISO 8601), with its agent."""
    found = {
        _typed(node, v.PROV_ACTIVITY),
        Triple(node, v.PROV_STARTED_AT_TIME, _time(started)),
        Triple(node, v.PROV_ENDED_AT_TIME, _time(ended)),
        Triple(node, v.PROV_WAS_ASSOCIATED_WITH, who if isinstance(who, NamedNode) else agent_iri(who)),
    }
    if why:
        found.add(Triple(node, REASON, _text(why)))
    return frozenset(found) | agent(who)


def document(graph: NamedNode, path: str, content_hash: str, activity: NamedNode) -> Facts:
    """The graph of a file in the vault. Its IRI is the file's own, so it is derived from itself."""
    return _file(graph, graph, path, content_hash, activity)


def ontology(
    graph: NamedNode, path: str, content_hash: str, activity: NamedNode, source: NamedNode | None = None
) -> Facts:
    """The graph of an installed ontology or data file. path: within its scenario.

    source: where the file says it comes from, else the file itself.
    """
    return _file(graph, source or graph, path, content_hash, activity)


def inferences(activity: NamedNode, sources: Iterable[NamedNode] = ()) -> Facts:
    """The graph of what the reasoner derived, from the graphs it read."""
    found = {_typed(v.INFERRED, v.PROV_ENTITY), Triple(v.INFERRED, v.PROV_WAS_GENERATED_BY, activity)}
    found.update(Triple(v.INFERRED, v.PROV_WAS_DERIVED_FROM, source) for source in sources)
    return frozenset(found)


def _file(graph: NamedNode, source: NamedNode, path: str, content_hash: str, activity: NamedNode) -> Facts:
    return frozenset(
        {
            _typed(graph, v.PROV_ENTITY),
            Triple(graph, v.PROV_WAS_DERIVED_FROM, source),
            Triple(graph, v.PROV_WAS_GENERATED_BY, activity),
            Triple(graph, CONTENT_HASH, _text(content_hash)),
            Triple(graph, PATH, _text(path)),
        }
    )


def assertion(event: Event, source: NamedNode | str | None = None) -> Facts:
    """The graph of what an agent stated by one `assert` event.

    source: where the agent has it from: a node where that names one, else its words.
    """
    graph, node = assertion_graph(event.id), activity_iri(event.id)
    found = {_typed(graph, v.PROV_ENTITY), Triple(graph, v.PROV_WAS_GENERATED_BY, node)}
    if isinstance(source, NamedNode):
        found.add(Triple(graph, v.PROV_WAS_DERIVED_FROM, source))
    elif source:
        found.add(Triple(graph, SOURCE, _text(source)))
    return frozenset(found) | activity(node, event.time, event.time, event.who, event.why)


def retraction(assertion_id: str, event: Event, withdrawn: Iterable[Triple]) -> Facts:
    """That `event` withdrew these statements of an assertion."""
    node = activity_iri(event.id)
    found = {Triple(assertion_graph(assertion_id), v.PROV_WAS_INVALIDATED_BY, node)}
    found.update(Triple(node, WITHDREW, triple) for triple in withdrawn)
    return frozenset(found) | activity(node, event.time, event.time, event.who, event.why)


def _typed(node: NamedNode, kind: NamedNode) -> Triple:
    return Triple(node, v.RDF_TYPE, kind)


def _time(moment: str) -> Literal:
    return canonical(Literal(moment, datatype=v.XSD_DATE_TIME))


def _clean(text: str) -> str:
    return _NOT_RDF_TEXT.sub("\ufffd", text)


def _text(text: str) -> Literal:
    return Literal(_clean(text))
