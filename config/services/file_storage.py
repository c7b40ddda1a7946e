"""Django's file storage, whose files appear whole or not at all."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from django.core.files.storage import FileSystemStorage

from common.files.whole import make_folder, whole_file


class _Content(Protocol):
    def chunks(self) -> Iterable[bytes]: ...


class WholeFileStorage(FileSystemStorage):
    """Files in a folder. Saving under an existing name replaces the file (`allow_overwrite`).

    Django's own storage writes under the final name: a full disk or a killed process leaves half a
    file.
    """

    def _save(self, name: str, content: _Content) -> str:
        path = Path(self.path(name))
        make_folder(path.parent)
        with whole_file(path) as file:
            if self.file_permissions_mode is not None:
                os.fchmod(file.fileno(), self.file_permissions_mode)
            for chunk in content.chunks():
                file.write(chunk)
        return name
