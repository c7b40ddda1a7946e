"""Weights of networks: read from a file without running any code in it, identified by a digest."""

import pickle
import tempfile
import warnings
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import IO

import safetensors
import safetensors.torch
import torch
from torch import nn

from grounding.pipeline.errors import GroundingError
from grounding.pipeline.vision.pickle_rehearsal import is_harmless

# The headers of the largest networks have a few hundred kilobytes.
_LARGEST_HEADER = 16 << 20
# In files from before 2020: three for versions, the weights, and the list of storages.
_PICKLES_OF_OLD = 5


class WeightsError(GroundingError):
    """Weights cannot be used; the message names the file or network, the cause and a remedy."""


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a `.safetensors` file or of a state dict saved by torch, by name."""
    if not path.is_file():
        raise WeightsError(f"{path}: the file of weights does not exist")
    try:
        if path.suffix == ".safetensors":
            _check_header(path)
            return safetensors.torch.load_file(path)
        _check_pickles(path)
        with warnings.catch_warnings(
            action="ignore"
        ):  # about unusual pickles, which are refused or read
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise WeightsError(
            f"{path}: refused. It is damaged, or it contains more than tensors, and loading it "
            "might run a program hidden in it. Save only the network's state_dict(), preferably "
            "as .safetensors, and give that file"
        ) from error
    except WeightsError:
        raise
    except (
        *(safetensors.SafetensorError, RuntimeError, EOFError, OSError, ValueError, TypeError),
        *(KeyError, IndexError, AttributeError, MemoryError, zipfile.BadZipFile),
    ) as error:
        raise WeightsError(f"{path}: not a file of weights: {error}") from error
    return _state_dict(path, found)


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > min(_LARGEST_HEADER, path.stat().st_size - 8):
        raise WeightsError(f"{path}: not a file of weights: its header would have {length:,} bytes")


def _check_pickles(path: Path) -> None:
    """Refuse a compressed file, and one whose pickle costs too much: see `pickle_rehearsal`."""
    with path.open("rb") as file:
        if zipfile.is_zipfile(file):
            _check_zip(path, file)
            return
        file.seek(257)
        if file.read(5) == b"ustar":
            raise WeightsError(
                f"{path}: this is a tar file, which is not supported; save it with a current torch"
            )
        file.seek(0)
        if not is_harmless(file, _PICKLES_OF_OLD):
            raise _costly(path)


def _check_zip(path: Path, file: IO[bytes]) -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
        if packed or sum(member.file_size for member in members) > path.stat().st_size:
            raise WeightsError(
                f"{path}: not a file of weights: it is compressed, or its parts overlap"
            )
        for member in members:
            if member.filename.endswith(".pkl"):
                with tempfile.TemporaryFile() as copy:
                    copy.write(archive.read(member))
                    copy.seek(0)
                    if member.file_size > _LARGEST_HEADER or not is_harmless(copy, 1):
                        raise _costly(path)


def _costly(path: Path) -> WeightsError:
    return WeightsError(
        f"{path}: refused. Reading its list of tensors takes too much time or memory. Save only "
        "the network's state_dict(), preferably as .safetensors, and give that file"
    )


def _state_dict(path: Path, found: object) -> dict[str, torch.Tensor]:
    """Return the state dict itself if a training program has wrapped it."""
    for wrapper in ("state_dict", "model"):
        if isinstance(found, Mapping) and isinstance(found.get(wrapper), Mapping):
            found = found[wrapper]
    if not isinstance(found, Mapping) or not all(
        isinstance(name, str) and isinstance(value, torch.Tensor) for name, value in found.items()
    ):
        raise WeightsError(f"{path}: not a state dict, which maps names to tensors")
    return {name.removeprefix("module."): value for name, value in found.items()}


def load_into(
    module: nn.Module, weights: Mapping[str, torch.Tensor], *, unused: str, origin: str
) -> None:
    """Load weights into a network, which may have been built without any on the device "meta".

    Weights of the layer `unused` are ignored and may be missing.
    """
    wanted = module.state_dict()
    given = {name: value for name, value in weights.items() if not name.startswith(f"{unused}.")}
    problems = [f"{name} is missing" for name in wanted if name not in given]
    problems += [f"{name} does not belong to this network" for name in given if name not in wanted]
    problems += [
        f"{name} has shape {tuple(given[name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in wanted
        if name in given and given[name].shape != wanted[name].shape
    ]
    if problems:
        more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise WeightsError(
            f"{origin}: these weights belong to another network: {'; '.join(problems[:3])}{more}"
        )
    module.load_state_dict(
        {name: value.to(wanted[name].dtype) for name, value in given.items()}, assign=True
    )


def digest(module: nn.Module, *settings: object) -> str:
    """Return 12 hexadecimal digits that change with any weight, and with the settings."""
    content = sha256(repr(settings).encode())
    for name, tensor in sorted(module.state_dict().items()):
        content.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        content.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return content.hexdigest()[:12]
