"""Who a player is, kept."""

import stat
import tempfile
import unittest
from pathlib import Path

from league_agent import Keep, Settings

from .referee import ME


class Keeping(unittest.TestCase):
    def test_a_player_is_kept_for_its_owner_only(self):
        with tempfile.TemporaryDirectory() as place:
            keep = Keep(Path(place) / "deep" / "token.json")
            self.assertIsNone(keep.read())
            for _ in range(2):
                keep.write(ME)
            self.assertEqual(keep.read(), ME)
            self.assertEqual(stat.S_IMODE(keep.file.stat().st_mode), 0o600)
            self.assertEqual([file.name for file in keep.file.parent.iterdir()], ["token.json"])

    def test_what_is_no_player_is_said_so(self):
        with tempfile.TemporaryDirectory() as place:
            for text in ("", "{}", "[1]", '{"player_id": "P01"}'):
                file = Path(place) / "token.json"
                file.write_text(text)
                with self.assertRaisesRegex(ValueError, "remove it"):
                    Keep(file).read()

    def test_every_manager_has_a_file_of_its_own(self):
        files = {
            str(Settings(name=name, manager=manager).kept_in())
            for name in ("Ada", "Ben/../x")
            for manager in ("http://127.0.0.1:8000", "http://127.0.0.1:8001/mcp")
        }
        self.assertEqual(len(files), 4)
        for file in files:
            self.assertEqual(Path(file).parent, Path(".league"))


if __name__ == "__main__":
    unittest.main()
