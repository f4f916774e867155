"""Reading notes, what they state, and the one section of them that Synapse writes."""
