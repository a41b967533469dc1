"""Write a player for a league in one function.

    from league_agent import Call, run

    def choose(call: Call) -> str:
        return "even"

    run(choose, name="Ada")

Everything else is done for you: registering and coming back, proofs, health, pull mode, shutdown.
"""

from .agent import Agent
from .call import Call, Move
from .keep import Identity, Keep
from .match import Match
from .player import Player
from .program import run
from .refusal import Refusal
from .settings import Settings
from .version import VERSION as __version__

__all__ = [
    "Agent",
    "Call",
    "Identity",
    "Keep",
    "Match",
    "Move",
    "Player",
    "Refusal",
    "Settings",
    "__version__",
    "run",
]
