"""Full text in every script, and no input that is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from synapse.engine.catalogue import Catalogue, FileEntry, FileRecord, Update
from synapse.engine.catalogue.fulltext import HIT_END, HIT_START, indexed, shown

NOTES = {
    "tokyo": "今日は東京都へ行く",
    "kyoto": "京都の東",
    "thai": "ภาษาไทยไม่มีช่องว่าง",
    "korean": "한국어를 배운다",
    "french": "un café crème à Orléans",
    "decomposed": "un cafe\u0301 noir",
    "czech": "Příliš žluťoučký kůň",
    "english": "Synapse remembers what people wrote about payments",
    "phrase": "the quick brown fox",
    "scattered": "quick and brown is the fox",
    "mixed": "東京2020大会 Olympics",
    "greek": "Ἀλήθεια και Ελλάδα",
    "operators": "NOT this AND that OR NEAR me, a* b^2 col:x (y) -z +w",
}


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], list[str]]]:
    catalogue = Catalogue(tmp_path_factory.mktemp("catalogue") / "c.sqlite")
    written = [
        FileEntry(FileRecord(f"{name}.md", "note", 1, 1, "h", name, title=name), body)
        for name, body in NOTES.items()
    ]
    catalogue.apply(Update(written=written))
    yield lambda text: [hit.key.removesuffix(".md") for hit in catalogue.search(text)[0]]
    catalogue.close()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("東京", {"tokyo", "mixed"}), ("東京都", {"tokyo"}), ("京都", {"tokyo", "kyoto"}), ("都京", set()),
        ("京", {"tokyo", "kyoto", "mixed"}), ("東京 大会", {"mixed"}), ("東京 olymp", {"mixed"}),
        ("ไทย", {"thai"}), ("ช่องว่าง", {"thai"}), ("ไทยช่อง", set()),
        ("한국", {"korean"}), ("국어", {"korean"}), ("배운다", {"korean"}),
    ],
)  # fmt: skip
def test_scripts_without_spaces_are_found_by_any_run_of_their_characters(
    find: Callable[[str], list[str]], text: str, found: set[str]
) -> None:
    assert set(find(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cafe", {"french", "decomposed"}), ("CAFÉ", {"french", "decomposed"}),
        ("cafe\u0301", {"french", "decomposed"}), ("orleans", {"french"}), ("cre\u0300me", {"french"}),
        ("prilis zlutoucky", {"czech"}), ("ΕΛΛΆΔΑ", {"greek"}), ("ελλα\u0301δα", {"greek"}),
    ],
)  # fmt: skip
def test_case_and_accents_do_not_matter_in_either_form(
    find: Callable[[str], list[str]], text: str, found: set[str]
) -> None:
    assert set(find(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("syn", {"english"}), ("payment", {"english"}),
        ("remembering", {"english"}), ("synaps people", {"english"}), ("synapses fox", set()),
    ],
)  # fmt: skip
def test_beginnings_of_words_and_other_endings_are_found(
    find: Callable[[str], list[str]], text: str, found: set[str]
) -> None:
    assert set(find(text)) == found


def test_a_phrase_is_found_in_its_order_only(find: Callable[[str], list[str]]) -> None:
    assert set(find("quick brown fox")) == {"phrase", "scattered"}
    assert set(find('"quick brown fox"')) == {"phrase"}
    assert set(find('"quick brown" the')) == {"phrase"}
    assert find('"quick brow"') == [], "a phrase is made of whole words"


def test_what_widens_a_word_leaves_the_other_words_as_they_are(find: Callable[[str], list[str]]) -> None:
    assert find("remembering 東京") == find("remembering xy") == [], "no word is left out"
    assert find('remembering "people what"') == []
    assert find('remembering "what people"') == ["english"]


def test_an_exact_hit_comes_before_one_by_its_stem_and_a_title_before_a_text(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path / "c.sqlite")
    bodies = [("stem", "", "they connect"), ("body", "", "connecting"), ("title", "connecting", "")]
    catalogue.apply(
        Update(
            written=[FileEntry(FileRecord(n, "note", 1, 1, "h", n, title=t), body) for n, t, body in bodies]
        )
    )
    assert [hit.key for hit in catalogue.search("connecting")[0]] == ["title", "body", "stem"]
    pages = [catalogue.search("connecting", 1, offset) for offset in range(3)]
    assert [hits[0].key for hits, _ in pages] == ["title", "body", "stem"]
    assert {total for _, total in pages} == {3}
    catalogue.close()


def test_a_snippet_shows_the_text_as_written_with_the_found_words_marked(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path / "c.sqlite")
    record = FileRecord("a", "note", 1, 1, "h", "a")
    catalogue.apply(Update(written=[FileEntry(record, "今日は東京都へ行く café")]))
    (hit,) = catalogue.search("cafe")[0]
    assert hit.snippet == f"今日は東京都へ行く {HIT_START}café{HIT_END}"
    (hit,) = catalogue.search("東京")[0]
    assert hit.snippet.replace(HIT_START, "").replace(HIT_END, "") == "今日は東京都へ行く café"
    catalogue.close()


@pytest.mark.parametrize("text", ["", " ", '"', '""', "*", "-", "^", "()", ":", "😀", "\x00", "\ud800", "'"])
def test_a_text_without_words_finds_nothing(find: Callable[[str], list[str]], text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize("text", ["NOT", "NOT this", "NEAR(me)", "col:x", "b^2", "-z +w", '"NOT', "a* that"])
def test_operators_are_words(find: Callable[[str], list[str]], text: str) -> None:
    assert find(text) == ["operators"]


def test_a_very_long_question_is_answered(find: Callable[[str], list[str]]) -> None:
    assert find("quick " * 3000) == find("quick")
    assert find("東京 " * 500) == find("東京")


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=40), st.text('"*^:(){}+-ANDORNEAR, 東京ไท\u0301\u0e49', max_size=40)))
@example('"a" "b')
@example("\u0e49")
@example("\u0e49 quick")
def test_no_text_is_an_error(find: Callable[[str], list[str]], text: str) -> None:
    find(text)


@given(st.text(max_size=40))
def test_text_taken_apart_for_the_index_is_shown_as_written(text: str) -> None:
    assert shown(indexed(text)) == text.replace("\u200b", "")


@settings(max_examples=60)
@given(st.text("ab東京都ไทย한국é ", min_size=1, max_size=12).filter(str.strip))
def test_every_note_is_found_by_the_whole_of_its_own_text(text: str) -> None:
    catalogue = Catalogue(Path(":memory:"))
    catalogue.apply(Update(written=[FileEntry(FileRecord("a", "note", 1, 1, "h", "a"), text)]))
    assert catalogue.search(text)[1] == catalogue.search(f'"{text}"')[1] == 1
    catalogue.close()
