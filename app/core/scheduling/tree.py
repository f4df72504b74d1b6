"""How the tree of budgets is made and changed; what was used stays where it was used (FS-1)."""

from fractions import Fraction

from app.core.errors import Conflict, InUse, Invalid, NotFound
from app.core.scheduling.budgets import Budget, Limit
from app.core.scheduling.state import State


def create_budget(state: State, name: str, parent: str, weight: int, now: int) -> None:
    """Split something off the parent's claim. A budget that was deleted comes back with the use that it had (FS-18)."""
    state.advance(now)
    _check_no_quotas(state)
    if name in state.budgets:
        raise InUse(f"There is a budget {name} already.")
    above = _budget(state, parent)
    _check_weight(weight)
    if is_used(state, above):
        raise Conflict(f"Workloads are charged to budget {parent}. Move them to a budget below another one first.")
    _put(state, name, above, weight)


def reweight(state: State, name: str, weight: int, now: int) -> None:
    """From now on its claim follows the new weight."""
    state.advance(now)
    _check_no_quotas(state)
    _check_weight(weight)
    budget = _budget(state, name)
    budget.weight = weight
    _rebuild(state, *budget.path()[1:2])


def move_budget(state: State, name: str, parent: str, now: int) -> None:
    """From now on the budget, with what runs and waits below, counts for another parent."""
    state.advance(now)
    _check_no_quotas(state)
    budget, above = _budget(state, name), _budget(state, parent)
    if budget.parent is None:
        raise Invalid("The root of the tree cannot be moved.")
    if budget in above.path():
        raise Invalid(f"Budget {parent} is below {name}. Choose a parent outside of it.")
    if is_used(state, above):
        raise Conflict(f"Workloads are charged to budget {parent}. Choose a parent without workloads of its own.")
    _shift(state, budget, -1)
    left = budget.parent
    del left.children[name]
    budget.parent = above
    above.children[name] = budget
    _shift(state, budget, 1)
    _rebuild(state, left, above)


def delete_budget(state: State, name: str, now: int) -> None:
    """Its use stays with its parent. Conflict: something is below it or charged to it."""
    state.advance(now)
    _check_no_quotas(state)
    budget = _budget(state, name)
    if budget.parent is None:
        raise Invalid("The root of the tree cannot be deleted.")
    if budget.children or is_used(state, budget):
        raise Conflict(f"Budget {name} has budgets or workloads. Delete or end them first.")
    remove_leaf(state, name)


def set_limits(state: State, name: str, limits: list[tuple[int, int]], now: int) -> None:
    """Each is GPU-milliseconds that may be charged in all, and how many have been so far."""
    state.advance(now)
    _check_no_quotas(state)
    budget = _budget(state, name)
    total = budget.usage.total(now)
    budget.limits = [Limit(amount, total - charged) for amount, charged in limits]
    if limits:
        state.limited[name] = budget
    else:
        state.limited.pop(name, None)
    state.stirred = state.roomier = True


def put_leaf(state: State, name: str, weight: int) -> None:
    """A leaf below the root for a team's quota, new or with another weight."""
    if name in state.budgets:
        state.budgets[name].weight = weight
    else:
        _put(state, name, state.root, weight)


def _put(state: State, name: str, above: Budget, weight: int) -> None:
    budget = state.retired.pop(name, None) or Budget(name, None, weight, state.now)
    budget.weight, budget.parent = weight, above
    state.budgets[name] = above.children[name] = budget
    _rebuild(state, above)


def remove_leaf(state: State, name: str) -> None:
    """The budget, which nothing is below or charged to, is no more."""
    budget = state.budgets[name]
    if budget.parent is not None:
        del budget.parent.children[name]
    del state.budgets[name], state.paths[name]
    state.limited.pop(name, None)
    budget.limits.clear()
    state.retired[name] = budget
    _claim(state, budget, Fraction(0))
    _rebuild(state, *budget.path()[1:2])


def _check_no_quotas(state: State) -> None:
    if state.quotas is not None:
        teams = ", ".join(state.quotas.by_team)
        raise Conflict(f"This fleet has compute quotas ({teams}). Delete them before it is split by budgets.")


def _budget(state: State, name: str) -> Budget:
    if name not in state.budgets:
        raise NotFound(f"There is no budget {name}.")
    return state.budgets[name]


def _check_weight(weight: int) -> None:
    if weight < 0:
        raise Invalid(f"The weight is {weight}; it may be 0 or more.")


def is_used(state: State, budget: Budget) -> bool:
    """Whether workloads wait or run in the budget itself."""
    return not budget.children and any(workload.leaf == budget.id for workload in state.workloads.values())


def _shift(state: State, budget: Budget, sign: int) -> None:
    """What runs and waits below the budget counts for its ancestors, or no more."""
    for above in budget.path()[1:]:
        if budget.usage.slope:
            above.usage.add(state.now, sign * budget.usage.slope)
        above.committed += sign * budget.committed
        above.committed_gpus += sign * budget.committed_gpus
        above.protected += sign * budget.protected
        above.protected_gpus += sign * budget.protected_gpus
        above.expired_below += sign * budget.expired_below
        above.unfunded_below += sign * budget.unfunded_below
        above.waiting_below += sign * budget.waiting_below


def _rebuild(state: State, *parents: Budget) -> None:
    """Claims and paths below these follow the tree; nobody else's have changed."""
    state.stirred = True
    for budget in state.budgets.values():
        budget.forget_cache()
    state.root.find_leaves()
    for parent in dict.fromkeys(parents):
        if not any(other is not parent and other in parent.path() for other in parents):
            _claim_below(state, parent, Fraction(*parent.claims[-1][2:]))


def _claim_below(state: State, budget: Budget, claim: Fraction) -> None:
    total = sum(child.weight for child in budget.children.values())
    path = budget.path()
    for child in budget.children.values():
        share = claim * child.weight / total if total else Fraction(0)
        state.paths[child.id] = [child, *path]
        _claim(state, child, share)
        _claim_below(state, child, share)


def _claim(state: State, budget: Budget, claim: Fraction) -> None:
    top, bottom = claim.numerator, claim.denominator
    claims = budget.claims
    if claims and claims[-1][2:] == (top, bottom):
        return
    if claims and claims[-1][0] == state.now:
        claims.pop()
    claims.append((state.now, state.capacity.total(state.now), top, bottom))
