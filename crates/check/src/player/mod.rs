//! Cases for players. The checker plays manager, referee and opponent.

mod choose;
mod invite;
mod life;
mod news;
mod over;
mod register;
mod rpc;
mod table;
mod transport;
mod trust;

use league_agent::shape;
use league_wire::Dialect;

use crate::bench::Bench;
use crate::case::Case;
use crate::limits::JOIN_TIME;

use table::Table;

/// Every case, in the order in which they are told.
pub fn cases() -> Vec<&'static Case> {
    let groups: [&'static [Case]; 11] = [
        register::CASES,
        invite::CASES,
        choose::CASES,
        over::CASES,
        news::CASES,
        trust::CASES,
        rpc::CASES,
        transport::CASES,
        life::CASES,
        news::LAST,
        life::LAST,
    ];
    groups.into_iter().flatten().collect()
}

/// The dialect that a player understands, where nobody said. An invitation that is not genuine does
/// no harm: whoever understands it answers it or refuses it.
pub(crate) async fn recognise(bench: &Bench) -> Dialect {
    let first = bench.dialect();
    for dialect in std::iter::once(first).chain(shape::others(first)) {
        let table = Table::new(bench);
        let asked = bench.ask_in(dialect, &table.invitation(), JOIN_TIME).await;
        if !asked.is_misunderstood() {
            return dialect;
        }
    }
    first
}
