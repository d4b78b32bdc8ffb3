"""The settings, one module per subject. Everything that differs between installations comes from the environment
(`config/env.py`); docs/settings.md has a table of its variables.
"""

from config.settings.accounts import *
from config.settings.api import *
from config.settings.background import *
from config.settings.base import *
from config.settings.database import *
from config.settings.limits import *
from config.settings.mails import *
from config.settings.monitoring import *
from config.settings.security import *
from config.settings.sign_in import *
