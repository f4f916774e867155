"""What was done, by whom, when and why: journal, history, provenance and assertions."""
