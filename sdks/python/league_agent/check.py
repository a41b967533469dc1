"""`--check`: does this agent speak the protocol? The program `league` tells."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HOW = """\
The program `league` checks agents, and it is not on the PATH.
Build it from the sources of the league with
    cargo install --path crates/cli
or say where it is with LEAGUE_BIN=/path/to/league. Then run this again:
    {command}
"""


def check() -> int:
    """Runs `league check` on this program. Gives the exit code."""
    league = os.environ.get("LEAGUE_BIN") or shutil.which("league")
    command = [sys.executable, str(Path(sys.argv[0]).resolve())]
    if league is None:
        sys.stderr.write(HOW.format(command=shlex.join([*command, "--check"])))
        return 1
    with tempfile.TemporaryDirectory() as place:
        # The checker's manager is not your league: its token goes elsewhere.
        start = shlex.join([*command, "--token-file", str(Path(place) / "token.json")])
        return subprocess.call([league, "check", "player", "--start", start])
