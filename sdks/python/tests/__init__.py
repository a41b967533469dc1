"""Tests of the kit, with nothing but the standard library: python3 -m unittest discover."""

import logging

# Players say much when they are teased.
logging.getLogger("league_agent").setLevel(logging.CRITICAL)
