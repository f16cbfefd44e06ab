"""Runs in the guest: prints how many bytes files hold, their holes left out, through those that they take on disk.

usage: python3 compressed.py FILE…
"""

from __future__ import annotations

import os
import sys

data_bytes = disk_bytes = 0
for path in sys.argv[1:]:
    descriptor = os.open(path, os.O_RDONLY)
    status = os.fstat(descriptor)
    disk_bytes += 512 * status.st_blocks
    end = 0
    while end < status.st_size:
        try:
            begin = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:  # nothing but a hole follows
            break
        end = os.lseek(descriptor, begin, os.SEEK_HOLE)
        data_bytes += end - begin
    os.close(descriptor)
print(data_bytes / disk_bytes)
