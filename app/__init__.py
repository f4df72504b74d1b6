"""Windtunnel: a GPU cloud's control plane on one machine."""

__version__ = "0.1.0"
