#!/usr/bin/env python3
"""Recomputes every value of vectors.json with the standard library alone.

Prints OK and leaves with 0, or prints each difference and leaves with 1.
`--write` puts the computed values into the file, for new inputs.

The form under every HMAC and hash: the label, then each field, each as its length (four bytes,
big-endian) and its bytes. Fields are UTF-8 text, numbers in decimal; only a token's nonce and a
draw's seed are raw bytes. Keys: HKDF-SHA-256(secret, salt "league.v2", info = the key's label).
"""

import hashlib
import hmac
import json
import pathlib
import sys

FILE = pathlib.Path(__file__).with_name("vectors.json")


def form(label, *fields):
    parts = []
    for field in (label, *fields):
        data = field if isinstance(field, bytes) else str(field).encode()
        parts.append(len(data).to_bytes(4, "big") + data)
    return b"".join(parts)


def mac(key, label, *fields):
    return hmac.new(key, form(label, *fields), hashlib.sha256).digest()


def digest(label, *fields):
    return hashlib.sha256(form(label, *fields)).digest()


def derive(secret, label):
    source = hmac.new(b"league.v2", secret, hashlib.sha256).digest()
    return hmac.new(source, label.encode() + b"\x01", hashlib.sha256).digest()


def token(v, secret):
    nonce = bytes.fromhex(v["nonce"])
    made = mac(derive(secret, "agent"), "token", v["league"], v["agent"], nonce).hex()
    kind = "referee" if v["agent"].startswith("REF") else "player"
    text = f"tok_{kind}_{v['agent']}_{made}" if v["form"] == "long" else f"tok_{made[:32]}"
    return {"token": text, "token_hash": digest("token hash", text).hex()}


def proof(label, *names):
    def compute(v, _secret):
        made = mac(v["token"].encode(), label, v["league"], v["match"], *(v[n] for n in names))
        return {"proof": "prf_" + made.hex()}

    return compute


def draw(v, secret):
    where = (v["league"], v["match"], v["rematch"])
    seed = mac(derive(secret, "draw"), "seed", *where)
    number = draw_number(seed, *where, v["nonce_a"], v["nonce_b"])
    committed = digest("commitment", *where, seed).hex()
    return {"seed": seed.hex(), "commitment": committed, "number": number}


def draw_number(seed, *fields):
    counter = 0
    while True:
        for byte in mac(seed, "number", *fields, counter):
            if byte < 250:
                return 1 + byte % 10
        counter += 1


KINDS = {
    "tokens": token,
    "match_proofs": proof("match", "attempt", "referee"),
    "reply_proofs": proof("reply", "attempt"),
    "choice_proofs": proof("choice", "attempt", "step", "choice", "nonce"),
    "draws": draw,
}


def main():
    vectors = json.loads(FILE.read_text(encoding="utf-8"))
    secret = bytes.fromhex(vectors["secret"])
    computed = [(vectors, {"check_value": derive(secret, "check").hex()}, "keys")]
    for kind, compute in KINDS.items():
        for index, vector in enumerate(vectors[kind]):
            computed.append((vector, compute(vector, secret), f"{kind}[{index}]"))
    if "--write" in sys.argv[1:]:
        for vector, values, _ in computed:
            vector.update(values)
        FILE.write_text(json.dumps(vectors, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    wrong = 0
    for vector, values, where in computed:
        for name, value in values.items():
            if vector.get(name) != value:
                print(f"{where}.{name} differs: file {vector.get(name)}, computed {value}")
                wrong += 1
    if wrong == 0:
        print(f"OK: {len(computed)} vectors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
