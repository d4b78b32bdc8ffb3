"""A small OpenID provider that runs beside a test: discovery, authorization, tokens and userinfo over real HTTP."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLIENT_ID, CLIENT_SECRET = "plurank", "a secret of this test"


@dataclass
class OidcProvider:
    """What the provider answers; a test changes it before someone signs in.

    Attributes:
        url: where it listens.
        person: what userinfo says.
        subject: the `sub` of the id token, where it differs from the person's.
        audience: for whom the id token is.
        is_broken: every answer is a 500.
        codes: authorization codes that were given out and not used: what was asked with each.
    """

    url: str = ""
    person: dict[str, Any] = field(default_factory=dict)
    subject: str = ""
    audience: str = CLIENT_ID
    is_broken: bool = False
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorize(self, authorization_url: str) -> str:
        """Sign in as `person` and agree; the address that the browser is sent back to."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(authorization_url).query).items()}
        assert query["client_id"] == CLIENT_ID
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        code = f"code{len(self.codes)}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def tokens(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The tokens for a code: once, for the client's secret and the verifier of the challenge."""
        query = self.codes.pop(form.get("code", ""), None)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
        if query is None or form.get("client_secret") != CLIENT_SECRET or query["code_challenge"] != challenge:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": self.audience,
            "sub": self.subject or self.person["sub"],
            "iat": now,
            "exp": now + 60,
        }
        token = jwt.encode(claims, KEY, algorithm="RS256")
        return 200, {"access_token": "an access token", "token_type": "Bearer", "expires_in": 60, "id_token": token}


@contextmanager
def oidc_provider() -> Iterator[OidcProvider]:
    """Run a provider on a free port of this machine."""
    provider = OidcProvider()

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(500 if provider.is_broken else status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            if self.path == "/.well-known/openid-configuration":
                paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "me"}
                endpoints = {name: f"{provider.url}/{path}" for name, path in paths.items()}
                methods = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
                self.answer(200, {"issuer": provider.url, "jwks_uri": f"{provider.url}/keys"} | endpoints | methods)
            elif self.path == "/me" and self.headers["Authorization"] == "Bearer an access token":
                self.answer(200, provider.person)
            else:
                self.answer(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(*provider.tokens({name: values[0] for name, values in parse_qs(body).items()}))

        def log_message(self, *_: object) -> None:
            """Nothing: tests read the output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=[0.05])
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
