"""Messages to systemd: the process is ready, the process is alive. See sd_notify(3); it needs no library."""

import logging
import os
import socket

logger = logging.getLogger(__name__)

READY, GOES_ON = "READY=1", "WATCHDOG=1"


def notify(*states: str) -> bool:
    """Tell systemd, where it started this process with `Type=notify`.

    Args:
        states: assignments such as `READY`, `GOES_ON`.

    Returns:
        Whether someone was told. What listens there may have gone; that fails nothing.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    if address.startswith("@"):  # a name in the kernel, not in the file system
        address = f"\0{address[1:]}"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            notices.setblocking(False)  # anyone who does not read must not stop us
            notices.sendto("\n".join(states).encode(), address)
    except OSError as error:
        logger.warning("systemd could not be notified of %s: %s", " ".join(states), error)
        return False
    return True
