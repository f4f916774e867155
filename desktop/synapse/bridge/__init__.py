"""Between agents' hosts and the owner of a vault: standard library only, nothing else of ours."""
