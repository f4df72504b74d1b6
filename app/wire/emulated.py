"""Which services are emulated, with every operation registered."""

import importlib
import pkgutil

from app.core.world import MOTO
from app.usecases.fault_aims import Apis
from app.wire import cost_explorer
from app.wire import sagemaker as topics
from app.wire.aws.registry import AwsService
from app.wire.google import errors as google
from app.wire.google import storage_dialect
from app.wire.moto import dialect as moto

DIALECTS = {MOTO: moto.MOTO}
"""The profiles whose worlds have another's manners."""
GOOGLE = frozenset({"vertex", "storage", "logging"})
"""The APIs whose errors are Google's."""


def services() -> tuple[AwsService, ...]:
    """The services. A topic of SageMaker is a module in its package: that it is there is all that is declared."""
    for topic in pkgutil.iter_modules(topics.__path__):
        importlib.import_module(f"{topics.__name__}.{topic.name}")
    return topics.sagemaker, cost_explorer.cost_explorer


def operations() -> dict[str, frozenset[str]]:
    """The operations that a fault rule can name, by API: those of AWS's models, and Google's that are emulated."""
    from app.wire.google import log_entries
    from app.wire.vertex import application as vertex  # its messages take time to load, for which AWS need not wait
    from app.wire.vertex import rpc

    named = {service.name: service.model.operation_names for service in services()}
    return named | {
        rpc.API: frozenset(vertex.rpcs()),
        storage_dialect.API: frozenset(storage_dialect.OPERATIONS),
        log_entries.API: frozenset({log_entries.OPERATION}),
    }


def apis() -> Apis:
    """At what fault rules may aim."""
    return Apis(operations(), GOOGLE, tuple(google.Code.__members__))
