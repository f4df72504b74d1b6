"""One module a page: a pure `view(...)` of plain data, and the route that answers with it."""

from app.console.pages import clock, faults, overview

PAGES = (overview, clock, faults)
"""Every module with routes below `/console/WORLD`."""
