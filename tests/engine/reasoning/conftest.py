"""What follows, computed in two other ways: by SPARQL texts written apart from the rule table, and by the
table's own SPARQL. Both run over and over until nothing is new."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse

from synapse.engine.reasoning import Reasoner, Rule, as_sparql, recheck
from synapse.engine.terms import vocabulary as v

Facts = set[Triple]
Oracle = Callable[[Iterable[Triple]], Facts]

PREFIXES = "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in v.PREFIXES.items())

RDFS = {
    "rdfs2": "?x a ?class <- ?p rdfs:domain ?class . ?x ?p ?any",
    "rdfs3": "?x a ?class <- ?p rdfs:range ?class . ?any ?p ?x",
    "rdfs5": "?a rdfs:subPropertyOf ?c <- ?a rdfs:subPropertyOf/rdfs:subPropertyOf ?c",
    "rdfs7": "?x ?super ?y <- ?x ?p ?y . ?p rdfs:subPropertyOf ?super",
    "rdfs9": "?x a ?super <- ?x a/rdfs:subClassOf ?super",
    "rdfs11": "?a rdfs:subClassOf ?c <- ?a rdfs:subClassOf/rdfs:subClassOf ?c",
}
PLUS = {
    "same class": "?x a ?b <- ?x a ?a . { ?a owl:equivalentClass ?b } UNION { ?b owl:equivalentClass ?a }",
    "same property": "?x ?q ?y <- ?x ?p ?y . ?p owl:equivalentProperty|^owl:equivalentProperty ?q",
    "classes include each other": "?a rdfs:subClassOf ?b <- ?a owl:equivalentClass|^owl:equivalentClass ?b",
    "properties include each other":
        "?a rdfs:subPropertyOf ?b <- ?a owl:equivalentProperty|^owl:equivalentProperty ?b",
    "mutual classes": "?a owl:equivalentClass ?b <- ?a rdfs:subClassOf ?b . ?b rdfs:subClassOf ?a",
    "mutual properties":
        "?a owl:equivalentProperty ?b <- ?a rdfs:subPropertyOf ?b . ?b rdfs:subPropertyOf ?a",
    "inverse": "?y ?q ?x <- ?x ?p ?y . ?p owl:inverseOf|^owl:inverseOf ?q",
    "symmetric": "?y ?p ?x <- ?x ?p ?y . ?p a owl:SymmetricProperty",
    "transitive": "?x ?p ?z <- ?p a owl:TransitiveProperty . ?x ?p ?y . ?y ?p ?z",
    "chain of two": "?x ?r ?z <- ?r owl:propertyChainAxiom ?l . ?l rdf:first ?p ; rdf:rest ?m ."
        " ?m rdf:first ?q ; rdf:rest rdf:nil . ?x ?p ?y . ?y ?q ?z",
    "chain of three": "?w ?r ?z <- ?r owl:propertyChainAxiom ?l . ?l rdf:first ?p ; rdf:rest ?m ."
        " ?m rdf:first ?q ; rdf:rest ?n . ?n rdf:first ?s ; rdf:rest rdf:nil ."
        " ?w ?p ?x . ?x ?q ?y . ?y ?s ?z",
}  # fmt: skip
REFLEXIVE = {
    NamedNode(v.RDFS + "subClassOf"),
    NamedNode(v.RDFS + "subPropertyOf"),
    NamedNode(v.OWL + "equivalentClass"),
    NamedNode(v.OWL + "equivalentProperty"),
    NamedNode(v.OWL + "sameAs"),
}
NODES_ONLY = REFLEXIVE | {NamedNode(v.RDF + "type"), NamedNode(v.OWL + "inverseOf")}
NODES_ONLY |= {NamedNode(v.RDFS + name) for name in ("domain", "range")}


def _is_said(triple: Triple) -> bool:
    if isinstance(triple.object, Literal):
        return triple.predicate not in NODES_ONLY
    return triple.predicate not in REFLEXIVE or triple.subject != triple.object


def _closure_by(texts: Iterable[str], stated: Iterable[Triple]) -> Facts:
    queries = []
    for text in texts:
        head, body = text.split(" <- ")
        queries.append(f"{PREFIXES} CONSTRUCT {{ {head} }} WHERE {{ {body} }}")
    store = Store()
    given = set(stated)
    store.extend(Quad(*triple) for triple in given)
    while True:
        before = len(store)
        for query in queries:
            found = [triple for triple in store.query(query) if _is_said(triple)]
            store.extend(Quad(*triple) for triple in found)
        if len(store) == before:
            return {quad.triple for quad in store} - given


@pytest.fixture(scope="session")
def oracle() -> Callable[..., Facts]:
    """`oracle(stated, profile)`: what is inferred, by SPARQL texts of the tests' own."""

    def infer(stated: Iterable[Triple], profile: str = "rdfs-plus") -> Facts:
        return _closure_by([*RDFS.values(), *(PLUS.values() if profile == "rdfs-plus" else ())], stated)

    return infer


