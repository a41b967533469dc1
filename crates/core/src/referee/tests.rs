//! Stories of single matches: what comes in, what happens, what goes out.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::game::noughts::Noughts;
use crate::game::{EvenOdd, EvenOddNumbers, Move};
use crate::id::RoundId;
use crate::policy::RuleSet;
use crate::verdict::Verdict;

/// A match with its clock and everything that came out of it.
struct Table {
    game: Match,
    now: Timestamp,
    effects: Vec<Effect>,
    states: Vec<State>,
}

impl Table {
    fn new(rule_set: RuleSet) -> Self {
        Self::with(Arc::new(EvenOdd), rule_set, &[])
    }

    fn with(game: Arc<dyn Game>, rule_set: RuleSet, rules: &[(&str, &str)]) -> Self {
        let policy = Policy::build(rule_set, rules.iter().copied()).unwrap();
        let id = MatchId::new(RoundId::FIRST, 1);
        let game = Match::new(id, &*game, Arc::new(policy));
        let states = vec![game.state()];
        Self { game, now: Timestamp::from_millis(0), effects: vec![], states }
    }

    fn tell(&mut self, command: Command) -> &mut Self {
        self.try_tell(command).unwrap();
        self
    }

    /// Applies event by event, so that every state the match passes through is seen.
    fn try_tell(&mut self, command: Command) -> Result<(), Refusal> {
        let mut next = self.game.decide(self.now, command)?;
        while let Some(event) = next.or_else(|| self.game.advance(self.now)) {
            self.game.apply(&event);
            self.effects.extend(self.game.effects(&event));
            let state = self.game.state();
            if self.states.last() != Some(&state) {
                self.states.push(state);
            }
            next = None;
        }
        Ok(())
    }

    fn begin(&mut self) -> &mut Self {
        self.tell(Command::Begin)
    }

    fn both_join(&mut self) -> &mut Self {
        self.begin().join(Seat::A).join(Seat::B)
    }

    fn join(&mut self, seat: Seat) -> &mut Self {
        self.tell(Command::Join { seat, answer: Join::Accept })
    }

    fn choose(&mut self, seat: Seat, word: &str) -> &mut Self {
        self.tell(answer(seat, word))
    }

    fn cell(&mut self, seat: Seat, cell: i64) -> &mut Self {
        let sealed = Sealed { chosen: Move::Number(cell), nonce: None, proof: None };
        self.tell(Command::Answer { seat, answer: Answer::Move(sealed) })
    }

    /// Lets time pass, waking the machine at each of its deadlines.
    fn pass(&mut self, seconds: u64) -> &mut Self {
        let until = self.now + std::time::Duration::from_secs(seconds);
        while let Some(deadline) = self.game.next_deadline().filter(|d| d.at <= until) {
            self.now = deadline.at;
            self.tell(Command::Wake);
        }
        self.now = until;
        self.tell(Command::Wake)
    }

    fn verdict(&self) -> Verdict {
        let Phase::Decided { verdict, .. } = self.game.phase() else {
            panic!("not decided: {:?}", self.game.phase())
        };
        *verdict
    }

    fn asks(&self, wanted: Seat) -> usize {
        let is_ask = |e: &&Effect| matches!(e, Effect::Ask { seat, .. } if *seat == wanted);
        self.effects.iter().filter(is_ask).count()
    }
}

fn answer(seat: Seat, word: &str) -> Command {
    let sealed = Sealed { chosen: Move::word(word).unwrap(), nonce: None, proof: None };
    Command::Answer { seat, answer: Answer::Move(sealed) }
}

fn faulty(seat: Seat, fault: Fault) -> Command {
    Command::Answer { seat, answer: Answer::Faulty { fault, got: "?".into() } }
}

// req: MATCH-1
#[test]
fn a_match_runs_through_the_documented_states() {
    let mut table = Table::new(RuleSet::V21);
    table.both_join().choose(Seat::A, "even").choose(Seat::B, "odd");
    assert_eq!(table.effects.last(), Some(&Effect::Draw { faces: 10 }));
    table.tell(Command::Draw(8));
    assert_eq!(table.verdict(), Verdict::Won(Seat::A));
    assert_eq!(table.effects.last(), Some(&Effect::Report));
    let expected = [
        State::Pending,
        State::Inviting,
        State::CollectingChoices,
        State::Evaluating,
        State::Completed,
    ];
    assert_eq!(table.states, expected);
}

