"""The answers of a worker process, in frames that are distinguishable from other data in the pipe.

An algorithm shares its process with the pipe: if it writes to every open descriptor, or closes them, results must not
be mixed up, and the parent must not wait for the rest of a message that never was one.
"""

import os
import pickle
import struct
import zlib
from multiprocessing.connection import Connection

#: Length and checksum of the payload.
_HEAD = struct.Struct("<QI")
_MOST_AT_ONCE = 1 << 20


class Unreadable(Exception):
    """A frame whose content is damaged, or cannot be loaded here."""


def send_answer(pipe: "Connection", token: bytes, answer: object) -> None:
    """Send an answer; ``token`` are random bytes that only the two ends of the pipe know."""
    packed = pickle.dumps(answer)
    pipe.send_bytes(b"".join((token, _HEAD.pack(len(packed), zlib.crc32(packed)), packed)))


class Answers:
    """The parent's end.

    Parameters
    ----------
    pipe
        The pipe for answers.
    token
        The first bytes of each frame.
    """

    def __init__(self, pipe: "Connection", token: bytes) -> None:
        self._pipe = pipe
        self._token = token
        self._read = bytearray()

    def next(self, seconds: float) -> tuple[object] | None:
        """Return an answer, in a tuple; None if none was complete within ``seconds``.

        Raises
        ------
        EOFError, OSError
            When the other end is closed.
        Unreadable
            When a frame is damaged.
        """
        if (answer := self._complete()) is not None:
            return answer
        if not self._pipe.poll(seconds):
            return None
        if os.name == "nt":
            self._read += self._pipe.recv_bytes()
        else:
            # Never reads more than is available: `Connection.recv` would wait for the length that the first bytes seem
            # to give; its frames are skipped here like all other foreign data.
            chunk = os.read(self._pipe.fileno(), _MOST_AT_ONCE)
            if not chunk:
                raise EOFError
            self._read += chunk
        return self._complete()

    def _complete(self) -> tuple[object] | None:
        begin = self._read.find(self._token)
        if begin < 0:
            # The end of the data may be the beginning of a token.
            del self._read[: max(len(self._read) - len(self._token) + 1, 0)]
            return None
        del self._read[:begin]
        content = len(self._token) + _HEAD.size
        if len(self._read) < content:
            return None
        size, checksum = _HEAD.unpack_from(self._read, len(self._token))
        if len(self._read) < content + size:
            return None
        packed = bytes(self._read[content : content + size])
        del self._read[: content + size]
        if zlib.crc32(packed) != checksum:
            raise Unreadable
        try:
            return (pickle.loads(packed),)
        except Exception as error:
            raise Unreadable from error
