"""A program that swaps names as fast as the system can, for race tests. Run with ``python``.

Arguments: pairs of paths. Swaps each pair until its input ends; prints a line once it has started.
"""

import ctypes
import itertools
import os
import sys
import threading

_EXCHANGE = 2
_HERE = -100
"""RENAME_EXCHANGE and AT_FDCWD of renameat2(2)."""


def main() -> None:
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    words = [os.fsencode(word) for word in sys.argv[1:]]
    pairs = list(zip(words[::2], words[1::2], strict=True))
    libc = ctypes.CDLL(None, use_errno=True)
    for number in itertools.count():
        if number == 100:
            print("swapping", flush=True)  # noqa: T201 what its parent waits for
        for one, other in pairs:
            if libc.renameat2(_HERE, one, _HERE, other, _EXCHANGE) and ctypes.get_errno() != 2:
                raise OSError(ctypes.get_errno(), "cannot exchange names here")
        if stop.is_set():
            return


if __name__ == "__main__":
    main()
