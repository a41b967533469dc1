"""Who a player is, kept in a private file so that it can come back as the same one."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Optional, Union


@dataclass(frozen=True)
class Identity:
    """What a registered player knows of itself."""

    league_id: str
    player_id: str
    #: Never shown when it is printed.
    auth_token: str = field(repr=False)


class Keep:
    """A file that only its owner may read."""

    def __init__(self, file: Union[str, Path]) -> None:
        self.file = Path(file)

    def read(self) -> Optional[Identity]:
        """Who was kept, if anybody was."""
        try:
            text = self.file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        try:
            return Identity(**json.loads(text))
        except (TypeError, ValueError):
            raise ValueError(f"{self.file} holds no player; remove it to join anew") from None

    def write(self, identity: Identity) -> None:
        """Keeps a player. The file is there with all of its text or not at all."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_name(self.file.name + ".new")
        if unfinished.exists():
            unfinished.unlink()
        opened = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            json.dump(asdict(identity), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, self.file)
