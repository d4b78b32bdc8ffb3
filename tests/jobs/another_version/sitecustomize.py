"""Makes every Python process that has this folder in PYTHONPATH one of another engine version (`ENGINE_VERSION`)."""

import os

import ranking_engine

ranking_engine.__version__ = os.environ["ENGINE_VERSION"]
