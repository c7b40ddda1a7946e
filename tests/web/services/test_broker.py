"""The file broker delivers every message whole, in order, and once."""

import threading
import uuid
from collections import Counter
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection

from config.services.broker import SCHEME, prepare_folders


def connect(folder: Path) -> Connection:
    """Open a connection to the broker in `folder`."""
    return Connection(f"{SCHEME}://localhost/", transport_options=prepare_folders(folder))


@pytest.fixture
def name() -> str:
    """A queue name of the test's own: Kombu remembers for the whole process which it has set up."""
    return f"letters-{uuid.uuid4().hex}"


def test_in_order(tmp_path: Path, name: str) -> None:
    with connect(tmp_path) as connection:
        queue = connection.SimpleQueue(name)
        for number in range(20):
            queue.put({"number": number})
        received = [queue.get(block=False) for _ in range(20)]
        assert [message.payload["number"] for message in received] == list(range(20))


def test_queues_do_not_mix(tmp_path: Path, name: str) -> None:
    with connect(tmp_path) as connection:
        connection.SimpleQueue(name).put("for me")
        other = connection.SimpleQueue(f"{name}.too")
        with pytest.raises(Empty):
            other.get(block=False)


def test_each_message_goes_to_one_reader_while_being_written(tmp_path: Path, name: str) -> None:
    total, readers = 300, 4
    received: Counter[int] = Counter()
    errors: list[BaseException] = []
    finished = threading.Event()
    counting = threading.Lock()

    def read() -> None:
        try:
            with connect(tmp_path) as connection:
                queue = connection.SimpleQueue(name)
                while True:
                    last_look = finished.is_set()
                    try:
                        message = queue.get(block=False)
                    except Empty:
                        if last_look:
                            return
                        continue
                    message.ack()
                    with counting:
                        received[message.payload["number"]] += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads:
        thread.start()
    with connect(tmp_path) as connection:
        queue = connection.SimpleQueue(name)
        for number in range(total):
            queue.put({"number": number, "padding": "x" * 20_000})
    finished.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert received == Counter(range(total))
