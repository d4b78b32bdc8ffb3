"""Charts as plain data: what a template needs to draw them as SVG, worked out from figures."""
