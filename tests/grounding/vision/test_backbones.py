"""Backbones: the layer taken, ten crops averaged, weights from files, nothing run from a pickle."""

import os
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import nn

from grounding.pipeline.store.extraction import extract_shard, open_store
from grounding.pipeline.store.features import FeatureKey
from grounding.pipeline.store.plans import plan
from grounding.pipeline.vision.backbones import Backbone, choose_device, load_backbone
from grounding.pipeline.vision.photos import find_photos
from grounding.pipeline.vision.torchvision_import import torchvision_models
from grounding.pipeline.vision.weights import WeightsError, read_weights
from tests.data.conftest import data_folder
from tests.grounding.small import make_release, picture, small_backbone


class Vgg(NamedTuple):
    """VGG-16 in plain torch, and its weights as files."""

    plain: nn.Module
    safetensors: Path
    pth: Path


@pytest.fixture(scope="module")
def vgg(tmp_path_factory: pytest.TempPathFactory) -> Vgg:
    """Weights as large as a random start makes them; half precision, to halve the files."""
    folder = tmp_path_factory.mktemp("vgg")
    with torch.device("meta"):
        plain: nn.Module = torchvision_models().vgg16()
    random = torch.Generator().manual_seed(1)
    state = {}
    for name, wanted in plain.state_dict().items():
        fan_in = wanted[0].numel() if wanted.dim() > 1 else 100
        values = torch.empty(wanted.shape).normal_(0, (2 / fan_in) ** 0.5, generator=random)
        state[name] = values.half()
    plain.load_state_dict({name: value.float() for name, value in state.items()}, assign=True)
    torch.save({"state_dict": state}, folder / "vgg16.pth")
    without_last = {name: v for name, v in state.items() if not name.startswith("classifier.6")}
    safetensors.torch.save_file(without_last, folder / "vgg16.safetensors")
    return Vgg(plain.eval(), folder / "vgg16.safetensors", folder / "vgg16.pth")


