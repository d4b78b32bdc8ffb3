"""Headers and cookies: what browsers may do with the site's pages."""

from config import env
from config.settings.base import IS_PRODUCTION

# The sites that may show this one in a frame, such as https://huggingface.co.
FRAME_ANCESTORS = env.listing("PLURANK_FRAME_ANCESTORS", "")
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
if IS_PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = env.boolean("PLURANK_SSL_REDIRECT", default=True)
    SECURE_REDIRECT_EXEMPT = [r"^metrics/$"]  # Prometheus asks each web server by itself, behind the proxy
    SECURE_HSTS_SECONDS = env.number("PLURANK_HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    if FRAME_ANCESTORS:  # else browsers send no cookies from within a frame, and no one could sign in there
        SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "None"
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    # With this prefix browsers take the cookies over HTTPS from this very host alone, not from a neighbour's.
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
    DEVICE_COOKIE_NAME = "__Host-device"
