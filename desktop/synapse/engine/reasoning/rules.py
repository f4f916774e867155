"""The rules of inference, as a table: one row per conclusion of a W3C rule.

A row reads like the tables of "OWL 2 Web Ontology Language Profiles (Second Edition)", section 4.3:
if `schema` and `data` hold, so does `head`. `schema` atoms speak about the vocabulary and are
matched first; each match is a *rule instance*, a rule in which only the `data` atoms are still open.
That split is all an evaluator has to know. The rules that only relate classes or properties to each
other (scm-*) have no schema part: to them the vocabulary itself is the data.

The same rows give the window its sentences and the tests their SPARQL oracle (`as_sparql`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from string import Formatter
from typing import Final, NamedTuple

from pyoxigraph import NamedNode, Variable

from synapse.engine.errors import SettingsInvalid
from synapse.engine.terms import vocabulary as v

AtomTerm = Variable | NamedNode


class Profile(StrEnum):
    """Sets of rules; each holds the ones before it.

    `rl` has in this table the rows that RDFS-plus leaves out; the rest of OWL 2 RL comes with the
    columnar evaluator, and until then `rl` is not offered as a setting.
    """

    RDFS = "rdfs"
    RDFS_PLUS = "rdfs-plus"
    RL = "rl"


OFFERED: Final = (Profile.RDFS, Profile.RDFS_PLUS)
"""The profiles that a vault can choose."""

_ORDER: Final = tuple(Profile)


class Atom(NamedTuple):
    """A triple pattern of a rule."""

    subject: AtomTerm
    predicate: AtomTerm
    object: AtomTerm

    def __str__(self) -> str:
        """The atom as SPARQL writes it."""
        return " ".join(str(term) for term in self)

    def variables(self) -> Iterator[str]:
        return (term.value for term in self if isinstance(term, Variable))


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule with one conclusion.

    id: the W3C name; a letter is appended where W3C gives several conclusions in one rule.
    profile: the smallest profile that holds the rule.
    sentence: why, in words, with a `{name}` for each variable that it mentions.
    reference: the row of the W3C tables, and the RDFS entailment pattern where there is one.

    Raises SettingsInvalid where the evaluators could not work with the rule: a variable of the head
    or the sentence that no body atom binds, a schema atom whose predicate is a variable, a data atom
    or head whose predicate is neither given nor bound by the schema, no data atom.
    """

    id: str
    profile: Profile
    schema: tuple[Atom, ...]
    data: tuple[Atom, ...]
    head: Atom
    sentence: str
    reference: str

    def __post_init__(self) -> None:
        of_schema = {name for atom in self.schema for name in atom.variables()}
        bound = of_schema | {name for atom in self.data for name in atom.variables()}
        mentioned = {name for _, name, _, _ in Formatter().parse(self.sentence) if name is not None}
        if not self.data:
            raise SettingsInvalid(f"Rule {self.id} has no data atom.")
        if unbound := (set(self.head.variables()) | mentioned) - bound:
            raise SettingsInvalid(f"Rule {self.id} does not bind {', '.join(sorted(unbound))}.")
        for atom in self.schema:
            if isinstance(atom.predicate, Variable):
                raise SettingsInvalid(f"Rule {self.id} has a schema atom without a fixed predicate: {atom}.")
        for atom in (*self.data, self.head):
            if isinstance(atom.predicate, Variable) and atom.predicate.value not in of_schema:
                raise SettingsInvalid(f"Rule {self.id}: the schema does not bind the predicate of {atom}.")

    @property
    def body(self) -> tuple[Atom, ...]:
        """All premises: the schema's, then the data's."""
        return self.schema + self.data


def atoms(text: str) -> tuple[Atom, ...]:
    """The atoms of `?x rdf:type ?c . ?c rdfs:subClassOf ?d` (the prefixes of `terms.vocabulary`).

    Raises SettingsInvalid for an atom that has not three terms, or an unknown prefix.
    """
    found = []
    for written in text.split(" . "):
        words = written.split()
        if len(words) != 3:
            raise SettingsInvalid(f"{written!r} is not a triple pattern.", "Write three terms.")
        found.append(Atom(*map(_term, words)))
    return tuple(found)


