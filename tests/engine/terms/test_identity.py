"""One entity, one name: ids and paths become IRIs and come back, and no two of them meet."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synapse.engine.terms import Identities, InvalidId, entity_id, is_absolute_iri

CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="/")
SEGMENTS = st.one_of(
    st.text(CHARACTERS, min_size=1, max_size=12),
    st.sampled_from([".", "..", "bob.md", "BOB.MD", "%2E", "a%b", "a:b", "img.png", "é", "e\u0301", "?#"]),
)
IDS = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)
NFC = "NFC"


def normal(text: str) -> str:
    return unicodedata.normalize(NFC, text)


@given(IDS)
@example("bob.md")
@example("a/.md")
def test_an_id_comes_back_from_its_iri(text: str) -> None:
    for identities in (Identities(), Identities("https://example.org/v#", {normal(text)})):
        iri = identities.entity(text).value
        assert iri.startswith(identities.base) and is_absolute_iri(iri)
        assert identities.id_of(iri) == normal(text)


@given(IDS)
def test_a_path_comes_back_from_its_documents_iri(path: str) -> None:
    identities = Identities()
    assert identities.path_of(identities.document(path).value) == normal(path)


@given(IDS, IDS)
def test_different_ids_have_different_iris(one: str, other: str) -> None:
    identities = Identities()
    assert (identities.entity(one) == identities.entity(other)) == (normal(one) == normal(other))
    assert (identities.document(one) == identities.document(other)) == (normal(one) == normal(other))


@given(IDS)
def test_a_note_is_never_taken_for_a_document(path: str) -> None:
    """For any note, the entity's IRI is not the IRI of a note file."""
    note = path + ".md"
    identities = Identities()
    entity = identities.entity(entity_id(note))
    assert entity != identities.document(note)
    read_as_path = identities.path_of(entity.value)
    assert read_as_path is None or not read_as_path.lower().endswith(".md")


@pytest.mark.parametrize("name", ["img.png", "LICENSE", "a.b/LICENSE", "Größe", "a b", "x/%20y", "東京"])
def test_a_note_beside_an_attachment_of_its_name_stays_apart(name: str) -> None:
    identities = Identities(attachments={name})
    assert identities.entity(name) != identities.document(name)
    assert identities.id_of(identities.entity(name).value) == name
    assert identities.path_of(identities.document(name).value) == name


def test_the_iris_that_the_design_names() -> None:
    identities = Identities(attachments={"img.png"})
    shown = {
        identities.entity(one).value
        for one in ("people/bob", "bob.md", "img.png", "./..", "50% a:b", "people/Zoë", "a?b#c")
    }
    assert shown == {
        "vault:/people/bob", "vault:/bob%2Emd", "vault:/img%2Epng", "vault:/%2E/%2E%2E",
        "vault:/50%25%20a%3Ab", "vault:/people/Zoë", "vault:/a%3Fb%23c",
    }  # fmt: skip
    assert identities.document("bob.md.md").value == "vault:/bob.md.md"
    assert entity_id("bob.md.md") == "bob.md"
    assert identities.id_of("vault:/bob.md") is None, "a document is no entity"


def test_composed_and_decomposed_letters_are_one_name() -> None:
    identities = Identities()
    assert identities.entity("e\u0301") == identities.entity("\u00e9")
    assert identities.document("e\u0301.md") == identities.document("\u00e9.md")


@pytest.mark.parametrize("foreign", ["vault:/", "vault:", "http://schema.org/name", "urn:synapse:tag:a", ""])
def test_other_iris_name_no_vault_entity(foreign: str) -> None:
    assert Identities().id_of(foreign) is None
    assert Identities().path_of(foreign) is None


@pytest.mark.parametrize("make", [Identities().entity, Identities().document])
def test_a_lone_surrogate_is_refused(make: object) -> None:
    with pytest.raises(InvalidId, match="Unicode"):
        make("a\ud800b")  # type: ignore[operator]


@pytest.mark.parametrize("base", ["", "vault", "vault:/x", "people/", "http://a b/", "://x/"])
def test_a_base_must_be_an_absolute_iri_that_ids_can_follow(base: str) -> None:
    with pytest.raises(InvalidId):
        Identities(base)


@pytest.mark.parametrize(
    "written",
    [
        "people/bob", "people/bob.md", "/people/bob", "/people/bob.md", "[[people/bob]]",
        "[[people/bob|Bob]]",
        "[[people/bob#work]]", " people/bob ", "<vault:/people/bob>", "vault:/people/bob",
        "vault:/people/bob.md", "people/bob.MD",
    ],
)  # fmt: skip
def test_every_way_to_write_an_id_means_the_same(written: str) -> None:
    assert Identities().parse_id(written) == "people/bob"


@pytest.mark.parametrize(
    "written",
    [
        "", " ", "/", ".md", "[[]]", "[[#heading]]", "//a", "a//b", "a/", "../a", "a/../b", "./a", "a/.",
        "..",
        "a\\..\\b", "\\\\server\\share", "C:\\notes", "c:/notes", "~/notes", "a\nb", "a\x00b", "a\ud800",
        "vault:/", "vault:/%2E%2E/x", "vault:/a//b", "<>", "vault:/%00",
    ],
)  # fmt: skip
def test_what_is_no_id_is_refused(written: str) -> None:
    with pytest.raises(InvalidId):
        Identities().parse_id(written)


@given(IDS)
def test_an_id_that_is_accepted_is_safe_and_reads_the_same_as_its_iri(text: str) -> None:
    identities = Identities()
    try:
        parsed = identities.parse_id(text)
    except InvalidId:
        return
    assert parsed == normal(parsed)
    assert not parsed.startswith("/") and not {"", ".", ".."} & set(parsed.split("/"))
    assert identities.parse_id(identities.entity(parsed).value) == parsed
