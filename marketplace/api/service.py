"""The models of the two services: botocore's for MTurk, the authority on shapes, and ours."""

from functools import cache

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel, StructureShape

from marketplace.api.extension import EXTENSION


@cache
def service() -> ServiceModel:
    """Return the model that botocore ships; ignore models in a user's home folder."""
    loader = Loader(
        extra_search_paths=[Loader.BUILTIN_DATA_PATH], include_default_search_paths=False
    )
    return ServiceModel(loader.load_service_model("mturk", "service-2", "2017-01-17"), "mturk")


@cache
def extension() -> ServiceModel:
    """Return the model of this marketplace's own operations, in addition to MTurk's."""
    return ServiceModel(EXTENSION, "chainbox-marketplace")


def operation_named(target: str) -> OperationModel | None:
    """Return the operation that X-Amz-Target names: the service's prefix, a dot, its name."""
    prefix, _, name = target.rpartition(".")
    for model in (service(), extension()):
        if prefix == model.metadata["targetPrefix"] and name in model.operation_names:
            return model.operation_model(name)
    return None


def is_extension(operation: OperationModel) -> bool:
    return operation.service_model is extension()


def output_of(operation: OperationModel) -> StructureShape | None:
    """Return the shape of an operation's result; None: it has no result."""
    shape = operation.output_shape
    return shape if isinstance(shape, StructureShape) and shape.members else None
