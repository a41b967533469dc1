//! Tokens and proofs against the published vectors.

use serde_json::Value;

use super::*;
use crate::dice::SeededDice;
use crate::draw::{Commitment, Draw, Seed};
use crate::id::{PlayerId, RoundId};
use crate::seat::Seats;

const VECTORS: &str = include_str!("../../../../docs/protocol/vectors.json");
const VECTORS_MIN: usize = 5;

#[test]
fn tokens_and_hashes_are_those_of_the_published_vectors() {
    let vectors = vectors();
    let keys = keys_of(&vectors);
    assert_eq!(hex(&keys.check_value()), text(&vectors, "check_value"));
    for vector in list(&vectors, "tokens") {
        let form = match text(vector, "form") {
            "long" => TokenForm::Long,
            "short" => TokenForm::Short,
            other => panic!("no token form {other}"),
        };
        let nonce = unhex(text(vector, "nonce")).unwrap();
        let agent = read(vector, "agent");
        let token = keys.token(form, &read(vector, "league"), agent, &nonce);
        assert_eq!(token.expose(), text(vector, "token"));
        assert_eq!(token.hash().to_string(), text(vector, "token_hash"));
    }
}

#[test]
fn proofs_are_those_of_the_published_vectors() {
    let vectors = vectors();
    for vector in list(&vectors, "match_proofs") {
        let (token, league, match_id, attempt) = attempt_of(vector);
        let proof = match_proof(&token, &league, match_id, attempt, read(vector, "referee"));
        assert_eq!(proof.expose(), text(vector, "proof"));
    }
    for vector in list(&vectors, "reply_proofs") {
        let (token, league, match_id, attempt) = attempt_of(vector);
        let proof = reply_proof(&token, &league, match_id, attempt);
        assert_eq!(proof.expose(), text(vector, "proof"));
    }
    for vector in list(&vectors, "choice_proofs") {
        let (token, league, match_id, attempt) = attempt_of(vector);
        let sent = SentChoice {
            step: number(vector, "step"),
            choice: text(vector, "choice"),
            nonce: text(vector, "nonce"),
        };
        let proof = choice_proof(&token, &league, match_id, attempt, sent);
        assert_eq!(proof.expose(), text(vector, "proof"));
    }
}

#[test]
fn draws_are_those_of_the_published_vectors() {
    let vectors = vectors();
    let keys = keys_of(&vectors);
    for vector in list(&vectors, "draws") {
        let (league, match_id) = (read(vector, "league"), read(vector, "match"));
        let draw = Draw::new(&league, match_id, number(vector, "rematch"));
        let seed: Seed = read(vector, "seed");
        let commitment: Commitment = read(vector, "commitment");
        let nonces = Seats::new(text(vector, "nonce_a"), text(vector, "nonce_b"));
        assert_eq!(draw.seed(&keys), seed);
        let drawn = u8::try_from(number(vector, "number")).unwrap();
        assert_eq!(draw.verify(&commitment, &seed, nonces, drawn), Ok(()));
    }
}

// req: AUTH-1
#[test]
fn tokens_differ_by_agent_league_nonce_and_secret() {
    let keys = Keys::derive(&Secret::new([1; 32]));
    let other_keys = Keys::derive(&Secret::new([2; 32]));
    let (league, other) = (league("one"), league("two"));
    let (agent, nonce) = (AgentId::Player(PlayerId::new(1)), [3; 32]);
    for form in [TokenForm::Long, TokenForm::Short] {
        let token = keys.token(form, &league, agent, &nonce);
        assert!(token.matches(keys.token(form, &league, agent, &nonce).expose()));
        for stranger in [
            keys.token(form, &other, agent, &nonce),
            keys.token(form, &league, AgentId::Player(PlayerId::new(2)), &nonce),
            keys.token(form, &league, AgentId::Referee(RefereeId::new(1)), &nonce),
            keys.token(form, &league, agent, &[4; 32]),
            other_keys.token(form, &league, agent, &nonce),
        ] {
            assert!(!token.matches(stranger.expose()));
            assert!(!token.hash().matches(stranger.expose()));
        }
    }
    assert_ne!(keys.check_value(), other_keys.check_value());
    let long = keys.token(TokenForm::Long, &league, agent, &nonce);
    let short = keys.token(TokenForm::Short, &league, agent, &nonce);
    assert!(long.expose().starts_with("tok_player_P01_"));
    assert_eq!(long.expose().len(), "tok_player_P01_".len() + 64);
    assert_eq!(short.expose().len(), "tok_".len() + 32);
}

