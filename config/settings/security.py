"""Headers and cookies: what browsers may do with the site's pages."""

import re

from config import env, env_addresses
from config.settings.base import FORCE_SCRIPT_NAME, IS_PRODUCTION

# The sites that may show this one in a frame, such as https://huggingface.co.
FRAME_ANCESTORS = env_addresses.frame_sites("PLURANK_FRAME_ANCESTORS")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": FRAME_ANCESTORS or ["'none'"],
        "base-uri": ["'none'"],
    }
}
# This header knows no list of sites; browsers that read the policy above ignore it.
X_FRAME_OPTIONS = "DENY"
# Who is told of a hole in this installation: the contact of /.well-known/security.txt, which is absent without one.
SECURITY_CONTACT = env_addresses.contact("PLURANK_SECURITY_CONTACT")
# What no page of the site uses, so that nothing that gets into one may either.
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in [
        "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone", "midi",
        "payment", "publickey-credentials-get", "screen-wake-lock", "usb", "xr-spatial-tracking",
    ]
)  # fmt: skip
SECURE_REFERRER_POLICY = "same-origin"
DEVICE_COOKIE_NAME = "device"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
# Below a prefix the host's other sites do not get our cookies.
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = DEVICE_COOKIE_PATH = f"{FORCE_SCRIPT_NAME or ''}/"
if IS_PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = env.boolean("PLURANK_SSL_REDIRECT", default=True)
    # Prometheus and load balancers ask each web server by itself, behind the proxy.
    SECURE_REDIRECT_EXEMPT = [rf"^{re.escape(SESSION_COOKIE_PATH.lstrip('/'))}(metrics|healthz)/$"]
    SECURE_HSTS_SECONDS = env.number("PLURANK_HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    if FRAME_ANCESTORS:  # else browsers send no cookies from within a frame, and no one could sign in there
        SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "None"
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    # With `__Host-` browsers take the cookies over HTTPS from this very host alone, not from a neighbour's. It is for
    # whole hosts only.
    kind = "__Secure-" if FORCE_SCRIPT_NAME else "__Host-"
    SESSION_COOKIE_NAME = f"{kind}sessionid"
    CSRF_COOKIE_NAME = f"{kind}csrftoken"
    DEVICE_COOKIE_NAME = f"{kind}device"
