"""Which release of the kit this is, and which protocol it speaks."""

VERSION = "0.1.0"
PROTOCOL = "league.v2"
PROTOCOL_VERSION = "2.1.0"
