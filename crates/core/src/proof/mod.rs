//! Who is who: the keys of a server, agents' tokens and the proofs made from them.
//!
//! Every key is HKDF-SHA-256 of the server's secret with a label of its own. Every HMAC and hash
//! runs over the same form: the label, then each field, each as its length (four bytes,
//! big-endian) and its bytes. Fields are UTF-8 text, numbers in decimal; only the nonce of a token
//! is raw bytes.

use std::fmt;
use std::str::FromStr;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::dice::Dice;
use crate::id::{AgentId, LeagueId, MatchId, RefereeId};
use crate::limits::TEXT_BYTES_MAX;
use crate::policy::TokenForm;

const HIDDEN: &str = "[hidden]";
const HKDF_SALT: &[u8] = b"league.v2";
const PROOF_PREFIX: &str = "prf_";

/// Why a text is not a secret, token, proof or hash. It never repeats the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub struct BadCredential {
    /// What would have been accepted.
    pub expected: &'static str,
}

/// The one secret of a server, from which all its keys come.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// The secret with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A new secret; `dice` must be fit for secrets.
    pub fn roll(dice: &mut impl Dice) -> Self {
        Self(dice.bytes32())
    }

    /// The secret as 64 hex digits, to be kept in a private place and nowhere else.
    pub fn expose(&self) -> String {
        hex(&self.0)
    }
}

impl FromStr for Secret {
    type Err = BadCredential;

    fn from_str(text: &str) -> Result<Self, BadCredential> {
        unhex(text)
            .map(Self)
            .ok_or(BadCredential { expected: "a secret of 64 lower-case hex digits" })
    }
}

/// The keys of a server, each for one purpose.
#[derive(Clone)]
pub struct Keys {
    agent: [u8; 32],
    draw: [u8; 32],
    signing: [u8; 32],
    check: [u8; 32],
}

impl Keys {
    /// The keys that belong to `secret`.
    pub fn derive(secret: &Secret) -> Self {
        let source = Hkdf::<Sha256>::new(Some(HKDF_SALT), &secret.0);
        let key = |label: &str| {
            let mut key = [0; 32];
            source.expand(label.as_bytes(), &mut key).expect("HKDF-SHA-256 gives up to 8160 bytes");
            key
        };
        Self {
            agent: key("agent"),
            draw: key("draw"),
            signing: key("signing"),
            check: key("check"),
        }
    }

    /// The token of `agent`. It can be made again from the nonce, which is all that is kept.
    pub fn token(
        &self,
        form: TokenForm,
        league: &LeagueId,
        agent: AgentId,
        nonce: &[u8; 32],
    ) -> Token {
        let id = agent.to_string();
        let fields = [league.as_str().as_bytes(), id.as_bytes(), nonce];
        let digest = mac(&self.agent, "token", &fields);
        Token(match form {
            TokenForm::Long => format!("tok_{}_{id}_{}", agent.kind(), hex(&digest)),
            TokenForm::Short => format!("tok_{}", hex(&digest[..16])),
        })
    }

    /// What the operator's own referees show when they register in `league`.
    pub fn join_key(&self, league: &LeagueId) -> Token {
        let digest = mac(&self.agent, "join", &[league.as_str().as_bytes()]);
        Token(format!("join_{}", hex(&digest)))
    }

    /// A public value that tells whether a journal was written under the same secret.
    pub const fn check_value(&self) -> [u8; 32] {
        self.check
    }

    /// The seed of the key that signs checkpoints.
    pub const fn signing_seed(&self) -> &[u8; 32] {
        &self.signing
    }

    pub(crate) const fn draw_key(&self) -> &[u8; 32] {
        &self.draw
    }
}

/// What an agent shows to prove who it is.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The token itself: for the agent it belongs to and nobody else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `shown` is this token; takes equally long wherever they differ.
    pub fn matches(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }

    /// What somebody gets who must recognise the token without being able to use it.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl FromStr for Token {
    type Err = BadCredential;

    fn from_str(text: &str) -> Result<Self, BadCredential> {
        let plain = text.bytes().all(|b| b.is_ascii_graphic());
        if text.is_empty() || text.len() > TEXT_BYTES_MAX || !plain {
            return Err(BadCredential {
                expected: "a token of 1 to 512 printable ASCII characters without spaces",
            });
        }
        Ok(Self(text.into()))
    }
}

