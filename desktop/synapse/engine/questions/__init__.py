"""What the engine answers, a module for each question; see results.py for the shapes."""
