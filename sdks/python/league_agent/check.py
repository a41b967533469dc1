"""`--check`: does this agent speak the protocol? The program `league` tells."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HOW = """\
The program `league` checks agents, and it is not on the PATH.
Build it from the sources of the league with
    cargo install --path crates/cli
or say where it is with LEAGUE_BIN=/path/to/league. Then run this again:
    {command}
"""


# The checker says where to register, where to listen, and where the token may lie meanwhile.
PLACES = " --manager {manager} --listen 127.0.0.1:{port} --token-file {data}/token.json"


def check() -> int:
    """Runs `league check` on this program. Gives the exit code."""
    league = os.environ.get("LEAGUE_BIN") or shutil.which("league")
    command = shlex.join([sys.executable, str(Path(sys.argv[0]).resolve())])
    if league is None:
        sys.stderr.write(HOW.format(command=command + " --check"))
        return 1
    return subprocess.call([league, "check", "player", "--start", command + PLACES])