@pytest.mark.slow
def test_vgg16_gives_the_second_hidden_layer_averaged_over_ten_crops(
    vgg: Vgg, tmp_path: Path
) -> None:
    torchvision_models()
    from torchvision.transforms import functional  # type: ignore[import-untyped]  # no types

    backbone = load_backbone("vgg16", vgg.safetensors, "cpu")
    assert (backbone.dimensions, backbone.side) == (4096, 224)
    _, folder = make_release(tmp_path, 1)
    picture(0).save(folder / "image-000.jpg", quality=95)
    photos, _ = find_photos(tmp_path / "store", folder, ["image-000"])
    store = open_store(tmp_path / "store", backbone, "ten", "float32")
    [shard] = plan(store, photos)
    extract_shard(store, folder, shard, backbone)
    store.refresh()
    ours = store.read([FeatureKey(photos["image-000"].sha256, None)])[0]

    from PIL import Image

    with Image.open(folder / "image-000.jpg") as photo:
        square = photo.convert("RGB").resize((256, 256), Image.Resampling.BILINEAR)
    tensors = [functional.to_tensor(crop) for crop in functional.ten_crop(square, 224)]
    batch = functional.normalize(torch.stack(tensors), [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    network: Any = vgg.plain
    with torch.inference_mode():
        hidden = network.avgpool(network.features(batch)).flatten(1)
        first = torch.relu(network.classifier[0](hidden))
        second = torch.relu(network.classifier[3](first))
    expected = second.mean(dim=0).numpy()
    assert (expected > 0).mean() > 0.3  # after the ReLU, and yet something is there
    np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-3 * expected.max())


@pytest.mark.slow
def test_vgg16_is_the_same_from_either_kind_of_file(vgg: Vgg) -> None:
    one, other = (load_backbone("vgg16", path, "cpu") for path in (vgg.safetensors, vgg.pth))
    assert one.name == other.name
    assert one.name.startswith("vgg16-")


def test_efficientnet_lite0_works_offline_with_real_weights() -> None:
    backbone = load_backbone(device="cpu")
    assert (backbone.dimensions, backbone.side) == (1280, 224)
    crops = np.stack([np.asarray(picture(n, (224, 224))) for n in range(2)])
    prepared = backbone.prepare(crops)
    assert prepared.min() == -1
    assert prepared.max() <= 1
    np.testing.assert_allclose(
        prepared.permute(0, 2, 3, 1).numpy(), crops / 127.5 - 1, rtol=0, atol=1e-6
    )
    features = backbone.features(crops)
    assert features.shape == (2, 1280)
    assert features.dtype == np.float32
    assert (features >= 0).all()
    assert features.std() > 0.1
    assert not np.allclose(features[0], features[1])


def test_efficientnet_lite0_knows_a_photo_when_it_sees_one() -> None:
    """Features of one photo and its mirror image are closer than those of two photos."""
    folder = data_folder() / "photos"
    if not folder.is_dir():
        pytest.skip(f"the photos are not there: no {folder}")
    from PIL import Image

    crops = []
    for path in sorted(folder.glob("*.jpg"))[:4]:
        with Image.open(path) as photo:
            pixels = np.asarray(photo.convert("RGB").resize((224, 224)))
        crops += [pixels, pixels[:, ::-1]]
    features = load_backbone(device="cpu").features(np.stack(crops))
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    likeness = unit @ unit.T - 2 * np.eye(8)
    assert likeness.argmax(axis=1).tolist() == [1, 0, 3, 2, 5, 4, 7, 6]


def test_any_classifier_of_torchvision_gives_what_goes_into_its_last_layer(tmp_path: Path) -> None:
    models = torchvision_models()
    torch.manual_seed(3)
    plain = models.mobilenet_v3_small().eval()
    safetensors.torch.save_file(plain.state_dict(), tmp_path / "weights.safetensors")
    backbone = load_backbone("mobilenet_v3_small", tmp_path / "weights.safetensors", "cpu")
    assert backbone.dimensions == 1024
    crops = np.asarray(picture(0, (224, 224)))[None]
    seen = []
    plain.classifier[3].register_forward_pre_hook(lambda layer, given: seen.append(given[0]))
    with torch.inference_mode():
        plain(backbone.prepare(crops))
    np.testing.assert_allclose(backbone.features(crops), seen[0].numpy(), rtol=1e-4, atol=1e-5)


def test_the_name_changes_with_the_weights_and_with_the_input() -> None:
    one, other = small_backbone(), small_backbone(seed=1)
    assert one.name == small_backbone().name
    assert one.name != other.name
    halves = Backbone("small", one._module, dimensions=12, side=56, mean=(0.5,) * 3, device="cpu")
    assert halves.name != one.name


class Malicious:
    """A pickle that runs a program when it is loaded."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("kind", ["torch", "torch-legacy", "pickle"])
def test_a_pickle_that_would_run_code_is_refused(tmp_path: Path, kind: str) -> None:
    target, path = tmp_path / "created", tmp_path / "weights.pth"
    content = {"classifier.6.weight": Malicious(target)}
    if kind == "pickle":
        path.write_bytes(pickle.dumps(content))
    else:
        torch.save(content, path, _use_new_zipfile_serialization=kind == "torch")
    with pytest.raises(WeightsError, match=r"weights\.pth: refused.* might run a program"):
        read_weights(path)
    assert not target.exists()


@pytest.mark.parametrize("name", ["weights.pth", "weights.safetensors"])
@pytest.mark.parametrize("content", [b"", b"nonsense" * 100])
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(WeightsError, match=name):
        read_weights(tmp_path / name)


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    torch.save({"features.0.weight": torch.zeros(3)}, tmp_path / "weights.pth")
    with pytest.raises(WeightsError, match=r"weights\.pth: these weights belong to another"):
        load_backbone("efficientnet-lite0", tmp_path / "weights.pth")
    torch.save([torch.zeros(3)], tmp_path / "weights.pth")
    with pytest.raises(WeightsError, match="not a state dict"):
        load_backbone("efficientnet-lite0", tmp_path / "weights.pth")
    with pytest.raises(WeightsError, match="the file of weights does not exist"):
        load_backbone("efficientnet-lite0", tmp_path / "nothing.pth")


def test_networks_that_do_not_exist_or_do_not_fit_are_refused() -> None:
    with pytest.raises(WeightsError, match="unknown backbone “vgg61”"):
        load_backbone("vgg61")
    with pytest.raises(WeightsError, match="squeezenet1_0: it has no linear layer at the end"):
        load_backbone("squeezenet1_0")


def test_a_device_is_chosen() -> None:
    assert choose_device() in ("cuda", "mps", "cpu")


def test_pixels_are_normalised_as_imagenets_unless_told_otherwise() -> None:
    """Mean and standard deviation of ImageNet's colours, as torchvision's networks expect."""
    backbone = Backbone("plain", nn.AdaptiveAvgPool2d(1), dimensions=3, side=4, device="cpu")
    crops = np.stack([np.full((4, 4, 3), value, np.uint8) for value in (0, 255)])
    black, white = backbone.features(crops)
    np.testing.assert_allclose(black, [-2.1179, -2.0357, -1.8044], atol=1e-3)
    np.testing.assert_allclose(white, [2.2489, 2.4286, 2.6400], atol=1e-3)
