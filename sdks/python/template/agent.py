"""A player. Edit `choose`, then run it: python3 agent.py --help"""

import random

from league_agent import Call, Move, run


def choose(call: Call) -> Move:
    """Your move: one of call.options. README.md says what else `call` knows."""
    return random.choice(call.options)


if __name__ == "__main__":
    run(choose, name="{{name}}", version="1.0.0", games=("even_odd", "even_odd_numbers"))
