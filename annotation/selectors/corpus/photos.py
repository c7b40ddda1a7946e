"""Where photos are: addresses that are signed and expire, so that none can be guessed or kept."""

import time

import msgspec
from django.conf import settings
from django.core import signing
from django.urls import reverse

from annotation import models
from common.clock import CLOCK_TOLERANCE_SECONDS
from common.opaque_numbers import number_hide, number_reveal
from common.rows import only_row

# The names of image formats in the file storage, as `picture_store` gives them.
CONTENT_TYPES = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}


class PhotoExpiredError(ValueError):
    """The address has expired."""


class Photo(msgspec.Struct, frozen=True):
    """A photo's place in the file storage, and how many seconds its address stays valid."""

    file: str
    content_type: str
    seconds_left: int


class _PhotoSigner(signing.TimestampSigner):
    """Signs with the beginning of the current window.

    The address stays the same for a while, so that browsers can cache the photo. No address is
    valid for longer than it should be.
    """

    def timestamp(self) -> str:
        window = max(1, settings.CHAINBOX_PHOTO_URL_SECONDS // 2)
        return signing.b62_encode(int(time.time()) // window * window)


_signer = _PhotoSigner(salt="chainbox.photo")


def photo_url(image: models.Image) -> str:
    """Return an address of the image's photo that expires; empty if there is no photo.

    It is valid for at least half of CHAINBOX_PHOTO_URL_SECONDS, whatever the clocks of the machines
    that sign and check it, and for at most all of it and the tolerance for clocks. It does not
    contain the image's number: questions whose images have numbers far apart would stand out.
    """
    if not image.file or image.withdrawn_at is not None:
        return ""
    return reverse("photo", kwargs={"token": _signer.sign(number_hide(image.pk))})


def photo_find(token: str) -> Photo | None:
    """Return the photo that the signed part of an address stands for.

    None: it is forged, or there is no such photo (any more). PhotoExpiredError: it is too old.
    """
    seconds: int = settings.CHAINBOX_PHOTO_URL_SECONDS
    try:
        image_id = number_reveal(_signer.unsign(token, max_age=seconds + CLOCK_TOLERANCE_SECONDS))
    except signing.SignatureExpired:
        raise PhotoExpiredError from None
    except (signing.BadSignature, ValueError):
        return None
    image = only_row(models.Image.objects.filter(pk=image_id, withdrawn_at=None).exclude(file=""))
    if image is None:
        return None
    signed_at = signing.b62_decode(token.split(":")[1])
    return Photo(
        file=image.file,
        content_type=CONTENT_TYPES.get(
            image.file.rpartition(".")[2].lower(), "application/octet-stream"
        ),
        seconds_left=max(0, int(signed_at + seconds - time.time())),
    )
