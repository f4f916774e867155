"""The IRIs that the engine itself speaks of."""

from __future__ import annotations

from typing import Final

from pyoxigraph import NamedNode

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
PROV: Final = "http://www.w3.org/ns/prov#"
FOAF: Final = "http://xmlns.com/foaf/0.1/"
SCHEMA: Final = "http://schema.org/"
DCTERMS: Final = "http://purl.org/dc/terms/"

SYNAPSE: Final = "urn:synapse:"
PROP: Final = "urn:synapse:prop:"
TYPE: Final = "urn:synapse:type:"
TAG: Final = "urn:synapse:tag:"
GENID: Final = "urn:synapse:genid:"
ONTOLOGY: Final = "urn:synapse:ontology:"
ASSERTION: Final = "urn:synapse:assertion:"
MEMORY: Final = "urn:synapse:memory:"
ACTIVITY: Final = "urn:synapse:activity:"
AGENT: Final = "urn:synapse:agent:"

PREFIXES: Final[dict[str, str]] = {
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "skos": SKOS,
    "prov": PROV,
    "foaf": FOAF,
    "schema": SCHEMA,
    "dcterms": DCTERMS,
    "prop": PROP,
    "type": TYPE,
    "tag": TAG,
}
"""Prefixes known without being declared."""

META: Final = NamedNode(SYNAPSE + "meta")
INFERRED: Final = NamedNode(SYNAPSE + "inferred")
STORE: Final = NamedNode(SYNAPSE + "store")
REASONER: Final = NamedNode(AGENT + "reasoner")

RDF_TYPE: Final = NamedNode(RDF + "type")
RDF_STATEMENT: Final = NamedNode(RDF + "Statement")
RDF_SUBJECT: Final = NamedNode(RDF + "subject")
RDF_PREDICATE: Final = NamedNode(RDF + "predicate")
RDF_OBJECT: Final = NamedNode(RDF + "object")
RDF_PROPERTY: Final = NamedNode(RDF + "Property")

RDFS_LABEL: Final = NamedNode(RDFS + "label")
RDFS_COMMENT: Final = NamedNode(RDFS + "comment")
RDFS_SEE_ALSO: Final = NamedNode(RDFS + "seeAlso")
RDFS_IS_DEFINED_BY: Final = NamedNode(RDFS + "isDefinedBy")
RDFS_CLASS: Final = NamedNode(RDFS + "Class")
RDFS_SUB_CLASS_OF: Final = NamedNode(RDFS + "subClassOf")
RDFS_SUB_PROPERTY_OF: Final = NamedNode(RDFS + "subPropertyOf")
RDFS_DOMAIN: Final = NamedNode(RDFS + "domain")
RDFS_RANGE: Final = NamedNode(RDFS + "range")

OWL_CLASS: Final = NamedNode(OWL + "Class")
OWL_ONTOLOGY: Final = NamedNode(OWL + "Ontology")
OWL_OBJECT_PROPERTY: Final = NamedNode(OWL + "ObjectProperty")
OWL_INVERSE_OF: Final = NamedNode(OWL + "inverseOf")
OWL_SYMMETRIC_PROPERTY: Final = NamedNode(OWL + "SymmetricProperty")
OWL_TRANSITIVE_PROPERTY: Final = NamedNode(OWL + "TransitiveProperty")
OWL_EQUIVALENT_CLASS: Final = NamedNode(OWL + "equivalentClass")
OWL_EQUIVALENT_PROPERTY: Final = NamedNode(OWL + "equivalentProperty")
OWL_SAME_AS: Final = NamedNode(OWL + "sameAs")

SKOS_ALT_LABEL: Final = NamedNode(SKOS + "altLabel")
SKOS_PREF_LABEL: Final = NamedNode(SKOS + "prefLabel")
SKOS_BROADER: Final = NamedNode(SKOS + "broader")
SKOS_CONCEPT: Final = NamedNode(SKOS + "Concept")

SCHEMA_MENTIONS: Final = NamedNode(SCHEMA + "mentions")
SCHEMA_CITATION: Final = NamedNode(SCHEMA + "citation")
SCHEMA_KEYWORDS: Final = NamedNode(SCHEMA + "keywords")
SCHEMA_TEXT: Final = NamedNode(SCHEMA + "text")
SCHEMA_ABOUT: Final = NamedNode(SCHEMA + "about")

EMBEDS: Final = NamedNode(PROP + "embeds")
DEPENDS_ON: Final = NamedNode(PROP + "depends_on")

PROV_ENTITY: Final = NamedNode(PROV + "Entity")
PROV_ACTIVITY: Final = NamedNode(PROV + "Activity")
PROV_PERSON: Final = NamedNode(PROV + "Person")
PROV_SOFTWARE_AGENT: Final = NamedNode(PROV + "SoftwareAgent")
PROV_WAS_DERIVED_FROM: Final = NamedNode(PROV + "wasDerivedFrom")
PROV_WAS_GENERATED_BY: Final = NamedNode(PROV + "wasGeneratedBy")
PROV_WAS_INVALIDATED_BY: Final = NamedNode(PROV + "wasInvalidatedBy")
PROV_WAS_ASSOCIATED_WITH: Final = NamedNode(PROV + "wasAssociatedWith")
PROV_STARTED_AT_TIME: Final = NamedNode(PROV + "startedAtTime")
PROV_ENDED_AT_TIME: Final = NamedNode(PROV + "endedAtTime")

XSD_STRING: Final = NamedNode(XSD + "string")
XSD_BOOLEAN: Final = NamedNode(XSD + "boolean")
XSD_INTEGER: Final = NamedNode(XSD + "integer")
XSD_DECIMAL: Final = NamedNode(XSD + "decimal")
XSD_DOUBLE: Final = NamedNode(XSD + "double")
XSD_DATE: Final = NamedNode(XSD + "date")
XSD_DATE_TIME: Final = NamedNode(XSD + "dateTime")
