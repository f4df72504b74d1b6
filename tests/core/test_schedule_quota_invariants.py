"""What stays true on a fleet with compute quotas, over random streams of events (FS-17)."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.scheduling import events
from app.core.scheduling.decisions import Admit, Decision, Preempt
from app.core.scheduling.packing import Host
from app.core.scheduling.quota import Quota
from app.core.scheduling.quotas import set_quotas
from app.core.scheduling.state import State
from app.core.scheduling.workload import Status, Workload
from tests.core.quotas import fleet, team
from tests.core.scheduling import HOUR, MINUTE, SECOND, Policy, check, open_segments, used

SPLITS = [
    [team("x", 8, 4), team("y", 16, 8, 3), team("z", 4, lends=False)],
    [team("x", 8, 16), team("y", 4, 16, 0), team("z", 8, lends=False)],
    [team("x", 0, 32), team("y", 12, 6, 3, preempts=False), team("z", 20, 10)],
    [team("x", 20, 4), team("y", 16, 8), team("z", 8, lends=False)],
    [team("x", 8, 4), team("y", 8, 4, lends=False)],
]

step = st.tuples(
    st.sampled_from([0, SECOND, 10 * SECOND, 10 * MINUTE, HOUR]),
    st.sampled_from(["submit"] * 7 + ["end"] * 2 + ["lose", "drain", "repair", "quotas", "priority"]),
    st.integers(0, 2**30),
)
steps = st.lists(step, max_size=40)
sharing = st.tuples(st.booleans(), st.booleans(), st.integers(0, len(SPLITS) - 1))
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Stream = list[tuple[int, str, int]]


class Story:
    """A fleet with three teams that things happen to."""

    def __init__(self, how: tuple[bool, bool, int]) -> None:
        self.fair_share, self.idle_sharing, split = how
        self.lab = fleet(
            *SPLITS[split],
            nodes=4,
            policy=Policy(window=6 * HOUR),
            fair_share=self.fair_share,
            idle_sharing=self.idle_sharing,
        )
        self.lab.step()
        self.count = 0

    @property
    def state(self) -> State:
        return self.lab.state

    @property
    def quotas(self) -> dict[str, Quota]:
        assert self.state.quotas is not None
        return self.state.quotas.by_team

    def happen(self, wait: int, what: str, number: int) -> list[Decision]:
        """The decisions of the pass at the instant of the event."""
        self.lab.wait(wait)
        self.change(what, number)
        return self.lab.step()

    def change(self, what: str, number: int) -> None:
        state, now = self.state, self.lab.now
        names, hosts = sorted(state.workloads), sorted(state.hosts)
        if what == "submit":
            self.submit(number, [1, 2, 4, 8][number // 16 % 4], [1, 1, 1, 2, 3][number // 64 % 5])
        elif what == "end" and names:
            events.cancel(state, names[number % len(names)], now)
        elif what == "priority" and names:
            events.set_priority(state, names[number % len(names)], number // 64 % 3, now)
        elif what in ("lose", "drain") and hosts:
            (events.node_lost if what == "lose" else events.drain)(state, hosts[number % len(hosts)], now)
        elif what == "repair":
            for node in range(4):
                events.node_ready(state, f"n{node}", now, gpus=8)
        elif what == "quotas":
            split = SPLITS[number % len(SPLITS)]
            set_quotas(state, split, now, fair_share=self.fair_share, idle_sharing=self.idle_sharing)

    def submit(self, number: int, gpus: int, replicas: int) -> None:
        self.count += 1
        teams = [name for name in "xyz" if name in self.state.budgets]
        leaf = [*teams, None][number % (len(teams) + 1)]
        minimum = [0, 0, 0, HOUR][number // 4 % 4] if leaf else 0
        more: dict[str, int] = {"min_runtime": minimum, "priority": number // 512 % 3}
        self.lab.submit(f"w{self.count:02}", leaf, gpus, replicas, **more)

    def used(self, name: str | None) -> int:
        return sum(_size(w) for w in self.state.workloads.values() if w.leaf == name and _uses(w))

    def over(self, name: str, more: int = 0) -> int:
        return max(0, self.used(name) + more - self.quotas[name].gpus)

    def unused(self, name: str) -> int:
        return max(0, self.quotas[name].gpus - self.used(name))

    def held_back(self, besides: str | None = None) -> int:
        return sum(self.unused(name) for name, q in self.quotas.items() if name != besides and not q.lends)

    def lent(self, besides: str | None = None) -> int:
        return sum(self.unused(name) for name, q in self.quotas.items() if name != besides and q.lends)

    def free(self) -> int:
        """GPUs of healthy nodes that nobody has or will have."""
        return sum(host.gpus - self._taken(host) for host in self.state.hosts.values() if host.state == Host.HEALTHY)

    def _taken(self, host: Host) -> int:
        workloads = self.state.workloads
        staying = {n: c for n, c in host.residents.items() if workloads[n].status is not Status.LEAVING}
        held = [count * workloads[n].gpus for some in (staying, host.claims) for n, count in some.items()]
        return sum(held)

    @property
    def shortage(self) -> int:
        return max(0, sum(quota.gpus for quota in self.quotas.values()) - self.state.capacity.slope)


def _size(workload: Workload) -> int:
    return workload.gpus * workload.replicas


def _uses(workload: Workload) -> bool:
    leaving = workload.status is Status.LEAVING
    return bool(workload.claim) if leaving else workload.status in (Status.RUNNING, Status.HELD)


@quick
@given(sharing, steps)
def test_every_count_agrees_and_a_second_pass_does_nothing(how: tuple[bool, bool, int], stream: Stream) -> None:
    """FS-17, FS-15, FS-14: with quotas, too; what is charged is what ran funded."""
    story = Story(how)
    for event in stream:
        story.happen(*event)
        check(story.state)
        assert story.lab.step() == []
    segments = [*story.state.ledger, *open_segments(story.state)]
    for name, budget in story.state.budgets.items():
        below = {"x", "y", "z"} if not name else {name}
        assert budget.usage.total(story.lab.now) == used(segments, below, 0, story.lab.now)


@quick
@given(sharing, steps)
def test_no_more_is_funded_than_the_quota(how: tuple[bool, bool, int], stream: Stream) -> None:
    """FS-17: but for work that was protected when its quota was lowered; and nothing else than it is then funded."""
    story = Story(how)
    for event in stream:
        story.happen(*event)
        for name, quota in story.quotas.items():
            funded = [w for w in story.state.workloads.values() if w.leaf == name and w.funded and _uses(w)]
            running = [w for w in funded if w.status is Status.RUNNING]
            if sum(_size(w) for w in running) > quota.gpus:
                assert all(w.protected_until > story.lab.now for w in running)


@quick
@given(sharing, steps)
def test_what_is_borrowed_is_lent_and_within_the_limit(how: tuple[bool, bool, int], stream: Stream) -> None:
    """FS-17: no borrow limit is exceeded, weight 0 never borrows, and DontLend is never lent."""
    story = Story(how)
    for event in stream:
        made = story.happen(*event)
        borrowed = [m.workload for m in made if isinstance(m, Admit) and m.code == "borrowed"]
        teams = {story.state.workloads[name].leaf or "" for name in borrowed}
        for name in teams:
            quota = story.quotas[name]
            assert story.over(name) <= quota.borrow_limit
            assert quota.weight or not story.fair_share
        if teams and not story.idle_sharing:
            assert sum(story.over(name) for name in story.quotas) <= story.lent()
        strays = [m for m in made if isinstance(m, Admit) and m.code == "free"]
        if (teams or strays) and not story.shortage:
            assert story.free() >= story.held_back()


@quick
@given(sharing, steps)
def test_nobody_waits_who_could_start(how: tuple[bool, bool, int], stream: Stream) -> None:
    """FS-17, FS-6: GPUs are free for nobody within his quota, and lent to nobody who may borrow them."""
    story = Story(how)
    for event in stream:
        story.happen(*event)
        hosts = [host for host in story.state.hosts.values() if host.state == Host.HEALTHY]
        for workload in story.state.workloads.values():
            if workload.status is Status.WAITING and _may_start(story, workload):
                assert sum(max(0, host.free) // workload.gpus for host in hosts) < workload.replicas


def _may_start(story: Story, workload: Workload) -> bool:
    """Whether the quotas would let it start on free GPUs."""
    name, gpus = workload.leaf, _size(workload)
    left = story.free() - gpus
    if name is None:
        return left >= story.held_back()
    quota = story.quotas[name]
    if not story.over(name, gpus):
        return left >= max(0, story.held_back(name) - story.shortage)
    if not quota.borrow_limit or (story.fair_share and not quota.weight):
        return False
    taken = story.over(name, gpus) + sum(story.over(other) for other in story.quotas if other != name)
    lent = story.idle_sharing or taken <= story.lent(name)
    return lent and story.over(name, gpus) <= quota.borrow_limit and left >= story.held_back(name)


ones = st.lists(
    st.tuples(
        st.sampled_from([0, SECOND, 10 * SECOND, MINUTE]),
        st.sampled_from(["submit"] * 5 + ["end"] * 2),
        st.integers(0, 2**30),
        st.integers(1, 20),
    ),
    max_size=30,
)


@quick
@given(sharing, ones)
def test_a_team_has_its_quota_within_a_grace(
    how: tuple[bool, bool, int], stream: list[tuple[int, str, int, int]]
) -> None:
    """FS-17: work of one GPU within its quota is held GPUs at once, and runs ten seconds later at the latest.

    What was held for work that is withdrawn is free when its victims have left, and waited for until then.
    """
    story = Story(how)
    if story.shortage:
        return
    for wait, what, number, several in stream:
        story.lab.wait(wait)
        for one in range(several):
            if what == "submit":
                story.submit(number % 4, 1, 1)
            elif names := sorted(n for n, w in story.state.workloads.items() if w.status is not Status.HELD):
                events.cancel(story.state, names[(number + one) % len(names)], story.lab.now)
        story.lab.step()
        for workload in story.state.workloads.values():
            if workload.status is Status.WAITING and workload.leaf is not None:
                assert story.over(workload.leaf, 1) > 0
            if workload.status is Status.HELD:
                assert workload.claim_due <= story.lab.now + 10 * SECOND


@quick
@given(sharing, steps)
def test_only_what_is_borrowed_or_of_lower_priority_in_its_team_is_evicted(
    how: tuple[bool, bool, int], stream: Stream
) -> None:
    """FS-17: within its quota nothing yields to another team, and protection is never broken."""
    story = Story(how)
    for wait, what, number in stream:
        story.lab.wait(wait)
        for made in story.happen(0, what, number):
            if isinstance(made, Preempt) and made.workload is not None:
                winner = story.state.workloads[made.workload]
                for victim in (story.state.workloads[name] for name, _ in made.victims):
                    if victim.funded:
                        assert victim.leaf == winner.leaf
                        assert story.quotas[victim.leaf or ""].preempts
                        assert (victim.priority, -victim.slices) < (winner.priority, -winner.slices)
                        assert victim.protected_until <= made.at
