"""The desktop window: Qt widgets over the engine. Nothing here knows how facts are made."""