#[test]
fn players_are_told_the_result_only_after_it_is_in_the_books() {
    let mut table = Table::new(RuleSet::V21);
    table.both_join().choose(Seat::A, "even").choose(Seat::B, "odd").tell(Command::Draw(8));
    assert!(!table.effects.contains(&Effect::TellResult));
    table.tell(Command::Acknowledge);
    assert_eq!(table.effects.last(), Some(&Effect::TellResult));
    table.effects.clear();
    table.tell(Command::Acknowledge);
    assert_eq!(table.effects, []);
}

// req: MATCH-2
#[test]
fn an_unanswered_invitation_forfeits_or_cancels_by_rule_set() {
    let mut table = Table::new(RuleSet::V21);
    table.begin().join(Seat::A).pass(4);
    assert_eq!(table.game.state(), State::Inviting);
    table.pass(1);
    assert_eq!(table.verdict(), Verdict::TechnicalLoss(Seat::B));
    assert_eq!(table.game.state(), State::Aborted);
    assert_eq!(table.asks(Seat::A), 0, "nobody is asked before both have accepted");

    let mut table = Table::new(RuleSet::V20);
    table.begin().join(Seat::A).pass(5);
    assert_eq!(table.verdict(), Verdict::Cancelled);

    let mut table = Table::new(RuleSet::V21);
    table.begin().pass(5);
    assert_eq!(table.verdict(), Verdict::BothLost);
}

#[test]
fn a_refused_invitation_keeps_its_reason() {
    let mut table = Table::new(RuleSet::V21);
    let reason: Option<Arc<str>> = Some("battery low".into());
    table.begin().join(Seat::B);
    table.tell(Command::Join { seat: Seat::A, answer: Join::Refuse { reason: reason.clone() } });
    assert_eq!(table.verdict(), Verdict::TechnicalLoss(Seat::A));
    assert_eq!(table.game.record().losses.a, Some(Loss::Declined { reason }));
}

#[test]
fn an_invitation_that_never_arrived_is_tried_again_inside_its_window() {
    let mut table = Table::new(RuleSet::V21);
    let invites = |table: &Table| {
        table.effects.iter().filter(|e| matches!(e, Effect::Invite { seat: Seat::A, .. })).count()
    };
    table.begin().join(Seat::B);
    table.tell(Command::CallFailed { seat: Seat::A, delivered: false }).pass(1);
    assert_eq!(invites(&table), 2);
    table.tell(Command::CallFailed { seat: Seat::A, delivered: true }).pass(1);
    assert_eq!(invites(&table), 2, "what was delivered is never repeated");
    table.pass(3);
    let loss = Some(Loss::NotJoined(Failure::Silence));
    assert_eq!(table.game.record().losses.a, loss);
}

#[test]
fn an_invitation_waits_for_the_breaker_without_costing_anything() {
    let mut table = Table::new(RuleSet::V21);
    table.begin().join(Seat::B);
    let until = table.now + std::time::Duration::from_secs(30);
    table.tell(Command::Postpone { seat: Seat::A, until }).pass(29);
    assert_eq!(table.game.state(), State::Inviting);
    table.pass(1).join(Seat::A);
    assert_eq!(table.game.state(), State::CollectingChoices);
}

// req: MATCH-4
#[test]
fn silence_is_retried_and_then_loses() {
    for (rule_set, asked, seconds) in [(RuleSet::V21, 3, 94), (RuleSet::V20, 4, 127)] {
        let mut table = Table::new(rule_set);
        table.both_join().choose(Seat::A, "even").pass(seconds - 1);
        assert_eq!(table.game.state(), State::CollectingChoices);
        table.pass(1);
        assert_eq!(table.verdict(), Verdict::TechnicalLoss(Seat::B));
        assert_eq!(table.game.state(), State::Completed);
        assert_eq!((table.asks(Seat::A), table.asks(Seat::B)), (1, asked));
        let warnings = table.effects.iter().filter(|e| matches!(e, Effect::Warn { .. })).count();
        assert_eq!(warnings, asked, "one warning for each window, the last says it is lost");
        let stranded = &table.game.record().stranded;
        assert_eq!(stranded.a.as_ref().unwrap().chosen, Move::word("even").unwrap());
        assert_eq!(stranded.b, None);
    }
}