// req: AUTH-6
#[test]
fn a_proof_holds_for_one_purpose_attempt_and_referee_only() {
    let token: Token = "tok_player_P01_aa".parse().unwrap();
    let other: Token = "tok_player_P02_aa".parse().unwrap();
    let (league, game) = (league("one"), MatchId::new(RoundId::FIRST, 1));
    let referee = RefereeId::new(1);
    let proof = match_proof(&token, &league, game, 1, referee);
    assert!(proof.matches(&match_proof(&token, &league, game, 1, referee).expose()));
    for stranger in [
        match_proof(&other, &league, game, 1, referee),
        match_proof(&token, &league, game, 2, referee),
        match_proof(&token, &league, game, 1, RefereeId::new(2)),
        match_proof(&token, &league, MatchId::new(RoundId::FIRST, 2), 1, referee),
        reply_proof(&token, &league, game, 1),
    ] {
        assert!(!proof.matches(&stranger.expose()));
    }
    assert!(!proof.matches(token.expose()));
    assert!(!proof.matches(""));
}

#[test]
fn a_choice_proof_covers_choice_and_nonce_without_running_them_together() {
    let token: Token = "tok_aa".parse().unwrap();
    let (league, game) = (league("one"), MatchId::new(RoundId::FIRST, 1));
    let proof = |choice, nonce| {
        choice_proof(&token, &league, game, 1, SentChoice { step: 1, choice, nonce })
    };
    assert_eq!(proof("even", "1"), proof("even", "1"));
    assert_ne!(proof("even", "1"), proof("odd", "1"));
    assert_ne!(proof("even", "1"), proof("even", "2"));
    assert_ne!(proof("even", "1"), proof("even1", ""));
}

// req: AUTH-3
#[test]
fn secrets_tokens_and_proofs_print_as_hidden() {
    let secret = Secret::roll(&mut SeededDice::new(1));
    let token: Token = "tok_aa".parse().unwrap();
    let proof = reply_proof(&token, &league("one"), MatchId::new(RoundId::FIRST, 1), 1);
    let printed =
        format!("{secret:?} {:?} {token:?} {token} {proof:?} {proof}", Keys::derive(&secret));
    assert_eq!(printed, [HIDDEN; 6].join(" "));
}

#[test]
fn credentials_have_one_spelling() {
    let token: Token = "tok_aa".parse().unwrap();
    let proof = reply_proof(&token, &league("one"), MatchId::new(RoundId::FIRST, 1), 1);
    let shown = proof.expose();
    assert_eq!(shown.parse(), Ok(proof));
    assert!(shown.to_uppercase().parse::<Proof>().is_err());
    assert!(shown["prf_".len()..].parse::<Proof>().is_err());
    assert!(format!("{shown}0").parse::<Proof>().is_err());
    let hash = token.hash();
    assert_eq!(hash.to_string().parse(), Ok(hash));
    let secret = Secret::new([9; 32]);
    assert_eq!(secret.expose().parse::<Secret>().unwrap().expose(), secret.expose());
    for text in ["", "two words", "täken", &"x".repeat(513)] {
        assert!(text.parse::<Token>().is_err(), "{text}");
    }
}

fn vectors() -> Value {
    serde_json::from_str(VECTORS).unwrap()
}

fn keys_of(vectors: &Value) -> Keys {
    Keys::derive(&read(vectors, "secret"))
}

fn list<'a>(vectors: &'a Value, kind: &str) -> &'a [Value] {
    let list = vectors[kind].as_array().unwrap();
    assert!(list.len() >= VECTORS_MIN, "{kind} has {}", list.len());
    list
}

fn text<'a>(vector: &'a Value, name: &str) -> &'a str {
    vector[name].as_str().unwrap()
}

fn number(vector: &Value, name: &str) -> u32 {
    vector[name].as_u64().unwrap().try_into().unwrap()
}

fn read<T: FromStr>(vector: &Value, name: &str) -> T
where
    T::Err: fmt::Debug,
{
    text(vector, name).parse().unwrap()
}

fn attempt_of(vector: &Value) -> (Token, LeagueId, MatchId, u32) {
    let (token, league) = (read(vector, "token"), read(vector, "league"));
    (token, league, read(vector, "match"), number(vector, "attempt"))
}

fn league(name: &str) -> LeagueId {
    name.parse().unwrap()
}
