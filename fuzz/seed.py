"""Fills fuzz/corpus from the protocol's own examples, as requests and as answers."""

import json
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz" / "corpus"


def frames(document):
    """The document as it would travel: as it is, or wrapped into a request and a response."""
    if not isinstance(document, dict) or "jsonrpc" in document:
        return [document]
    envelope = document.get("envelope", document)
    kind = envelope.get("message_type") or envelope.get("type") or "ping"
    method = "league.handle" if "envelope" in document else str(kind).lower()
    return [
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": document},
        {"jsonrpc": "2.0", "id": 1, "result": document},
    ]


def main():
    sources = sorted((ROOT / "docs" / "protocol").glob("examples/**/*.json"))
    sources += sorted((ROOT / "docs" / "protocol").glob("documents/**/*.json"))
    for target in ("frame", "message"):
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            name = "-".join(source.relative_to(ROOT / "docs" / "protocol").parts)
            shutil.copyfile(source, folder / name)
            for number, frame in enumerate(frames(json.loads(source.read_text()))):
                text = json.dumps(frame, separators=(",", ":"))
                (folder / f"{number}-{name}").write_text(text)
    rows = CORPUS / "journal_row"
    rows.mkdir(parents=True, exist_ok=True)
    (rows / "empty-event").write_bytes(b"\x01\x00")


main()
