"""One module a page: a pure `view(...)` of plain data, and the route that answers with it."""

from app.console.pages import (
    bill,
    budgets,
    clock,
    cluster_forms,
    clusters,
    events,
    faults,
    fleets,
    hosts,
    jobs,
    logs,
    node_times,
    nodes,
    overview,
    queue,
    shares,
    workload,
    workloads,
)

_SCHEDULING = (queue, workloads, workload, jobs, logs, shares, budgets, node_times, hosts, fleets)
PAGES = (overview, clusters, cluster_forms, nodes, events, bill, clock, faults, *_SCHEDULING)
"""Every module with routes below `/console/WORLD`."""
