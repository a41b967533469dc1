//! Practice at a manager: a few matches at a time, each agent one, and none once its league has
//! begun.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use league_agent::ambient;
use league_agent::guard::lock;
use league_agent::limits::RATE_KEYS_MAX;
use league_agent::player::Cast;
use league_agent::rate::{Rate, RateLimiter};
use league_agent::targets::Targets;
use league_core::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_core::limits::{PLAYERS_MAX, REFEREES_MAX};
use tokio::sync::Semaphore;

use super::{Drill, Numbers, PracticeError, Practised, Pupil, Room, Terms};
use crate::limits::{PRACTICE_AT_ONCE, PRACTICE_LOOK, PRACTICE_RATE};

/// Rounds above this are practice: no league has as many.
const ROUNDS_BEYOND: u32 = 100_000_000;

/// Who an agent is, among all that practise.
pub type Key = [u8; 32];

/// Has agents practise.
#[derive(Debug)]
pub struct Coach {
    /// Whom agents' endpoints may be.
    targets: Targets,
    limiter: Mutex<RateLimiter<Key>>,
    /// Who is at it.
    busy: Mutex<BTreeSet<Key>>,
    places: Semaphore,
    round: AtomicU32,
}

/// Why an agent does not practise now.
#[derive(Debug, thiserror::Error)]
pub enum NoPractice {
    /// It asks too often.
    #[error("practice is for everybody; come back in {0:?}")]
    TooOften(Duration),
    /// It is at it already.
    #[error("a practice match of this player is going on")]
    AtIt,
    /// Others are at it.
    #[error("others practise just now; ask again")]
    Full,
    /// The league has begun.
    #[error("the league has begun: practice is over")]
    Begun,
    /// We could not.
    #[error(transparent)]
    Ours(#[from] PracticeError),
}

impl Coach {
    /// A coach whose referees call only whom `targets` allow.
    pub fn new(targets: Targets) -> Self {
        let (count, span) = PRACTICE_RATE;
        // Nothing that an agent remembers of a practice before a restart is met again.
        let seconds = ambient::wall().as_millis() / 1_000;
        let past = u32::try_from(seconds.rem_euclid(ROUNDS_BEYOND.into())).unwrap_or(0);
        Self {
            targets,
            limiter: Mutex::new(RateLimiter::new(Rate::per(count, span), RATE_KEYS_MAX)),
            busy: Mutex::default(),
            places: Semaphore::new(PRACTICE_AT_ONCE),
            round: AtomicU32::new(ROUNDS_BEYOND + past),
        }
    }

    /// One match of `pupil`, whose own `key` it is, for as long as its league `is_open`.
    ///
    /// # Errors
    /// If it does not take place, or is broken off.
    pub async fn practise(
        &self,
        (key, pupil): (Key, Pupil),
        terms: Terms,
        against: Cast,
        is_open: impl Fn() -> bool + Send,
    ) -> Result<Practised, NoPractice> {
        let _at_it = AtIt::begin(&self.busy, key).ok_or(NoPractice::AtIt)?;
        let _place = self.places.try_acquire().map_err(|_| NoPractice::Full)?;
        lock(&self.limiter).admit(&key, 1, ambient::now()).map_err(NoPractice::TooOften)?;
        let round = self.round.fetch_add(1, Ordering::Relaxed);
        let drill = Drill { match_id: MatchId::new(RoundId::new(round), 1), against, fault: None };
        let numbers = Numbers {
            referee: RefereeId::new(REFEREES_MAX + 1),
            house: PlayerId::new(PLAYERS_MAX + 1),
        };
        let begun = async {
            while is_open() {
                tokio::time::sleep(PRACTICE_LOOK).await;
            }
        };
        let playing = async {
            let mut room = Room::open(pupil, terms, numbers, self.targets.clone()).await?;
            let practised = room.play(&drill).await;
            room.close().await;
            practised
        };
        tokio::select! {
            biased;
            () = begun => Err(NoPractice::Begun),
            practised = playing => Ok(practised?),
        }
    }
}

/// Somebody is at it, however it is left.
struct AtIt<'a> {
    busy: &'a Mutex<BTreeSet<Key>>,
    key: Key,
}

impl<'a> AtIt<'a> {
    fn begin(busy: &'a Mutex<BTreeSet<Key>>, key: Key) -> Option<Self> {
        let is_new = lock(busy).insert(key);
        is_new.then(|| Self { busy, key })
    }
}

impl Drop for AtIt<'_> {
    fn drop(&mut self) {
        lock(self.busy).remove(&self.key);
    }
}
