"""Scenario packages: vocabularies and seed data of one domain.

A package is a folder with a `manifest.json`: name, version, description, `prefixes`, a JSON-LD style
`context` (word -> term), the `ontologies` and `data` files, relative to it. What a file is, its
content says, not its name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pyoxigraph import NamedNode, Triple

from synapse.engine.errors import NotFound, ScenarioInvalid
from synapse.engine.graph.reading import parse_rdf
from synapse.engine.shipped import resource_folder, scenario_folder
from synapse.engine.terms import ontology_graph

OWN_TERMS = "synapse"
"""The name under which Synapse's own axioms stand among the scenarios; always loaded, never listed."""


@dataclass(frozen=True, slots=True)
class OntologyFile:
    """One file of a scenario: the graph it becomes, and its bytes."""

    graph: NamedNode
    path: Path
    content: bytes

    @property
    def hash(self) -> str:
        return sha256(self.content).hexdigest()

    def triples(self) -> frozenset[Triple]:
        """Its facts, blank nodes skolemised. Raises RdfInvalid with line and column."""
        return frozenset(parse_rdf(self.content, graph=self.graph, path=self.path.name))


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    version: str
    description: str
    prefixes: Mapping[str, str]
    context: Mapping[str, str]
    files: Sequence[OntologyFile]


def available() -> list[str]:
    """Names of the scenarios that come with Synapse."""
    return sorted(path.parent.name for path in scenario_folder().glob("*/manifest.json"))


def load_scenario(name: str) -> Scenario:
    """A scenario by name. Raises NotFound, and ScenarioInvalid where its manifest is wrong."""
    folder = scenario_folder() / name
    if name not in available():
        raise NotFound(f"There is no scenario {name!r}.", f"Known are {', '.join(available())}.")
    manifest = folder / "manifest.json"
    try:
        read = json.loads(manifest.read_text(encoding="utf-8"))
        files = [*read.get("ontologies", []), *read.get("data", [])]
        return Scenario(
            str(read["name"]),
            str(read["version"]),
            str(read.get("description", "")),
            _strings(read.get("prefixes", {})),
            _strings(read.get("context", {})),
            tuple(_file(name, folder, str(file)) for file in files),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScenarioInvalid(
            f"The scenario {name} cannot be read ({error}).", "Install Synapse again.", path=str(manifest)
        ) from error


def own_terms() -> list[OntologyFile]:
    """Synapse's own axioms and labels."""
    path = resource_folder() / "terms" / "synapse.ttl"
    return [OntologyFile(ontology_graph(OWN_TERMS, "terms"), path, path.read_bytes())]


def _file(scenario: str, folder: Path, file: str) -> OntologyFile:
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{file} lies outside the package")
    return OntologyFile(ontology_graph(scenario, file), path, path.read_bytes())


def _strings(found: Mapping[str, object]) -> dict[str, str]:
    return {str(key): str(value) for key, value in found.items()}
