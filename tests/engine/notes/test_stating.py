"""What a note states: every row of the table in data-model.md section 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Store

from synapse.engine.notes.links import LinkResolver, path_key
from synapse.engine.notes.reading import is_listing, read_note
from synapse.engine.notes.stating import NoteFacts, state_note
from synapse.engine.terms import Identities, Words, skolem
from synapse.engine.terms import vocabulary as v

PATHS = (
    "note.md",
    "people/bob.md",
    "people/alice.md",
    "img.png",
    "data/table.csv",
    "a/Title: sub.md",
    "knows:bob.md",
)
WORDS = Words([{"Person": "schema:Person", "knows": "schema:knows"}], {"ex": "http://example.org/"})
NAMES = {
    "label": v.RDFS_LABEL,
    "alias": v.SKOS_ALT_LABEL,
    "a": v.RDF_TYPE,
    "mentions": v.SCHEMA_MENTIONS,
    "cites": v.SCHEMA_CITATION,
    "embeds": v.EMBEDS,
    "keyword": v.SCHEMA_KEYWORDS,
    "broader": v.SKOS_BROADER,
    "knows": NamedNode("http://schema.org/knows"),
}
SHORT = {iri: name for name, iri in NAMES.items()}


def state(
    text: str,
    path: str = "note.md",
    paths: tuple[str, ...] = PATHS,
    uris: Mapping[str, str] | None = None,
    listing: bool = False,
) -> NoteFacts:
    attachments = frozenset(name for name in paths if not name.endswith(".md"))
    note = read_note(path, text.encode())
    return state_note(note, LinkResolver(paths), WORDS, Identities(attachments=attachments), uris, listing)


def short(term: object) -> str:
    if isinstance(term, Literal):
        kind = term.datatype.value.rpartition("#")[2]
        return repr(term.value) if kind == "string" else f"{term.value}^{kind}"
    assert isinstance(term, NamedNode)
    text = SHORT.get(term, term.value)
    for prefix, namespace in (
        ("", "vault:/"),
        ("p:", v.PROP),
        ("t:", v.TYPE),
        ("#", v.TAG),
        ("schema:", v.SCHEMA),
    ):
        if text.startswith(namespace):
            return prefix + text[len(namespace) :]
    return text


def facts(text: str, **options: object) -> set[str]:
    """The facts but the note's own label, and the labels of words, in a short form."""
    found = state(text, **options)  # type: ignore[arg-type]
    lines = set()
    for triple, _ in found.facts:
        if triple.predicate == v.RDFS_LABEL and triple.subject != found.entity:
            continue
        subject = "" if triple.subject == found.entity else short(triple.subject) + " "
        if not subject and triple.predicate == v.RDFS_LABEL:
            continue
        lines.add(f"{subject}{short(triple.predicate)} {short(triple.object)}")
    return lines


