"""What a walk may choose from."""

from hypothesis import strategies as st

P5, C5 = "ml.p5.48xlarge", "ml.c5.xlarge"
KINDS = ("slurm", "slurm-login", "eks", "classic")
EFFECTS = (
    "launch-capacity",
    "launch-transient",
    "launch-unhealthy",
    "boot-slow",
    "script-failed",
    "script-hang",
    "node-hardware",
    "reboot-failed",
    "terminate-failed",
)
WAYS = (0, 1, 2, 3, 5, 30, 300, 3600, 3 * 3600)
RESTLESS = 3
"""After so many requests the clock moves by itself."""
names = st.sampled_from(("one", "two"))
scalable = st.sampled_from(("a", "b", "login"))
counts = st.integers(0, 5)
minimums = st.one_of(st.none(), st.integers(0, 4))
picks = st.lists(st.integers(0, 7), min_size=1, max_size=3)
