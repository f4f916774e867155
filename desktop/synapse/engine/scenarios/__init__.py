"""Scenario packages: vocabularies that the engine starts with."""

from synapse.engine.scenarios.packages import Scenario, available, load_scenario, own_terms

__all__ = ["Scenario", "available", "load_scenario", "own_terms"]
