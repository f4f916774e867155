"""The subgraph of a note: one widget that paints a neighbourhood from arrays, and the panel around it."""
