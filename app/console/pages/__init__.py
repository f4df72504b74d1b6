"""One module a page: a pure `view(...)` of plain data, and the route that answers with it."""

from app.console.pages import (
    bill,
    budgets,
    capacity,
    clock,
    cluster_forms,
    clusters,
    decisions,
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
    requests,
    shares,
    simulator,
    snapshots,
    what_if,
    workload,
    workloads,
    worlds,
)

_SCHEDULING = (queue, workloads, workload, decisions, jobs, logs, shares, budgets, node_times, hosts, fleets)
_WORLD = (faults, capacity, worlds, snapshots, what_if, simulator, requests)
PAGES = (overview, clusters, cluster_forms, nodes, events, bill, clock, *_SCHEDULING, *_WORLD)
"""Every module with routes below `/console/WORLD`."""
