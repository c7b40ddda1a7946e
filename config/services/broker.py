"""A message broker out of plain files, for `make run` on a machine without services.

Kombu's filesystem transport opens a file under its final name before writing it, so a reader may
find it empty, and it takes messages by moving them to the system's temporary folder, which is a
copy when that is another disk. Here each of these steps is one rename within one folder tree.
"""

import fcntl
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

from common.files.whole import write_text

SCHEME = "chainbox-files"
TRANSPORT_ALIASES[SCHEME] = "config.services.broker:Transport"


def prepare_folders(root: Path) -> dict[str, str]:
    """Create the broker's folders under `root` and return the transport options naming them."""
    folders = {name: root / name for name in ("messages", "taken", "control")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(folders["messages"]),
        "data_folder_out": str(folders["messages"]),
        "processed_folder": str(folders["taken"]),
        "control_folder": str(folders["control"]),
    }


class Channel(filesystem.Channel):
    """Messages appear whole, and exactly one reader takes each."""

    # The two parent classes disagree about the second parameter's name; Celery passes it by
    # position.
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # time_ns keeps the order across restarts of the machine; a monotonic clock would not.
        name = f"{time.time_ns()}_{uuid.uuid4().hex}.{queue}.msg"
        # Not synced: a power cut may lose messages, since the database knows what is due.
        write_text(Path(self.data_folder_out) / name, dumps(payload), sync=False)

    def _queue_bind(
        self, exchange: str, routing_key: str | None, pattern: str | None, queue: str | None
    ) -> None:
        with (Path(self.control_folder) / "lock").open("w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            table = [tuple(entry) for entry in self.get_table(exchange)]
            entry = (routing_key or "", pattern or "", queue or "")
            if entry not in table:
                file = Path(self.control_folder) / f"{exchange}.exchange"
                write_text(file, dumps([entry, *table]), sync=False)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        ending = f"{queue}.msg"
        for name in sorted(os.listdir(self.data_folder_in)):
            if name.partition(".")[2] != ending:
                continue
            taken = Path(self.processed_folder) / name
            try:
                os.rename(Path(self.data_folder_in) / name, taken)
            except FileNotFoundError:
                continue  # another reader was quicker
            text = taken.read_text(encoding="utf-8")
            taken.unlink()
            return loads(text)
        raise Empty


class Transport(filesystem.Transport):
    """The file broker, known to Celery as chainbox-files://."""

    Channel = Channel
