"""Which operations of a service are emulated: one function each, and its name is all that is declared."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from app.core.scope import Scope
from app.wire.aws.model import OperationModel, load
from app.wire.aws.output import Writer, compile_writer
from app.wire.aws.validation import Reader, compile_reader


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler may use: the composed application, whose state to touch, and the request's id."""

    service: Any
    scope: Scope
    request_id: str


Handler = Callable[[Context, Any], Awaitable[Any]]
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, slots=True)
class Operation:
    """An emulated operation: its model, its handler, and what reads and writes its shapes."""

    model: OperationModel
    handler: Handler
    read: Reader
    write: Writer | None

    @property
    def name(self) -> str:
        """The vendor's name, as `CreateCluster`."""
        return self.model.name


class AwsService:
    """One AWS JSON service. `@service.operation` makes a function the handler of the operation it is named after.

    `async def create_cluster(ctx, req) -> dict` is `CreateCluster`; a name the model does not have is a
    `LookupError` at import. `req` has passed the model's every constraint; the answer is projected through
    the output shape, so it may carry more than the wire shows.
    """

    def __init__(self, name: str, *, target_prefix: str) -> None:
        self.model = load(name)
        if self.model.target_prefix != target_prefix:
            raise LookupError(f"{name} answers to {self.model.target_prefix}, not to {target_prefix}")
        self.name = name
        self.target_prefix = target_prefix
        self.operations: dict[str, Operation] = {}
        self._names = {name.lower(): name for name in self.model.operation_names}
        self._readers: dict[str, Reader] = {}
        self._writers: dict[str, Writer | None] = {}

    def operation(self, handler: H) -> H:
        """Register `handler` for the operation it is named after."""
        name = self._names.get(handler.__name__.replace("_", ""))
        if name is None or name in self.operations:
            fault = "is registered twice" if name else "names no operation"
            raise LookupError(f"{handler.__name__} {fault} in the model of {self.name} {self.model.api_version}")
        model = self.model.operation(name)
        self.operations[name] = Operation(
            model=model,
            handler=handler,
            read=compile_reader(model.input, self._readers),
            write=compile_writer(model.output, self._writers) if model.output else None,
        )
        return handler
