"""Facts and answers in the formats that others read and write."""

from synapse.engine.graph.reading import parse_rdf
from synapse.engine.graph.tables import RESULT_FORMATS, serialize_results
from synapse.engine.graph.writing import DATASET_FORMATS, export_dataset, serialize_graph

__all__ = [
    "DATASET_FORMATS",
    "RESULT_FORMATS",
    "export_dataset",
    "parse_rdf",
    "serialize_graph",
    "serialize_results",
]
