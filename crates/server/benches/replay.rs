//! How fast a league is opened from its SQLite journal: every row read, its hash checked, decoded
//! and folded.

use std::sync::Arc;

use league_agent::ambient::Mark;
use league_core::dice::{Dice, SeededDice};
use league_core::draw::Draw;
use league_core::game::{EvenOdd, Move, Outcome, Turn, replay};
use league_core::id::{AgentId, LeagueId, MatchId};
use league_core::manager::{
    Application, Charter, Command, Evidence, League, OpenMatch, Play, Profile, ProtocolVersion,
    Report, Scales, StartRule,
};
use league_core::policy::RuleSet;
use league_core::proof::{Keys, Secret, SentChoice, Token, choice_proof};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_core::verdict::Verdict;
use league_server::journal::SqliteJournal;
use league_server::manager::Books;
use tokio::runtime::Builder;

const PLAYERS: u32 = 450;
const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);
const RUNS: usize = 10;

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let journal = Arc::new(SqliteJournal::open(directory.path()).expect("a journal"));
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut dice = SeededDice::new(1);
    let keys = Keys::derive(&Secret::roll(&mut dice));
    let id: LeagueId = "bench".parse().expect("a name");
    let matches = runtime.block_on(async {
        let charter = charter(&id, &keys);
        let mut books = Books::found(journal.clone(), NOW, charter).await.expect("a league");
        fill(&mut books, &mut dice).await;
        play(&mut books, &keys, &mut dice).await
    });
    for _ in 0..RUNS {
        let mark = Mark::set();
        let opened = runtime.block_on(Books::replay(journal.clone(), &id, keys.check_value()));
        let seconds = mark.elapsed().as_secs_f64();
        let books = opened.expect("an intact journal").expect("the league is there");
        let rows = books.head().seq.get();
        let points: u64 = books.league().table().iter().map(|row| row.record.points).sum();
        let rate = f64::from(matches) / seconds;
        report(&format!(
            "replay: {matches} matches in {rows} rows, {seconds:.3} s, {rate:.0} matches/s, {points} points"
        ));
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn report(line: &str) {
    println!("{line}");
}

fn charter(id: &LeagueId, keys: &Keys) -> Charter {
    Charter {
        league: id.clone(),
        rule_set: RuleSet::V21.to_string(),
        rules: vec![("announcement_lead".into(), "0s".into())],
        game: "even_odd".parse().expect("a game"),
        format: "round_robin".into(),
        start: StartRule::Players(PLAYERS),
        players_max: PLAYERS,
        key_check: keys.check_value(),
    }
}

async fn fill(books: &mut Books, dice: &mut SeededDice) {
    let conversation = || "reg0123456789abcdef".parse().expect("a conversation");
    let host = || "127.0.0.1".into();
    let referee = Command::RegisterReferee {
        application: Box::new(Application::new(profile(0), host(), conversation())),
        capacity: 1_000,
        operated: true,
    };
    books.enter(NOW, referee, None, dice).expect("a referee may join");
    for number in 1..=PLAYERS {
        let application = Application::new(profile(number), host(), conversation());
        let player = Command::RegisterPlayer(Box::new(application));
        books.enter(NOW, player, None, dice).expect("a player may join");
    }
    books.commit().await.expect("a journal that can be written");
}

fn profile(number: u32) -> Profile {
    Profile {
        display_name: format!("Agent {number}").into(),
        version: "1.0.0".into(),
        protocol_version: ProtocolVersion::CURRENT,
        games: vec!["even_odd".parse().expect("a game")],
        endpoint: format!("http://127.0.0.1:{number}/mcp").into(),
        dialect: "flat".into(),
        email: None,
        batch: true,
    }
}

/// Plays to the end with honest reports that carry nonces and proofs, as our own agents send them.
async fn play(books: &mut Books, keys: &Keys, dice: &mut SeededDice) -> u32 {
    let mut matches = 0;
    while let Some(round) = books.league().open_round() {
        let (id, count) = (round.id, round.matches.len());
        for index in 0..count {
            let report = report_of(books.league(), keys, MatchId::from_index(id, index), dice);
            let command = Command::RecordResult(Box::new(report));
            books.enter(NOW, command, None, dice).expect("an honest report");
            matches += 1;
        }
        books.commit().await.expect("a journal that can be written");
    }
    matches
}

fn report_of(league: &League, keys: &Keys, id: MatchId, dice: &mut SeededDice) -> Report {
    let open = league.open_match(id).expect("an open match");
    let tokens = Seats::from_fn(|seat| token(league, keys, open, seat));
    let nonces = Seats::from_fn(|_| hex(dice));
    let choices = Seats::from_fn(|_| if dice.below(2) == 0 { "even" } else { "odd" });
    let proof = |seat: Seat| {
        let sent = SentChoice { step: 1, choice: choices[seat], nonce: &nonces[seat] };
        Some(choice_proof(&tokens[seat], league.id(), id, 1, sent).bytes())
    };
    let draw = Draw::new(league.id(), id, 0);
    let number = draw.number(&draw.seed(keys), Seats::new(&nonces.a, &nonces.b));
    let moves = Seats::from_fn(|seat| Move::word(choices[seat]));
    let play = Play {
        turns: vec![Turn::Moves(moves), Turn::Drawn(number.into())],
        stranded: Seats::default(),
        nonces: Seats::from_fn(|seat| Some(nonces[seat].as_str().into())),
        choice_proofs: Seats::from_fn(proof),
    };
    let verdict = match replay(&EvenOdd, &play.turns).expect("a legal game") {
        Outcome::Won(seat) => Verdict::Won(seat),
        Outcome::Drawn => Verdict::Drawn,
    };
    let tokens = Seats::new(&tokens.a, &tokens.b);
    let (match_id, attempt, rematch) = (id, 1, 0);
    let league = league.id();
    let (game, seed_was_given) = (&EvenOdd, true);
    let revealed = None;
    let scales =
        Scales { keys, game, league, match_id, attempt, rematch, tokens, revealed, seed_was_given };
    Report {
        referee: open.referee,
        match_id,
        attempt: Some(attempt),
        conversation: format!("convr{}m{}{}", id.round, id.number(), hex(dice))
            .parse()
            .expect("a conversation"),
        verdict,
        points: Seats::default(),
        evidence: Evidence::weigh(&scales, &play),
        roles: Seats::default(),
        play,
        reason: format!("P01 chose even, number was {number} (even)").into(),
        transcript: None,
        conduct: Seats::default(),
    }
}

fn token(league: &League, keys: &Keys, open: &OpenMatch, seat: Seat) -> Token {
    let player = league.player(open.pairing.player(seat)).expect("a player");
    let form = league.policy().token_form();
    keys.token(form, league.id(), AgentId::Player(player.id), &player.nonce)
}

fn hex(dice: &mut SeededDice) -> String {
    let mut bytes = [0_u8; 16];
    dice.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