@pytest.fixture(scope="session")
def table_oracle() -> Callable[..., Facts]:
    """`table_oracle(rules, stated)`: what is inferred, by the SPARQL updates of rules of the table."""

    def infer(rules: Iterable[Rule], stated: Iterable[Triple]) -> Facts:
        updates = [as_sparql(rule) for rule in rules]
        store = Store()
        given = set(stated)
        store.extend(Quad(*triple) for triple in given)
        before = -1
        while before != len(store):
            before = len(store)
            for update in updates:
                store.update(update)
        return {quad.triple for quad in store} - given

    return infer


@pytest.fixture(scope="session")
def turtle() -> Callable[[str], list[Triple]]:
    """Triples written in Turtle, with the known prefixes and `:` for the vault; lists get names."""

    def read(text: str) -> list[Triple]:
        document = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in v.PREFIXES.items())
        document += f"@prefix : <vault:/> .\n{text}"
        return [quad.triple for quad in parse(document, format=RdfFormat.TURTLE)]

    return read


@pytest.fixture(scope="session")
def audit() -> Callable[[Reasoner, Iterable[Triple]], None]:
    """`audit(reasoner, stated)`: every inference has a reason that holds and a proof from stated facts."""

    def look(reasoner: Reasoner, stated: Iterable[Triple]) -> None:
        given = set(stated)
        inferred = reasoner.inferred()
        assert not inferred & given
        known = inferred | given
        for fact in inferred:
            derivation = reasoner.derivation(fact)
            assert derivation is not None and derivation.conclusion == fact
            assert set(derivation.premises) <= known
            assert recheck(derivation)
            proof = reasoner.proof(fact, str)  # raises where it is circular or rests on nothing
            assert proof is not None and proof.conclusion.fact == fact
            assert set(proof.stated()) <= given
            for position, step in enumerate(proof.steps):
                assert all(premise < position for premise in step.premises)

    return look


def _name(local: str) -> NamedNode:
    return NamedNode(f"vault:/{local}")


CLASSES = [_name(f"C{i}") for i in range(4)]
PROPERTIES = [_name(f"p{i}") for i in range(4)]
THINGS = [_name(f"n{i}") for i in range(5)]
LISTS = [_name(f"l{i}") for i in range(3)]
LITERALS = [Literal("a word"), Literal(7)]


def _triples(subjects: list, predicates: list, objects: list) -> st.SearchStrategy[Triple]:
    pick = st.sampled_from
    return st.builds(Triple, pick(subjects), pick(predicates), pick(objects))


_axioms = st.one_of(
    _triples(CLASSES, [v.RDFS_SUB_CLASS_OF, v.OWL_EQUIVALENT_CLASS, v.RDFS_SUB_CLASS_OF], CLASSES),
    _triples(PROPERTIES, [v.RDFS_SUB_PROPERTY_OF, v.OWL_INVERSE_OF, v.OWL_EQUIVALENT_PROPERTY], PROPERTIES),
    _triples(PROPERTIES, [v.RDFS_DOMAIN, v.RDFS_RANGE], CLASSES),
    _triples(PROPERTIES, [v.RDF_TYPE], [v.OWL_SYMMETRIC_PROPERTY, v.OWL_TRANSITIVE_PROPERTY]),
)
_lists = st.one_of(
    _triples(PROPERTIES, [NamedNode(v.OWL + "propertyChainAxiom")], LISTS[:2]),
    _triples(LISTS, [NamedNode(v.RDF + "first")], PROPERTIES),
    _triples(LISTS, [NamedNode(v.RDF + "rest")], [*LISTS, NamedNode(v.RDF + "nil")]),
)
# The vocabulary used on itself, and words where nodes belong.
_odd = st.one_of(
    _triples(PROPERTIES, [v.RDFS_SUB_PROPERTY_OF], [v.RDFS_SUB_CLASS_OF, v.RDF_TYPE, v.OWL_INVERSE_OF]),
    _triples(CLASSES, [v.RDFS_SUB_CLASS_OF], [v.OWL_TRANSITIVE_PROPERTY, v.OWL_SYMMETRIC_PROPERTY]),
    _triples(PROPERTIES, [v.RDF_TYPE], CLASSES),
    _triples([v.RDF_TYPE, v.RDFS_SUB_CLASS_OF], [v.RDFS_DOMAIN, v.RDFS_RANGE], CLASSES),
    _triples([v.RDFS_SUB_CLASS_OF], [v.RDF_TYPE], [v.OWL_TRANSITIVE_PROPERTY, v.OWL_SYMMETRIC_PROPERTY]),
    _triples(CLASSES, [v.RDFS_SUB_CLASS_OF, v.RDF_TYPE], LITERALS),
    _triples(PROPERTIES, [v.RDFS_SUB_PROPERTY_OF, v.OWL_INVERSE_OF, v.RDFS_RANGE], LITERALS),
)
_data = st.one_of(
    _triples(THINGS, [v.RDF_TYPE], CLASSES),
    _triples(THINGS, PROPERTIES, THINGS),
    _triples(THINGS, PROPERTIES, [*THINGS, *LITERALS]),
)


@pytest.fixture(scope="session")
def triples() -> st.SearchStrategy[Triple]:
    """Statements over a few names, so that they meet: axioms, lists, data and odd ones."""
    return st.one_of(_axioms, _axioms, _data, _data, _data, _lists, _odd)
