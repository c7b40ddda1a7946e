"""Files in forms: no form here takes files, so their bytes are skipped and never kept."""

from typing import Any, Never

from django.core.files.uploadhandler import FileUploadHandler, SkipFile


class SkippingHandler(FileUploadHandler):
    """Leaves every file out; the form's other fields are read as usual."""

    def new_file(self, *args: Any, **kwargs: Any) -> Never:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        return None

    def file_complete(self, file_size: int) -> None:
        return None
