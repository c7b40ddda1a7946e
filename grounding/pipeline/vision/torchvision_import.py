"""The one place that imports torchvision, because the import may need help.

torchvision's usual wheel is built for CUDA. Beside a torch for CPUs its compiled part cannot be
loaded, and `import torchvision` fails with "operator torchvision::nms does not exist", because it
describes two operators that are missing. Declaring them first lets the import succeed. We only use
models and transforms, which need neither operator; calling one still fails with an error. With
matching builds nothing is declared.
"""

from types import ModuleType

import torch

_DECLARATIONS = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
# A declaration lives as long as its library object.
_libraries: list[torch.library.Library] = []


def torchvision_models() -> ModuleType:
    """Return `torchvision.models`, with whichever build of torchvision is installed."""
    try:
        import torchvision.models  # type: ignore[import-untyped]  # it has no types
    except RuntimeError as error:
        if "torchvision::nms does not exist" not in str(error):
            raise
        _declare_missing()
        import torchvision.models
    models: ModuleType = torchvision.models
    return models


def _declare_missing() -> None:
    # torch.library has no types.
    library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
    _libraries.append(library)
    for name, declaration in _DECLARATIONS.items():
        if not hasattr(torch.ops.torchvision, name):
            library.define(declaration)  # type: ignore[no-untyped-call]