CASES: list[tuple[str, set[str]]] = [
    ("text", set()),
    ("---\ntype: Person\n---\n", {"a schema:Person"}),
    ("---\ntype: [person, Attested Computation]\n---\n", {"a schema:Person", "a t:attested_computation"}),
    ("---\ntype: '[[people/bob]]'\n---\n", {"a people/bob"}),
    ("---\ntype: ex:Thing\n---\n", {"a http://example.org/Thing"}),
    (
        "---\naliases: [B, '[[x]]', 2]\nalias: C\n---\n",
        {"alias 'B'", "alias '[[x]]'", "alias '2'", "alias 'C'"},
    ),
    (
        "#Area/Work",
        {
            "keyword #area/work",
            "#area/work broader #area",
            f"#area/work a {v.SKOS_CONCEPT.value}",
            f"#area a {v.SKOS_CONCEPT.value}",
        },
    ),
    ("---\nborn: 1980-01-02\n---\n", {"p:born 1980-01-02^date"}),
    (
        "---\nn: 5\nq: '5'\nb: true\nd: 1.50\n---\n",
        {"p:n 5^integer", "p:q '5'", "p:b true^boolean", "p:d 1.5^decimal"},
    ),
    ("---\nn:\nm: ~\nl: []\ne: ''\n---\n", {"p:e ''"}),
    ("---\nKnows: [a, '[[people/bob]]', [b]]\n---\n", {"knows 'a'", "knows people/bob", "knows 'b'"}),
    (
        "---\nknows: people/bob.md\nat: people/alice\nf: data/table.csv\n---\n",
        {"knows people/bob", "p:at people/alice", "p:f data/table.csv"},
    ),
    ("---\nknows: people/nobody\nx: a/b\n---\n", {"knows 'people/nobody'", "p:x 'a/b'"}),
    (
        "---\nurl: https://example.org/x\nq: 'https://e.org'\n---\n",
        {"p:url https://example.org/x", "p:q https://e.org"},
    ),
    (
        "---\nm: mailto:a@b.c\nu: urn:isbn:1\ns: schema:Person\nq: 'schema:Person'\n---\n",
        {"p:m mailto:a@b.c", "p:u urn:isbn:1", "p:s schema:Person", "p:q 'schema:Person'"},
    ),
    ("---\nbad: 'http://[x'\ntime: 12:30\n---\n", {"p:bad 'http://[x'", "p:time '12:30'"}),
    ("---\nschema:name: Bob\n---\n", {"schema:name 'Bob'"}),
    (
        "knows:: [[people/bob]]\n\nage:: 42\n\n[x:: true]",
        {"knows people/bob", "p:age 42^integer", "p:x true^boolean"},
    ),
    (
        "[[people/bob]] [t](people/alice.md) [r]\n\n[r]: new.md",
        {"mentions people/bob", "mentions people/alice", "mentions new"},
    ),
    ("[[nobody at all]]", {"mentions nobody%20at%20all"}),
    ("[[#heading]] [[note]]", {"mentions note"}),
    ("[t](https://e.org/a[b]) <urn:x:y>", {"cites https://e.org/a%5Bb%5D", "cites urn:x:y"}),
    ("[t](obsidian://x) [m](mailto:a@b.c) [j](javascript:alert(1))", set()),
    (
        "![[img.png]] ![](img.png) ![[people/bob#h]] ![](https://e.org/i.png)",
        {"embeds img.png", "embeds people/bob", "embeds https://e.org/i.png"},
    ),
    ("[[knows::people/bob]] [[uses:people/bob]]", {"knows people/bob", "p:uses people/bob"}),
    (
        "[[schema:knows:people/bob]] [[schema:knows::people/alice]]",
        {"knows people/bob", "knows people/alice"},
    ),
    ("[[schema:Person]] [t](schema:Thing)", {"mentions schema:Person", "mentions schema:Thing"}),
    ("[[knows:bob]]", {"mentions knows%3Abob"}),
    (
        "[[Title: sub]] [[A title: other]] [[12:30]]",
        {"mentions a/Title%3A%20sub", "mentions A%20title%3A%20other", "mentions 12%3A30"},
    ),
    (
        "[[https://e.org]] [[doi:10.1/2]] [[rel://x]] [[http: the protocol]]",
        {"cites https://e.org", "cites doi:10.1/2", "mentions rel%3A/x", "mentions http%3A%20the%20protocol"},
    ),
    (
        "[t](people/bob.md \"rel:depends_on\") [t](https://e.org 'rel:knows')",
        {"p:depends_on people/bob", "knows https://e.org"},
    ),
    (
        "## Relations\n- depends on [[people/bob]]\n- [[people/alice]]",
        {"p:depends_on people/bob", "mentions people/alice"},
    ),
    (
        "---\nrelationships:\n- {to: people/bob, type: knows}\n- {to: '[[new]]', type: schema:about}\n---\n",
        {"knows people/bob", "schema:about new"},
    ),
    ("---\nlinks: [{target: people/alice.md, rel: knows}]\n---\n", {"knows people/alice"}),
    ("---\nlinks: ['[[people/alice]]']\n---\n", {"p:links people/alice"}),
    (
        "---\ntype: ontology\nsymmetric: [knows]\n---\n- subclass_of: Dog -> Animal\n"
        "sub_property_of: loves -> knows\ninverse_of: owns → owned by\ntransitive: part of, in",
        {
            "a t:ontology",
            f"t:dog {v.RDFS_SUB_CLASS_OF.value} t:animal",
            f"p:loves {v.RDFS_SUB_PROPERTY_OF.value} knows",
            f"p:owns {v.OWL_INVERSE_OF.value} p:owned_by",
            f"p:part_of a {v.OWL_TRANSITIVE_PROPERTY.value}",
            f"p:in a {v.OWL_TRANSITIVE_PROPERTY.value}",
            f"knows a {v.OWL_SYMMETRIC_PROPERTY.value}",
        },
    ),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_note_states(text: str, expected: set[str]) -> None:
    assert facts(text) == expected


def test_the_note_is_labelled_and_has_its_file_as_graph() -> None:
    found = state("# Bob\n", "people/bob.md")
    assert (found.graph.value, found.entity.value) == ("vault:/people/bob.md", "vault:/people/bob")
    ((triple, span),) = found.facts
    assert (triple.predicate, triple.object) == (v.RDFS_LABEL, Literal("Bob"))
    assert span is not None and span.line == 1


def test_a_mapping_is_a_node_of_its_own_at_any_depth() -> None:
    text = "---\nhome:\n  city: Oslo\n  at: [{lat: 1.5}, x]\n  type: Place\n---\n"
    home = skolem("vault:/note.md", "/home")
    at = skolem("vault:/note.md", "/home/at/0")
    assert facts(text) == {
        f"p:home {home.value}",
        f"{home.value} p:city 'Oslo'",
        f"{home.value} p:at {at.value}",
        f"{home.value} p:at 'x'",
        f"{at.value} p:lat 1.5^decimal",
        f"{home.value} a t:place",
    }


def test_words_and_tags_that_make_their_terms_are_labelled_as_first_written() -> None:
    found = state(
        "---\nWorks For: x\ntype: Space Ship\nknows: y\n---\n#Area/Work #area/work\n\nworks_for:: z\n"
    )
    labels = {
        (short(fact.triple.subject), short(fact.triple.object))
        for fact in found.facts
        if fact.triple.predicate == v.RDFS_LABEL
    }
    assert labels >= {
        ("p:works_for", "'Works For'"),
        ("t:space_ship", "'Space Ship'"),
        ("#area/work", "'Area/Work'"),
        ("#area", "'Area'"),
    }
    assert not any(subject == "knows" for subject, _ in labels)


def test_a_uri_names_the_entity_here_and_in_links_to_it() -> None:
    uri = "https://example.org/bob"
    assert state(f"---\nuri: {uri}\n---\n", "people/bob.md").entity.value == uri
    found = state("[[bob]] ", uris={"people/bob.md": uri})
    assert facts("[[bob]]", uris={"people/bob.md": uri}) == {f"mentions {uri}"}
    assert found.links[0].target_id == "people/bob"


def test_links_say_what_they_mean() -> None:
    found = state("---\nknows: '[[bob|B]]'\n---\n[[uses:alice#h|A]] [[nobody]] [t](https://e.org)")
    assert [
        (link.kind, link.target_text, link.target_id, link.path, link.anchor, link.text, link.relation)
        for link in found.links
    ] == [
        ("frontmatter", "bob", "people/bob", "people/bob.md", "", "B", "knows"),
        ("wikilink", "alice", "people/alice", "people/alice.md", "h", "A", "uses"),
        ("wikilink", "nobody", "nobody", None, "", "", None),
        ("url", "https://e.org", "https://e.org", None, "", "t", None),
    ]


def test_an_ambiguous_link_is_told_with_the_other_files() -> None:
    found = state("[[x]]", paths=("a/x.md", "b/x.md"))
    (problem,) = found.diagnostics
    assert problem.code == "link-ambiguous" and "b/x.md" in problem.message


@pytest.mark.parametrize("text", ["[[/]]", "[[..]]", "[t](..)", "[[a::/]]"])
def test_a_link_that_names_nothing_is_told(text: str) -> None:
    assert facts(text) == set()
    assert [item.code for item in state(text).diagnostics] == ["link-target"]


def test_each_fact_has_the_place_that_states_it() -> None:
    text = "---\nborn: 1980-01-02\n---\n\nknows:: [[people/bob]]\n\nagain [[knows::people/bob]] #t\n"
    found = {short(fact.triple.predicate): fact.span for fact in state(text).facts}
    lines = {name: span.line for name, span in found.items() if span is not None}
    assert lines["p:born"] == 2 and lines["knows"] == 5 and lines["keyword"] == 7


def test_a_listing_of_a_bundle_keeps_its_links_and_states_nothing() -> None:
    found = state("# List\n[[people/bob]]", "index.md", listing=True)
    assert found.facts == () and found.links[0].path == "people/bob.md"
    assert is_listing("a/index.md") and is_listing("log.md") and not is_listing("my-index.md")
    assert read_note("index.md", b'---\nokf_version: "0.2"\n---\n').okf_version == "0.2"


TEXTS = st.lists(
    st.sampled_from(
        [
            *"ab:[]()|#^!<>-*_`$%\\/\"'{}&,.~ \t\n\0é\u2028",
            "---\n",
            "[[",
            "]]",
            "::",
            "\n- ",
            "\ntype: ",
            "http://",
            "## Relations\n- ",
        ]
    ),
    max_size=50,
).map("".join)


@given(TEXTS, st.booleans())
def test_whatever_a_note_states_the_store_takes_and_gives_back(text: str, frontmatter: bool) -> None:
    found = state(f"---\n{text}\n---\n{text}" if frontmatter else text)
    store = Store()
    store.extend(Quad(*fact.triple, found.graph) for fact in found.facts)
    assert {quad.triple for quad in store} == {fact.triple for fact in found.facts}
    assert len({fact.triple for fact in found.facts}) == len(found.facts)


@given(TEXTS, st.sampled_from(["a.md", "b.md", "x/a.md", "a:b.md", "é.md", "a.md.md", "a/b.png"]))
def test_a_file_outside_the_lookups_changes_nothing(text: str, path: str) -> None:
    text = f"---\nk: {text}\nv: a/b\n---\n{text}"
    before, after = state(text, paths=("note.md",)), state(text, paths=("note.md", path))
    if path_key(path) not in before.lookups:
        assert after.facts == before.facts and after.links == before.links
    assert after.lookups == before.lookups


def test_every_vault_and_bundle_states_facts_that_a_store_takes(shared_data: Callable[[str], Path]) -> None:
    roots = [shared_data("vaults/kepano-obsidian"), shared_data("okf/okf-gem"), shared_data("okf/google")]
    roots.append(shared_data("vaults/obsidian-tasks/resources/sample_vaults/Tasks-Demo"))
    for root in roots:
        found = bundle(root)
        store = Store()
        for facts_of_note in found.values():
            store.extend(Quad(*fact.triple, facts_of_note.graph) for fact in facts_of_note.facts)
        assert len(store) == sum(len(facts_of_note.facts) for facts_of_note in found.values())


def bundle(root: Path) -> dict[str, NoteFacts]:
    paths = [file.relative_to(root).as_posix() for file in sorted(root.rglob("*")) if file.is_file()]
    resolver = LinkResolver(paths)
    identities = Identities(attachments=frozenset(path for path in paths if not path.endswith(".md")))
    return {
        path: state_note(read_note(path, (root / path).read_bytes()), resolver, Words(), identities)
        for path in paths
        if path.endswith(".md")
    }


def test_the_links_between_concepts_of_a_bundle_are_all_found(shared_data: Callable[[str], Path]) -> None:
    found = bundle(shared_data("okf/okf-studio/docs"))
    concepts = {path: facts_of_note for path, facts_of_note in found.items() if not is_listing(path)}
    pairs = {
        (path, link.path)
        for path, facts_of_note in concepts.items()
        for link in facts_of_note.links
        if link.kind == "markdown" and link.path in concepts and link.path != path
    }
    assert (len(concepts), len(pairs)) == (110, 754)
