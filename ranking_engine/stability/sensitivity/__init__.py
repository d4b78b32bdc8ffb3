"""Sensitivity: how far label noise (`cardinal`) and irrelevant systems (`ordinal`) move a ranking, with proof."""
