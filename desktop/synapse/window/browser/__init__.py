"""The vault browser: folders and notes, filtered, sorted, opened."""

from synapse.window.browser.panel import BrowserPanel

__all__ = ["BrowserPanel"]
