//! Books against their journal: what is written is what is read.

use std::sync::Arc;

use league_core::dice::SeededDice;
use league_core::game::EvenOdd;
use league_core::id::{AgentId, LeagueId, MatchId};
use league_core::manager::{
    Application, Charter, Command, Evidence, Order, Play, Profile, ProtocolVersion, Report, Scales,
    StartRule, VoidCause,
};
use league_core::proof::{Keys, Secret};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_core::verdict::Verdict;
use proptest::prelude::*;

use super::{Books, OpenError};
use crate::journal::{Attachment, Batch, Journal, MemoryJournal};
use crate::limits::BATCH_ROWS_MAX;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// Books on a journal in memory.
struct Desk {
    journal: Arc<dyn Journal>,
    books: Books,
    dice: SeededDice,
    keys: Keys,
}

impl Desk {
    async fn open(players: u32, referees: u32) -> Self {
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let mut dice = SeededDice::new(1);
        let keys = Keys::derive(&Secret::roll(&mut dice));
        let charter = Charter {
            league: league(),
            rule_set: "v2.0".into(),
            rules: vec![],
            game: "even_odd".parse().unwrap(),
            format: "round_robin".into(),
            start: StartRule::OnCommand,
            players_max: 100,
            key_check: keys.check_value(),
        };
        let books = Books::found(journal.clone(), NOW, charter).await.unwrap();
        let mut desk = Self { journal, books, dice, keys };
        let conversation = || "c".parse().unwrap();
        let host = || "127.0.0.1".into();
        for number in 1..=referees {
            let application = Application::new(profile(number), host(), conversation());
            let application = Box::new(application);
            let referee = Command::RegisterReferee { application, capacity: 2, operated: true };
            assert!(desk.enter(referee));
        }
        for number in 1..=players {
            let application = Application::new(profile(100 + number), host(), conversation());
            assert!(desk.enter(Command::RegisterPlayer(Box::new(application))));
        }
        desk
    }

    /// Whether the league took the command.
    fn enter(&mut self, command: Command) -> bool {
        self.books.enter(NOW, command, None, &mut self.dice).is_ok()
    }

    /// A report of a match that nobody played, or that was cancelled.
    fn report(&self, match_id: MatchId, verdict: Verdict) -> Command {
        let league = self.books.league();
        let open = league.open_match(match_id).unwrap();
        let tokens = Seats::from_fn(|seat| {
            let player = league.player(open.pairing.player(seat)).unwrap();
            let form = league.policy().token_form();
            self.keys.token(form, league.id(), AgentId::Player(player.id), &player.nonce)
        });
        let play = Play {
            turns: vec![],
            stranded: Seats::default(),
            nonces: Seats::default(),
            choice_proofs: Seats::default(),
        };
        let scales = Scales {
            keys: &self.keys,
            game: &EvenOdd,
            league: league.id(),
            match_id,
            attempt: open.attempt,
            rematch: open.rematch,
            tokens: Seats::new(&tokens.a, &tokens.b),
            revealed: None,
            seed_was_given: true,
        };
        Command::RecordResult(Box::new(Report {
            referee: open.referee,
            match_id,
            attempt: Some(open.attempt),
            conversation: format!("conv{match_id}").parse().unwrap(),
            verdict,
            points: Seats::default(),
            evidence: Evidence::weigh(&scales, &play),
            roles: Seats::default(),
            play,
            reason: "nobody came".into(),
            transcript: None,
            conduct: Seats::default(),
        }))
    }

    async fn replayed(&self) -> Books {
        let check = self.keys.check_value();
        Books::replay(self.journal.clone(), &league(), check).await.unwrap().unwrap()
    }
}

fn league() -> LeagueId {
    "test".parse().unwrap()
}

fn profile(number: u32) -> Profile {
    Profile {
        display_name: format!("Agent {number}").into(),
        version: "1.0.0".into(),
        protocol_version: ProtocolVersion::CURRENT,
        games: vec!["even_odd".parse().unwrap()],
        endpoint: format!("http://127.0.0.1:{number}/mcp").into(),
        dialect: "flat".into(),
        email: None,
        batch: false,
    }
}

#[tokio::test]
async fn more_rows_than_one_append_takes_are_written_all_the_same() {
    let mut desk = Desk::open(2, 1).await;
    let agent = AgentId::Player("P01".parse().unwrap());
    for _ in 0..=BATCH_ROWS_MAX {
        let order = Order::Rotate(agent);
        assert!(desk.enter(Command::Administer { order, reason: "seen".into() }));
    }
    let rows = desk.books.pending_rows();
    assert!(rows > BATCH_ROWS_MAX);
    assert_eq!(desk.books.commit().await.unwrap().len(), rows);
    assert_eq!(desk.books.head().seq.get(), 1 + rows as u64);
    let again = desk.replayed().await;
    assert_eq!((again.league(), again.head()), (desk.books.league(), desk.books.head()));
}

#[test]
fn what_is_stored_beside_a_row_stays_beside_it() {
    let beside = |row| Attachment { row, hash: [0; 32], bytes: vec![] };
    let rows = |range: std::ops::Range<u8>| range.map(|n| vec![n]).collect::<Vec<_>>();
    let mut batch = Batch { rows: rows(0..5), attachments: vec![beside(1), beside(2), beside(4)] };
    let after = batch.split_off(2);
    assert_eq!(batch, Batch { rows: rows(0..2), attachments: vec![beside(1)] });
    assert_eq!(after, Batch { rows: rows(2..5), attachments: vec![beside(0), beside(2)] });
}

proptest! {
    /// Whatever is decided and however it is cut into batches: the journal folds to the same league
    /// and ends in the same hash.
    #[test]
    fn replay_gives_the_same_league_and_the_same_hash(
        players in 2..8_u32,
        referees in 1..3_u32,
        script in prop::collection::vec((0..5_u8, 0..4_usize, any::<bool>()), 0..50),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut desk = Desk::open(players, referees).await;
            desk.enter(Command::Start);
            for (action, pick, commit) in script {
                let Some(round) = desk.books.league().open_round() else { break };
                let index = pick % round.matches.len();
                let (attempt, match_id) =
                    (round.matches[index].attempt, MatchId::from_index(round.id, index));
                let command = match action {
                    0 => desk.report(match_id, Verdict::TechnicalLoss(Seat::A)),
                    1 => desk.report(match_id, Verdict::TechnicalLoss(Seat::B)),
                    2 => desk.report(match_id, Verdict::Cancelled),
                    3 => desk.report(match_id, Verdict::Drawn),
                    _ => Command::VoidAttempt { match_id, attempt, cause: VoidCause::LeaseExpired },
                };
                desk.enter(command);
                if commit {
                    desk.books.commit().await.unwrap();
                }
            }
            desk.books.commit().await.unwrap();
            let again = desk.replayed().await;
            prop_assert!(again.league() == desk.books.league());
            prop_assert_eq!(again.head(), desk.books.head());
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_league_written_under_another_secret_does_not_open() {
    let desk = Desk::open(2, 1).await;
    let other = Books::replay(desk.journal.clone(), &league(), [7; 32]).await;
    assert!(matches!(other, Err(OpenError::WrongSecret(_))));
    let unknown = Books::replay(desk.journal.clone(), &"other".parse().unwrap(), [7; 32]).await;
    assert!(matches!(unknown, Ok(None)));
}
