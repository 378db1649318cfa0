"""A file of results that survives a crash: one line a record, each with its own checksum.

The first line says what made the records. A line that was only half written, or changed later, no
longer fits its checksum: it is dropped when the file is opened, and its run done again.
"""

import fcntl
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from mdsgdln import checks


def encode(record: Mapping) -> bytes:
    """Return a record as a line: its checksum, a blank, JSON with sorted keys, a line feed."""
    checks.instance("record", record, Mapping)
    body = json.dumps(record, sort_keys=True, ensure_ascii=False).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def decode(line: bytes) -> dict | None:
    """Return the record of a line, None if the line is not whole."""
    checks.instance("line", line, bytes)
    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body):
        return None
    return json.loads(body)


def read(path: Path) -> tuple[dict | None, list[dict]]:
    """Return the header and the whole records of a file; (None, []) if it has no whole header."""
    checks.instance("path", path, Path)
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    records = [decode(line) for line in lines]
    if not records or records[0] is None:
        return None, []
    return records[0], [record for record in records[1:] if record is not None]


class RecordFile:
    """Records appended to a file, which one process at a time may write.

    Args:
        path: the file; made if it is not there.
        header: what makes the records. A file made by anything else is refused.

    Raises:
        ValueError: the file has another header, or somebody is writing it.
    """

    def __init__(self, path: str | os.PathLike, header: Mapping):
        checks.instance("path", path, str | os.PathLike)
        checks.instance("header", header, Mapping)
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _open_locked(self.path)
        try:
            found, self._records = read(self.path)
            if found is not None:
                _check_same(self.path, found, header)
            self._repair(header)
        except BaseException:
            self._file.close()
            raise

    def _repair(self, header: Mapping) -> None:
        """Cut the file down to its whole records, if there is anything else in it."""
        whole = b"".join(encode(record) for record in (header, *self._records))
        if self.path.read_bytes() == whole:
            return
        # The records go to a new file that then takes the place of the old one: whenever this is
        # interrupted, one of the two is there, and whole. The lock moves along.
        fresh = self.path.with_name(self.path.name + ".repair")
        replacement = open(fresh, "wb")  # noqa: SIM115
        fcntl.flock(replacement, fcntl.LOCK_EX)
        replacement.write(whole)
        replacement.flush()
        os.fsync(replacement.fileno())
        os.replace(fresh, self.path)
        self._file.close()
        self._file = replacement

    def append(self, record: Mapping) -> None:
        """Append a record; once this returns, it outlives the process."""
        self._file.write(encode(record))
        self._file.flush()

    def __iter__(self) -> Iterator[dict]:
        """Iterate over the records that were there when the file was opened."""
        return iter(self._records)

    def __enter__(self) -> "RecordFile":
        """Return the file itself."""
        return self

    def __exit__(self, *_) -> None:
        """Close the file, which also unlocks it; written records then outlive the machine."""
        os.fsync(self._file.fileno())
        self._file.close()


def _open_locked(path: Path) -> BinaryIO:
    """Open a file to append to, as its only writer."""
    while True:
        file = open(path, "ab")  # noqa: SIM115 (held, and locked, until close)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise ValueError(f"path: {path} is being written by another process") from None
        if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            return file
        file.close()  # a repair put a new file in its place meanwhile


def _check_same(path: Path, found: Mapping, expected: Mapping) -> None:
    names = sorted(set(found) | set(expected))
    changed = [name for name in names if found.get(name) != expected.get(name)]
    if changed:
        told = "; ".join(f"{n} was {found.get(n)!r}, is {expected.get(n)!r}" for n in changed)
        raise ValueError(
            f"path: {path} holds the results of something else ({told}); "
            "remove it or choose another name"
        )