def _term(word: str) -> AtomTerm:
    if word.startswith("?"):
        return Variable(word[1:])
    prefix, colon, local = word.partition(":")
    if not colon or prefix not in v.PREFIXES:
        raise SettingsInvalid(f"{word!r} has no known prefix.", f"Known: {', '.join(sorted(v.PREFIXES))}.")
    return NamedNode(v.PREFIXES[prefix] + local)


def _rule(
    profile: Profile,
    id: str,
    table: int,
    *,
    data: str,
    head: str,
    why: str,
    schema: str = "",
    w3c: str = "",
    rdfs: str = "",
) -> Rule:
    reference = f"OWL 2 RL/RDF rules, table {table}: {w3c or id}"
    return Rule(
        id=id,
        profile=profile,
        schema=atoms(schema) if schema else (),
        data=atoms(data),
        head=atoms(head)[0],
        sentence=why,
        reference=f"{reference}; RDFS entailment pattern {rdfs}" if rdfs else reference,
    )


RULES: Final[tuple[Rule, ...]] = (
    # --- Table 7: class axioms
    _rule(
        Profile.RDFS, "cax-sco", 7, rdfs="rdfs9",
        schema="?c rdfs:subClassOf ?d",
        data="?x rdf:type ?c",
        head="?x rdf:type ?d",
        why="{x} is a {d} because it is a {c}, and every {c} is a {d}",
    ),
    _rule(
        Profile.RDFS_PLUS, "cax-eqc1", 7,
        schema="?c owl:equivalentClass ?d",
        data="?x rdf:type ?c",
        head="?x rdf:type ?d",
        why="{x} is a {d} because it is a {c}, and {c} and {d} mean the same",
    ),
    _rule(
        Profile.RDFS_PLUS, "cax-eqc2", 7,
        schema="?c owl:equivalentClass ?d",
        data="?x rdf:type ?d",
        head="?x rdf:type ?c",
        why="{x} is a {c} because it is a {d}, and {c} and {d} mean the same",
    ),
    # --- Table 5: property axioms
    _rule(
        Profile.RDFS, "prp-dom", 5, rdfs="rdfs2",
        schema="?p rdfs:domain ?c",
        data="?x ?p ?y",
        head="?x rdf:type ?c",
        why="{x} is a {c} because {x} {p} {y}, and whatever “{p}” is said of is a {c}",
    ),
    _rule(
        Profile.RDFS, "prp-rng", 5, rdfs="rdfs3",
        schema="?p rdfs:range ?c",
        data="?x ?p ?y",
        head="?y rdf:type ?c",
        why="{y} is a {c} because {x} {p} {y}, and whatever “{p}” leads to is a {c}",
    ),
    _rule(
        Profile.RDFS, "prp-spo1", 5, rdfs="rdfs7",
        schema="?p rdfs:subPropertyOf ?q",
        data="?x ?p ?y",
        head="?x ?q ?y",
        why="{x} {q} {y} because {x} {p} {y}, and “{p}” implies “{q}”",
    ),
    _rule(
        Profile.RDFS_PLUS, "prp-eqp1", 5,
        schema="?p owl:equivalentProperty ?q",
        data="?x ?p ?y",
        head="?x ?q ?y",
        why="{x} {q} {y} because {x} {p} {y}, and “{p}” and “{q}” mean the same",
    ),
    _rule(
        Profile.RDFS_PLUS, "prp-eqp2", 5,
        schema="?p owl:equivalentProperty ?q",
        data="?x ?q ?y",
        head="?x ?p ?y",
        why="{x} {p} {y} because {x} {q} {y}, and “{p}” and “{q}” mean the same",
    ),
    _rule(
        Profile.RDFS_PLUS, "prp-inv1", 5,
        schema="?p owl:inverseOf ?q",
        data="?x ?p ?y",
        head="?y ?q ?x",
        why="{y} {q} {x} because {x} {p} {y}, and “{q}” is “{p}” the other way round",
    ),
    _rule(
        Profile.RDFS_PLUS, "prp-inv2", 5,
        schema="?p owl:inverseOf ?q",
        data="?x ?q ?y",
        head="?y ?p ?x",
        why="{y} {p} {x} because {x} {q} {y}, and “{p}” is “{q}” the other way round",
    ),
    _rule(
        Profile.RDFS_PLUS, "prp-symp", 5,
        schema="?p rdf:type owl:SymmetricProperty",
        data="?x ?p ?y",
        head="?y ?p ?x",
        why="{y} {p} {x} because {x} {p} {y}, and “{p}” holds both ways",
    ),
    _rule(
        Profile.RDFS_PLUS, "prp-trp", 5,
        schema="?p rdf:type owl:TransitiveProperty",
        data="?x ?p ?y . ?y ?p ?z",
        head="?x ?p ?z",
        why="{x} {p} {z} because {x} {p} {y} and {y} {p} {z}, and “{p}” carries on from one to the next",
    ),
    # Chains of two and of three, written out: a list of any length needs the columnar evaluator.
    _rule(
        Profile.RDFS_PLUS, "prp-spo2", 5,
        schema="?r owl:propertyChainAxiom ?l . ?l rdf:first ?p . ?l rdf:rest ?m"
        " . ?m rdf:first ?q . ?m rdf:rest rdf:nil",
        data="?x ?p ?y . ?y ?q ?z",
        head="?x ?r ?z",
        why="{x} {r} {z} because {x} {p} {y} and {y} {q} {z}, and “{p}” followed by “{q}” makes “{r}”",
    ),
    _rule(
        Profile.RDFS_PLUS, "prp-spo2-3", 5, w3c="prp-spo2",
        schema="?r owl:propertyChainAxiom ?l . ?l rdf:first ?p . ?l rdf:rest ?m"
        " . ?m rdf:first ?q . ?m rdf:rest ?n . ?n rdf:first ?s . ?n rdf:rest rdf:nil",
        data="?w ?p ?x . ?x ?q ?y . ?y ?s ?z",
        head="?w ?r ?z",
        why="{w} {r} {z} because {w} {p} {x}, {x} {q} {y} and {y} {s} {z},"
        " and “{p}”, “{q}” and “{s}” in a row make “{r}”",
    ),
    # --- Table 9: schema vocabulary
    _rule(
        Profile.RDFS, "scm-sco", 9, rdfs="rdfs11",
        data="?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?e",
        head="?c rdfs:subClassOf ?e",
        why="every {c} is a {e} because every {c} is a {d}, and every {d} is a {e}",
    ),
    _rule(
        Profile.RDFS, "scm-spo", 9, rdfs="rdfs5",
        data="?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?r",
        head="?p rdfs:subPropertyOf ?r",
        why="“{p}” implies “{r}” because “{p}” implies “{q}”, and “{q}” implies “{r}”",
    ),
    _rule(
        Profile.RDFS_PLUS, "scm-eqc1a", 9, w3c="scm-eqc1",
        data="?c owl:equivalentClass ?d",
        head="?c rdfs:subClassOf ?d",
        why="every {c} is a {d} because {c} and {d} mean the same",
    ),
    _rule(
        Profile.RDFS_PLUS, "scm-eqc1b", 9, w3c="scm-eqc1",
        data="?c owl:equivalentClass ?d",
        head="?d rdfs:subClassOf ?c",
        why="every {d} is a {c} because {c} and {d} mean the same",
    ),
    _rule(
        Profile.RDFS_PLUS, "scm-eqc2", 9,
        data="?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?c",
        head="?c owl:equivalentClass ?d",
        why="{c} and {d} mean the same because every {c} is a {d}, and every {d} is a {c}",
    ),
    _rule(
        Profile.RDFS_PLUS, "scm-eqp1a", 9, w3c="scm-eqp1",
        data="?p owl:equivalentProperty ?q",
        head="?p rdfs:subPropertyOf ?q",
        why="“{p}” implies “{q}” because the two mean the same",
    ),
    _rule(
        Profile.RDFS_PLUS, "scm-eqp1b", 9, w3c="scm-eqp1",
        data="?p owl:equivalentProperty ?q",
        head="?q rdfs:subPropertyOf ?p",
        why="“{q}” implies “{p}” because the two mean the same",
    ),
    _rule(
        Profile.RDFS_PLUS, "scm-eqp2", 9,
        data="?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?p",
        head="?p owl:equivalentProperty ?q",
        why="“{p}” and “{q}” mean the same because each implies the other",
    ),
    # RDFS leaves these out; in RL the domains and ranges themselves are closed.
    _rule(
        Profile.RL, "scm-dom1", 9,
        data="?p rdfs:domain ?c . ?c rdfs:subClassOf ?d",
        head="?p rdfs:domain ?d",
        why="whatever “{p}” is said of is a {d} because it is a {c}, and every {c} is a {d}",
    ),
    _rule(
        Profile.RL, "scm-dom2", 9,
        data="?q rdfs:domain ?c . ?p rdfs:subPropertyOf ?q",
        head="?p rdfs:domain ?c",
        why="whatever “{p}” is said of is a {c} because that holds for “{q}”, and “{p}” implies “{q}”",
    ),
    _rule(
        Profile.RL, "scm-rng1", 9,
        data="?p rdfs:range ?c . ?c rdfs:subClassOf ?d",
        head="?p rdfs:range ?d",
        why="whatever “{p}” leads to is a {d} because it is a {c}, and every {c} is a {d}",
    ),
    _rule(
        Profile.RL, "scm-rng2", 9,
        data="?q rdfs:range ?c . ?p rdfs:subPropertyOf ?q",
        head="?p rdfs:range ?c",
        why="whatever “{p}” leads to is a {c} because that holds for “{q}”, and “{p}” implies “{q}”",
    ),
)  # fmt: skip