/// The hash of a token, 64 hex digits as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    fn of(token: &str) -> Self {
        Self(digest("token hash", &[token.as_bytes()]))
    }

    /// Whether `shown` is the token with this hash.
    pub fn matches(&self, shown: &str) -> bool {
        self.0.ct_eq(&Self::of(shown).0).into()
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for TokenHash {
    type Err = BadCredential;

    fn from_str(text: &str) -> Result<Self, BadCredential> {
        unhex(text)
            .map(Self)
            .ok_or(BadCredential { expected: "a token hash of 64 lower-case hex digits" })
    }
}

/// Shows, for one purpose only, that its maker knows a token: `prf_` and 64 hex digits.
#[derive(Clone, Copy)]
pub struct Proof([u8; 32]);

impl Proof {
    /// The bytes of the proof, for the record.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// Whether these are its bytes, compared in constant time.
    pub fn is(&self, bytes: &[u8; 32]) -> bool {
        self.0.ct_eq(bytes).into()
    }

    /// The proof itself, for the message it belongs in.
    pub fn expose(&self) -> String {
        format!("{PROOF_PREFIX}{}", hex(&self.0))
    }

    /// Whether `shown` is this proof; takes equally long wherever they differ.
    pub fn matches(&self, shown: &str) -> bool {
        shown.parse().is_ok_and(|shown: Self| *self == shown)
    }
}

impl PartialEq for Proof {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Proof {}

impl FromStr for Proof {
    type Err = BadCredential;

    fn from_str(text: &str) -> Result<Self, BadCredential> {
        let digits = text.strip_prefix(PROOF_PREFIX);
        digits
            .and_then(unhex)
            .map(Self)
            .ok_or(BadCredential { expected: "a proof: `prf_` and 64 lower-case hex digits" })
    }
}

/// What a referee shows to the owner of `token`: the manager gave it this attempt at this match.
pub fn match_proof(
    token: &Token,
    league: &LeagueId,
    match_id: MatchId,
    attempt: u32,
    referee: RefereeId,
) -> Proof {
    let (match_id, attempt) = (match_id.to_string(), attempt.to_string());
    let fields = [league.as_str(), &match_id, &attempt, &referee.to_string()];
    token.prove("match", &fields)
}

/// What the owner of `token` shows to the referee of this attempt at this match.
pub fn reply_proof(token: &Token, league: &LeagueId, match_id: MatchId, attempt: u32) -> Proof {
    let (match_id, attempt) = (match_id.to_string(), attempt.to_string());
    token.prove("reply", &[league.as_str(), &match_id, &attempt])
}

/// A choice as a player sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentChoice<'a> {
    /// Which of the match's choices it is, counted from one.
    pub step: u32,
    /// The choice, as text.
    pub choice: &'a str,
    /// The nonce beside it, empty if there was none.
    pub nonce: &'a str,
}

/// What the owner of `token` adds to a choice, so that no referee can change it.
pub fn choice_proof(
    token: &Token,
    league: &LeagueId,
    match_id: MatchId,
    attempt: u32,
    sent: SentChoice<'_>,
) -> Proof {
    let (match_id, attempt) = (match_id.to_string(), attempt.to_string());
    let step = sent.step.to_string();
    let fields = [league.as_str(), &match_id, &attempt, &step, sent.choice, sent.nonce];
    token.prove("choice", &fields)
}

impl Token {
    fn prove(&self, label: &str, fields: &[&str]) -> Proof {
        let fields: Vec<&[u8]> = fields.iter().map(|field| field.as_bytes()).collect();
        Proof(mac(self.0.as_bytes(), label, &fields))
    }
}

macro_rules! hidden {
    ($($type:ty: $($trait:ident),*;)*) => {
        $($(impl fmt::$trait for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(HIDDEN)
            }
        })*)*
    };
}

hidden! {
    Secret: Debug;
    Keys: Debug;
    Token: Debug, Display;
    Proof: Debug, Display;
}

/// HMAC-SHA-256 under `key` over `label` and `fields`.
pub(crate) fn mac(key: &[u8], label: &str, fields: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    each_part(label, fields, |part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// SHA-256 over `label` and `fields`.
pub(crate) fn digest(label: &str, fields: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    each_part(label, fields, |part| Digest::update(&mut digest, part));
    digest.finalize().into()
}

fn each_part(label: &str, fields: &[&[u8]], mut part: impl FnMut(&[u8])) {
    for field in std::iter::once(label.as_bytes()).chain(fields.iter().copied()) {
        let length = u32::try_from(field.len()).expect("fields are far below 4 GiB");
        part(&length.to_be_bytes());
        part(field);
    }
}

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Thirty-two bytes from exactly 64 lower-case hex digits: one spelling per value.
pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != 32 || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
