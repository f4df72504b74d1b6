"""One module a page: a pure `view(...)` of plain data, and the route that answers with it."""

from app.console.pages import bill, clock, cluster_forms, clusters, events, faults, nodes, overview

PAGES = (overview, clusters, cluster_forms, nodes, events, bill, clock, faults)
"""Every module with routes below `/console/WORLD`."""
