"""The SPARQL console: editor, completion, results."""
