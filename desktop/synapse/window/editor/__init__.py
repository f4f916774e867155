"""The note editor: what is on disk is what is shown, and nothing else is ever written."""