SWITCHABLE: Final = frozenset({"prp-dom", "prp-rng"})
"""The rules that `domain_and_range=False` leaves out."""


def rules_of(profile: str, domain_and_range: bool = True) -> tuple[Rule, ...]:
    """The rules of a profile, in the order of the table. Raises SettingsInvalid for another word."""
    try:
        chosen = Profile(profile)
    except ValueError:
        hint = f"Choose one of: {', '.join(OFFERED)}."
        raise SettingsInvalid(f"There is no reasoning profile {profile!r}.", hint) from None
    held = _ORDER[: _ORDER.index(chosen) + 1]
    return tuple(
        rule for rule in RULES if rule.profile in held and (domain_and_range or rule.id not in SWITCHABLE)
    )


# --- What is never concluded, whatever the rules say ---

REFLEXIVE: Final = frozenset(
    {
        v.RDFS_SUB_CLASS_OF,
        v.RDFS_SUB_PROPERTY_OF,
        v.OWL_EQUIVALENT_CLASS,
        v.OWL_EQUIVALENT_PROPERTY,
        v.OWL_SAME_AS,
    }
)
"""Predicates that hold between each thing and itself: true, and worth no fact."""

NODE_VALUED: Final = REFLEXIVE | {v.RDF_TYPE, v.RDFS_DOMAIN, v.RDFS_RANGE, v.OWL_INVERSE_OF}
"""Predicates of which no conclusion has a literal as object: `type: "a word"` names no class."""


