//! Why a match ended as it did, in one sentence.

use league_core::game::{Game, Turn};
use league_core::schedule::Pairing;
use league_core::seat::Seat;
use league_core::verdict::Verdict;
use league_wire::Parity;

/// The sentence for a match of `game`, as it is set up for this match, in which `turns` were taken;
/// nothing if it was not played to its end, since the turns do not tell why.
pub fn played(
    game: &dyn Game,
    turns: &[Turn],
    pairing: Pairing,
    verdict: Verdict,
) -> Option<String> {
    let player = |seat: Seat| pairing.player(seat);
    let number = turns.iter().find_map(|turn| match turn {
        Turn::Drawn(number) => Some(*number),
        Turn::Moves(_) => None,
    });
    if let (Verdict::Won(seat), Some(how)) = (verdict, game.explain(turns)) {
        let role = game.role(seat).unwrap_or("the winner");
        return Some(format!("{how}, and {} was {role}", player(seat)));
    }
    match (verdict, number) {
        (Verdict::Won(seat), Some(number)) => {
            let parity = Parity::of(number).word();
            Some(format!("{} chose {parity}, number was {number} ({parity})", player(seat)))
        }
        (Verdict::Won(seat), None) => Some(format!("{} won", player(seat))),
        (Verdict::Drawn, Some(number)) => Some(format!("both chose the same, number was {number}")),
        (Verdict::Drawn, None) => Some("nobody won".into()),
        (Verdict::TechnicalLoss(_) | Verdict::BothLost | Verdict::Cancelled, _) => None,
    }
}

/// The sentence for a match whose referee gives no reason.
pub fn unsaid(game: &dyn Game, turns: &[Turn], pairing: Pairing, verdict: Verdict) -> String {
    let silent = "the referee does not say why";
    played(game, turns, pairing, verdict).unwrap_or_else(|| {
        let losers = Seat::BOTH.into_iter().filter(|seat| verdict.lost_technically(*seat));
        let losers: Vec<String> = losers.map(|seat| pairing.player(seat).to_string()).collect();
        match &losers[..] {
            [] => format!("it was not played; {silent}"),
            losers => format!("{}: lost without playing; {silent}", losers.join(", ")),
        }
    })
}

#[cfg(test)]
mod tests {
    use league_core::game::{Move, by_name};
    use league_core::id::PlayerId;
    use league_core::seat::Seats;

    use super::*;

    const PAIRING: Pairing = Pairing { a: PlayerId::new(1), b: PlayerId::new(2) };

    fn told(name: &str, moves: [Move; 2], drawn: u32, verdict: Verdict) -> String {
        let game = by_name(name).unwrap().in_match("R1M1".parse().unwrap());
        let [a, b] = moves.map(Some);
        let turns = [Turn::Moves(Seats::new(a, b)), Turn::Drawn(drawn)];
        unsaid(&*game, &turns, PAIRING, verdict)
    }

    #[test]
    fn every_end_has_its_sentence() {
        let words = || ["even", "odd"].map(|word| Move::word(word).unwrap());
        let parity = |drawn, verdict| told("even_odd", words(), drawn, verdict);
        assert_eq!(parity(8, Verdict::Won(Seat::A)), "P01 chose even, number was 8 (even)");
        assert_eq!(parity(8, Verdict::Drawn), "both chose the same, number was 8");
        let silent = "the referee does not say why";
        let lost = parity(8, Verdict::TechnicalLoss(Seat::B));
        assert_eq!(lost, format!("P02: lost without playing; {silent}"));
        let both = parity(8, Verdict::BothLost);
        assert_eq!(both, format!("P01, P02: lost without playing; {silent}"));
        assert_eq!(parity(8, Verdict::Cancelled), format!("it was not played; {silent}"));
        let numbers = [Move::Number(2), Move::Number(3)];
        let summed = told("even_odd_numbers", numbers, 4, Verdict::Won(Seat::B));
        assert!(summed.contains("and P02 was "), "{summed}");
    }
}
