"""Static files under names that carry their content's hash, the site's modules that import each other included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

# As Django's own, which it applies to the scripts of other packages, too: some name files that they do not bring.
_IMPORT = r"""(?P<matched>import(?P<import>\s[^;]*?)\s*from\s*["'](?P<url>\.[^"']*)["']\s*;)"""
_HASHED_IMPORT = 'import%(import)s from "%(url)s";'


class StaticStorage(CompressedManifestStaticFilesStorage):
    """An `import` in one of our modules leads to the hashed name, so that no browser mixes two versions of them."""

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", ((_IMPORT, _HASHED_IMPORT),)))
