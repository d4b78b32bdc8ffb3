"""A mail server that takes mails and keeps them: SMTP over a socket, as little of it as a client needs."""

import email
import email.policy
import socketserver
import threading
import time
from dataclasses import dataclass
from email.message import EmailMessage


@dataclass(frozen=True)
class Taken:
    """One mail that was taken."""

    recipients: list[str]
    mail: EmailMessage


class MailSink(socketserver.ThreadingTCPServer):
    """Listens on a port of 127.0.0.1 until the end of the `with`."""

    allow_reuse_address, daemon_threads, block_on_close = True, True, False

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Conversation)
        self.messages: list[Taken] = []
        self.refused: set[str] = set()
        self.is_closed_to_all = False
        self.hung_up_on: set[str] = set()  # the connection ends after the text for one of these
        self.is_breaking_off = False  # for everyone
        self.pause = 0.0  # seconds between taking a mail and saying so

    @property
    def port(self) -> int:
        return self.server_address[1]

    def __enter__(self) -> "MailSink":
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.shutdown()
        self.server_close()


class _Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self._say("220 sink")
        recipients: list[str] = []
        for line in self.rfile:
            word = line[:4].upper()
            if word in (b"EHLO", b"HELO"):
                self._say("250 sink")
            elif word == b"RCPT":
                address = line.split(b"<")[1].split(b">")[0].decode()
                if address in self.server.refused:
                    self._say("550 nobody of this name")
                else:
                    recipients.append(address)
                    self._say("250 ok")
            elif word == b"MAIL" and self.server.is_closed_to_all:
                self._say("530 who are you")
            elif word == b"DATA":
                self._say("354 go on")
                if not self._take(recipients):
                    return
                recipients = []
            elif word == b"QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def _take(self, recipients: list[str]) -> bool:
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                break
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        if self.server.is_breaking_off or self.server.hung_up_on & set(recipients):
            return False
        content = b"".join(lines).replace(b"\r\n", b"\n")
        self.server.messages.append(Taken(recipients, email.message_from_bytes(content, policy=email.policy.default)))
        time.sleep(self.server.pause)
        self._say("250 taken")
        return True

    def _say(self, text: str) -> None:
        try:
            self.wfile.write(f"{text}\r\n".encode())
        except OSError:  # who was killed does not listen
            return
