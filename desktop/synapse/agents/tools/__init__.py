"""What agents can call: each tool defined once, with nothing of the protocol in it."""
