//! The keys of a data directory, which must be those that its leagues were written under.

use league_core::id::LeagueId;
use league_core::manager::Fact;
use league_core::proof::Keys;

use super::{PlayError, PlayPlan};
use crate::journal::{Head, Journal, codec};
use crate::manager::OpenError;
use crate::secret;

/// The keys to found a league with.
pub(super) async fn keys(plan: &PlayPlan, journal: &dyn Journal) -> Result<Keys, PlayError> {
    let leagues = journal.leagues().await?;
    let secret = match &plan.secret {
        Some(secret) => secret.clone(),
        None => secret::secret(&plan.data, leagues.is_empty())?,
    };
    let keys = Keys::derive(&secret);
    for league in &leagues {
        check(journal, league, keys.check_value()).await?;
    }
    Ok(keys)
}

async fn check(
    journal: &dyn Journal,
    league: &LeagueId,
    key_check: [u8; 32],
) -> Result<(), PlayError> {
    for row in journal.read(league, Head::genesis(league), 1).await? {
        let seq = row.seq.get();
        let event =
            codec::decode(&row.bytes).map_err(|source| PlayError::Record { seq, source })?;
        let same =
            matches!(&event.fact, Fact::LeagueCreated(charter) if charter.key_check == key_check);
        if !same {
            return Err(OpenError::WrongSecret(league.clone()).into());
        }
    }
    Ok(())
}
