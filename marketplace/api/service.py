"""botocore's model of the service: the authority on shapes."""

from functools import cache

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel, StructureShape


@cache
def service() -> ServiceModel:
    """Return the model that botocore ships; models in a user's home folder are left out."""
    loader = Loader(
        extra_search_paths=[Loader.BUILTIN_DATA_PATH], include_default_search_paths=False
    )
    return ServiceModel(loader.load_service_model("mturk", "service-2", "2017-01-17"), "mturk")


@cache
def operation_named(name: str) -> OperationModel | None:
    return service().operation_model(name) if name in service().operation_names else None


def target_prefix() -> str:
    """Return what stands before the operation's name in X-Amz-Target, without the dot."""
    return str(service().metadata["targetPrefix"])


def output_of(operation: OperationModel) -> StructureShape | None:
    """Return the shape of an operation's result; None: it has no result."""
    shape = operation.output_shape
    return shape if isinstance(shape, StructureShape) and shape.members else None
