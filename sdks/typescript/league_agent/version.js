/** Which release of the kit this is, and which protocol it speaks. */

export const VERSION = "0.1.0";
export const PROTOCOL = "league.v2";
export const PROTOCOL_VERSION = "2.1.0";
