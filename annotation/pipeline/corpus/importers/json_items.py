"""Streaming the items of a list in a JSON file, and finding where it is malformed."""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import ijson

from annotation.pipeline.corpus.importers.checks import CorpusError
from annotation.pipeline.corpus.importers.rows import unreadable
from common.files.json_limits import JsonLimitError, LimitedJson

_CHUNK = 2**16


def read_items(path: Path, prefix: str) -> Iterator[Any]:
    """Yield the items at `prefix`, such as `images.item`, one at a time."""
    try:
        with _open(path) as file:
            yield from ijson.items(LimitedJson(file), prefix, use_float=True)
    except JsonLimitError as error:
        raise _beyond_limit(path, error) from None
    except ijson.JSONError as error:
        raise _located(path, error) from None
    except OSError as error:
        raise unreadable(path, error) from error


def read_keys(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every key of every object in the file, with the prefix of the object."""
    try:
        with _open(path) as file:
            for prefix, event, value in ijson.parse(LimitedJson(file), use_float=True):
                if event == "map_key":
                    yield prefix, value
    except JsonLimitError as error:
        raise _beyond_limit(path, error) from None
    except ijson.JSONError as error:
        raise _located(path, error) from None
    except OSError as error:
        raise unreadable(path, error) from error


def _open(path: Path) -> IO[bytes]:
    file = path.open("rb")
    if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        file.seek(0)
    return file


def _beyond_limit(path: Path, error: JsonLimitError) -> CorpusError:
    with _open(path) as file:
        start = file.tell()
    line, column = _position(path, start + error.offset)
    return CorpusError(f"{path}, line {line}, column {column}: {error}")


def _located(path: Path, error: Exception) -> CorpusError:
    offset = _malformed_at(path)
    undecodable = _undecodable_at(path)
    if undecodable is not None and (offset is None or undecodable <= offset):
        line, _ = _position(path, undecodable)
        return CorpusError(f"{path}, line {line}: this is not UTF-8 text")
    if offset is None:
        return CorpusError(f"{path}: this is not valid JSON: the file ends too early")
    line, column = _position(path, offset)
    reason = str(error).partition(": ")[2].partition("\n")[0] or "unknown"
    return CorpusError(f"{path}, line {line}, column {column}: this is not valid JSON: {reason}")


def _malformed_at(path: Path) -> int | None:
    """Return where parsing stops, None for the end of the file.

    The parser does not report it, so parse again: by chunks up to the bad one, then by bytes.
    """
    with _open(path) as file:
        start = file.tell()
        parser, events = _parser()
        while chunk := file.read(_CHUNK):
            try:
                parser.send(chunk)
            except ijson.JSONError:
                break
            events.clear()
            start += len(chunk)
        if not chunk:
            return None
    with _open(path) as file:
        parser, events = _parser()
        while file.tell() < start:
            parser.send(file.read(min(_CHUNK, start - file.tell())))
            events.clear()
        for offset, byte in enumerate(chunk, start=start):
            try:
                parser.send(bytes([byte]))
            except ijson.JSONError:
                return offset
    return start + len(chunk) - 1


def _parser() -> tuple[Any, Any]:
    events = ijson.sendable_list()
    return ijson.basic_parse_coro(events, use_float=True), events


def _undecodable_at(path: Path) -> int | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        offset = 0
        while True:
            chunk = file.read(_CHUNK)
            waiting = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return offset - waiting + error.start
            if not chunk:
                return None
            offset += len(chunk)


def _position(path: Path, offset: int) -> tuple[int, int]:
    """Return line and column, from 1, of a byte of the file."""
    line, line_start, done = 1, 0, 0
    with path.open("rb") as file:
        while done < offset:
            chunk = file.read(min(_CHUNK, offset - done))
            line += chunk.count(b"\n")
            if (last := chunk.rfind(b"\n")) >= 0:
                line_start = done + last + 1
            done += len(chunk)
    return line, offset - line_start + 1