// req: MATCH-6
#[test]
fn an_answer_during_the_wait_before_a_retry_counts_at_once() {
    let mut table = Table::new(RuleSet::V21);
    table.both_join().choose(Seat::A, "even").pass(31).choose(Seat::B, "odd");
    assert_eq!(table.effects.last(), Some(&Effect::Draw { faces: 10 }));
    assert_eq!(table.asks(Seat::B), 1);
}

#[test]
fn the_first_valid_choice_is_final() {
    let mut table = Table::new(RuleSet::V21);
    table.both_join().choose(Seat::A, "even").choose(Seat::A, "odd").choose(Seat::B, "odd");
    table.tell(Command::Draw(3));
    assert_eq!(table.verdict(), Verdict::Won(Seat::B));
    table.choose(Seat::A, "odd");
    assert_eq!(table.verdict(), Verdict::Won(Seat::B));
}

// req: MATCH-5
#[test]
fn an_invalid_choice_may_be_repeated_or_loses_by_rule_set() {
    let mut table = Table::new(RuleSet::V21);
    table.both_join().choose(Seat::B, "odd").choose(Seat::A, "maybe");
    assert_eq!(table.asks(Seat::A), 2, "the same window is offered again");
    table.tell(faulty(Seat::A, Fault::WrongMatch));
    assert_eq!(table.game.state(), State::CollectingChoices);
    table.tell(faulty(Seat::A, Fault::MissingField));
    assert_eq!(table.verdict(), Verdict::TechnicalLoss(Seat::A));

    let mut table = Table::new(RuleSet::V20);
    table.both_join().choose(Seat::B, "odd").choose(Seat::A, "Even");
    assert_eq!(table.verdict(), Verdict::TechnicalLoss(Seat::A));
}

#[test]
fn a_lost_side_waits_to_see_whether_the_other_plays() {
    let mut table = Table::new(RuleSet::V20);
    table.both_join().choose(Seat::A, "Even");
    assert_eq!(table.game.state(), State::CollectingChoices);
    table.choose(Seat::B, "Odd");
    assert_eq!(table.verdict(), Verdict::BothLost);
}

#[test]
fn an_unreachable_player_is_tried_as_often_as_a_silent_one() {
    let mut table = Table::new(RuleSet::V21);
    table.both_join().choose(Seat::A, "even");
    for _ in 0..3 {
        table.tell(Command::CallFailed { seat: Seat::B, delivered: false }).pass(2);
    }
    assert_eq!(table.verdict(), Verdict::TechnicalLoss(Seat::B));
    assert_eq!(table.game.record().losses.b, Some(Loss::NoMove(Failure::Unreachable)));
    assert_eq!(table.now, Timestamp::from_millis(6_000));
}

#[test]
fn our_own_failure_annuls_but_never_takes_a_result_away() {
    let mut table = Table::new(RuleSet::V21);
    table.both_join().choose(Seat::A, "even");
    table.tell(Command::Annul { reason: "out of ports".into() });
    assert_eq!(table.game.state(), State::Aborted);
    assert_eq!(table.effects.last(), Some(&Effect::ReportAnnulment));

    let mut table = Table::new(RuleSet::V21);
    table.both_join().choose(Seat::A, "even").choose(Seat::B, "odd");
    let annulled = table.try_tell(Command::Annul { reason: "out of ports".into() });
    assert_eq!(annulled, Err(Refusal::WrongState(State::Evaluating)));
}