def as_sparql(rule: Rule) -> str:
    """The rule as a SPARQL update that adds what it concludes in one pass: an oracle for tests.

    What is never concluded is filtered: literals as subjects, predicates that are no IRI,
    reflexive statements of the vocabulary, classes that are literals.
    """
    subject, predicate, value = rule.head
    where = " . ".join(map(str, rule.body))
    filters = f"FILTER(!isLiteral({subject})) FILTER(isIRI({predicate}))"
    reflexive = ", ".join(sorted(map(str, REFLEXIVE)))
    node_valued = ", ".join(sorted(map(str, NODE_VALUED)))
    filters += f" FILTER({predicate} NOT IN ({reflexive}) || !sameTerm({subject}, {value}))"
    filters += f" FILTER({predicate} NOT IN ({node_valued}) || !isLiteral({value}))"
    return f"INSERT {{ {rule.head} }} WHERE {{ {where} {filters} }}"


def sentence(rule: Rule, labels: Mapping[str, str]) -> str:
    """The rule's sentence with a label for each variable: "Ada is an Engineer because ..."."""
    return fill(rule.sentence, labels)


def fill(template: str, labels: Mapping[str, str]) -> str:
    """The template with its `{name}`s replaced; "a" before a label that starts with a vowel becomes "an"."""
    words: list[str] = []
    for text, name, _, _ in Formatter().parse(template):
        if name is None:
            words.append(text)
            continue
        label = labels[name]
        article = text.endswith(" a ") and label[:1].lower() in set("aeiou")
        words += [text[:-1] + "n " if article else text, label]
    return "".join(words)
