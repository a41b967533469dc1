//! What one recorded result costs the league machine at 2,000 players.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use league_core::dice::SeededDice;
use league_core::game::{EvenOdd, Move, Turn};
use league_core::id::{AgentId, MatchId};
use league_core::manager::{
    Application, Charter, Command, Evidence, League, Play, Profile, ProtocolVersion, Report,
    Scales, StartRule,
};
use league_core::policy::RuleSet;
use league_core::proof::{Keys, Secret};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_core::verdict::Verdict;

const PLAYERS: u32 = 2_000;
const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn recorded_result(criterion: &mut Criterion) {
    let mut dice = SeededDice::new(1);
    let keys = Keys::derive(&Secret::roll(&mut dice));
    let league = started_league(&keys, &mut dice);
    let round = league.open_round().expect("the league has started").id;
    let reports: Vec<Report> = (0..PLAYERS as usize / 2)
        .map(|index| drawn_result(&league, &keys, MatchId::from_index(round, index)))
        .collect();
    // A whole round is timed and divided, because a single result is too short to measure.
    let mut group = criterion.benchmark_group("league machine, 2000 players, v2.0");
    group.throughput(criterion::Throughput::Elements(u64::from(PLAYERS) / 2 - 1));
    group.sample_size(20);
    group.bench_function("record a round of results but one", |bencher| {
        bencher.iter_batched_ref(
            || (league.clone(), reports.clone()),
            |(league, reports)| {
                for report in reports.drain(1..) {
                    let command = Command::RecordResult(Box::new(report));
                    league.drive(NOW, command, &mut dice).expect("an honest report");
                }
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn started_league(keys: &Keys, dice: &mut SeededDice) -> League {
    let charter = Charter {
        league: "bench".parse().expect("a name"),
        rule_set: RuleSet::V20.to_string(),
        rules: vec![],
        game: "even_odd".parse().expect("a game"),
        format: "round_robin".into(),
        start: StartRule::OnCommand,
        players_max: PLAYERS,
        key_check: keys.check_value(),
    };
    let (mut league, _) = League::found(NOW, charter).expect("a league");
    let mut ask = |command| league.drive(NOW, command, dice).map(drop).expect("it is allowed");
    let profile = |number: u32| Profile {
        display_name: "Agent".into(),
        version: "1.0.0".into(),
        protocol_version: ProtocolVersion::CURRENT,
        games: vec!["even_odd".parse().expect("a game")],
        endpoint: format!("http://127.0.0.1:{number}/mcp").into(),
        dialect: "flat".into(),
        email: None,
        batch: true,
    };
    for number in 1..=PLAYERS {
        let conversation = "c".parse().expect("a conversation");
        let (profile, host) = (profile(number), "127.0.0.1".into());
        let application = Box::new(Application::new(profile, host, conversation));
        ask(Command::RegisterPlayer(application));
    }
    let conversation = "c".parse().expect("a conversation");
    let (profile, host, capacity) = (profile(0), "127.0.0.1".into(), PLAYERS);
    let application = Box::new(Application::new(profile, host, conversation));
    ask(Command::RegisterReferee { application, capacity, operated: true });
    ask(Command::Start);
    league
}

/// A drawn match whose number the referee drew itself, so that no time goes into making it up.
fn drawn_result(league: &League, keys: &Keys, match_id: MatchId) -> Report {
    let open = league.open_match(match_id).expect("an open match");
    let token = |seat: Seat| {
        let player = league.player(open.pairing.player(seat)).expect("a player");
        let form = league.policy().token_form();
        keys.token(form, league.id(), AgentId::Player(player.id), &player.nonce)
    };
    let tokens = Seats::from_fn(token);
    let scales = Scales {
        keys,
        game: &EvenOdd,
        league: league.id(),
        match_id,
        attempt: 1,
        rematch: 0,
        tokens: Seats::new(&tokens.a, &tokens.b),
        revealed: None,
        seed_was_given: false,
    };
    let moves = Seats::new(Move::word("even"), Move::word("even"));
    let play = Play {
        turns: vec![Turn::Moves(moves), Turn::Drawn(7)],
        stranded: Seats::default(),
        nonces: Seats::default(),
        choice_proofs: Seats::default(),
    };
    Report {
        referee: open.referee,
        match_id,
        attempt: Some(1),
        conversation: format!("conv{match_id}").parse().expect("a conversation"),
        verdict: Verdict::Drawn,
        points: Seats::new(Some(1), Some(1)),
        evidence: Evidence::weigh(&scales, &play),
        roles: Seats::default(),
        play,
        reason: "both chose the same".into(),
        transcript: None,
        conduct: Seats::default(),
    }
}

criterion_group!(benches, recorded_result);
criterion_main!(benches);