#[test]
fn an_alternating_board_game_needs_no_other_machine() {
    let mut table = Table::with(Arc::new(Noughts), RuleSet::V21, &[]);
    table.both_join();
    assert_eq!((table.asks(Seat::A), table.asks(Seat::B)), (1, 0));
    let early = Command::Answer {
        seat: Seat::B,
        answer: Answer::Move(Sealed { chosen: Move::Number(0), nonce: None, proof: None }),
    };
    assert_eq!(table.try_tell(early), Err(Refusal::NotYourTurn));
    table.cell(Seat::A, 4).cell(Seat::B, 0).cell(Seat::A, 2).cell(Seat::B, 4);
    assert_eq!(table.asks(Seat::B), 3, "a taken cell is no move");
    table.cell(Seat::B, 6).cell(Seat::A, 3).cell(Seat::B, 5).cell(Seat::A, 1).cell(Seat::B, 7);
    table.cell(Seat::A, 8);
    assert_eq!(table.verdict(), Verdict::Drawn);
}

#[test]
fn numbers_are_chosen_by_the_same_machine() {
    let mut table = Table::with(Arc::new(EvenOddNumbers::default()), RuleSet::V21, &[]);
    table.both_join();
    table.cell(Seat::A, 6).choose(Seat::A, "3");
    let got = |e: &Effect| {
        let Effect::Warn { trouble: Trouble::Invalid { got, .. }, .. } = e else { return None };
        Some(got.to_string())
    };
    let got: Vec<_> = table.effects.iter().filter_map(got).collect();
    assert_eq!(got, ["6", "\"3\""], "a text is told from a number");
    assert_eq!(table.game.options(Seat::A).unwrap().to_string(), "a whole number from 1 to 5");
    table.cell(Seat::A, 3).cell(Seat::B, 4).tell(Command::Draw(8));
    assert_eq!(table.game.game().role(Seat::A), Some("odd"), "in the first match of all");
    assert_eq!(table.verdict(), Verdict::Won(Seat::A), "the sum is 15");
}

proptest! {
    /// Whatever comes in, in whatever order, a match only moves along documented transitions,
    /// its applied events reproduce it, and in the end it is decided.
    // req: MATCH-1
    #[test]
    fn no_input_leads_off_the_documented_path(
        inputs in prop::collection::vec((0..9_u8, any::<bool>(), 1..40_u64), 0..60),
        v20 in any::<bool>(),
    ) {
        let mut table = Table::new(if v20 { RuleSet::V20 } else { RuleSet::V21 });
        let mut log = vec![];
        for (kind, first, seconds) in inputs {
            let seat = if first { Seat::A } else { Seat::B };
            let command = match kind {
                0 => Command::Begin,
                1 => Command::Join { seat, answer: Join::Accept },
                2 => Command::Join { seat, answer: Join::Refuse { reason: None } },
                3 => answer(seat, if seconds % 2 == 0 { "even" } else { "odd" }),
                4 => answer(seat, "maybe"),
                5 => Command::CallFailed { seat, delivered: seconds % 2 == 0 },
                6 => Command::Draw(u32::try_from(seconds % 12).unwrap()),
                7 => Command::Acknowledge,
                _ => {
                    table.now = table.now + std::time::Duration::from_secs(seconds);
                    Command::Wake
                }
            };
            let before = table.game.phase().clone();
            match table.game.clone().drive(table.now, command.clone()) {
                Ok(events) => log.extend(events),
                Err(_) => prop_assert_eq!(&before, table.game.phase()),
            }
            let _ = table.try_tell(command);
        }
        for pair in table.states.windows(2) {
            prop_assert!(pair[0].may_become(pair[1]), "{} to {}", pair[0], pair[1]);
        }
        let (game, policy) = (table.game.game.clone(), table.game.policy.clone());
        let mut again = Match::new(table.game.id(), &*game, policy);
        log.iter().for_each(|event| again.apply(event));
        prop_assert_eq!(again.phase(), table.game.phase());
        prop_assert_eq!(again.record(), table.game.record());
        if table.game.state() == State::Pending { table.begin(); }
        table.pass(600);
        if let Phase::Drawing { .. } = table.game.phase() { table.tell(Command::Draw(1)); }
        prop_assert!(matches!(table.game.state(), State::Completed | State::Aborted));
    }
}
