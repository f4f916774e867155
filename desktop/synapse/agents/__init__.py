"""The owner's servers: a local socket that speaks MCP and `ops`, tools, and who may do what."""
