"""Tests against Windtunnel: a service, worlds with clocks that a test moves, and clients that are bound to them."""

from windtunnel_testkit.errors import NotSettled, NotStarted, Refused, StillWaiting, Unreachable
from windtunnel_testkit.history import Moment, Waiting
from windtunnel_testkit.records import Advanced, Bill, Fault
from windtunnel_testkit.service import Service
from windtunnel_testkit.world import World

__version__ = "0.1.0"
__all__ = [
    "Advanced",
    "Bill",
    "Fault",
    "Moment",
    "NotSettled",
    "NotStarted",
    "Refused",
    "Service",
    "StillWaiting",
    "Unreachable",
    "Waiting",
    "World",
]
