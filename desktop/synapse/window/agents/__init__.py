"""The agents of the open vault in the window: who is attached, what each did, and what it may do."""
