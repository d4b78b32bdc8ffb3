"""Sealing a child process: before it sees what no one else may see, it loses the network and the power to write files.

Where the kernel permits it the child has a network of its own, which leads nowhere. In any case Python refuses it
sockets and other programs, and the kernel refuses it files of any size and a picture of its memory.
"""

import ctypes
import os
import resource
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x1000_0000, 0x4000_0000  # of linux/sched.h
PR_SET_DUMPABLE = 4  # of linux/prctl.h
OWN_NETWORK = "it has a network of its own, which leads nowhere, and Python refuses it sockets"
REFUSED_SOCKETS = "the kernel permits no network of its own; Python refuses it sockets"
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn")
REFUSED = ("socket.", "urllib.", "http.", "ftplib.", "shutil.", "sqlite3.connect", *PROGRAMS)
_how = ""


def seal() -> None:
    """Seal this process for good. It must have no second thread yet."""
    global _how  # noqa: PLW0603 -- what was done to this process
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)  # the text of an error may quote what is hidden
    _how = REFUSED_SOCKETS
    if sys.platform.startswith("linux"):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        # A user who is no administrator needs a namespace of users of their own for one of networks.
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 or libc.unshare(CLONE_NEWNET) == 0:
            _how = OWN_NETWORK
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(limit, (0, 0))
    sys.dont_write_bytecode = True
    sys.addaudithook(_refuse)


def how_sealed() -> str:
    """What keeps this process from the network, in words; empty where it is not sealed."""
    return _how


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook, which no one can take back."""
    if event.startswith(REFUSED):
        raise PermissionError(f"a sealed process has no {event}")
    if event == "open" and len(arguments) == 3 and isinstance(arguments[2], int) and arguments[2] & WRITING:
        raise PermissionError("a sealed process writes no files")
