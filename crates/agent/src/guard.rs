//! Locks, and tasks that must not fail in silence.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::JoinError;

/// Locks `mutex`. What a holder that panicked left behind is used as it is: every one of our
/// critical sections leaves its data whole.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a task came to. One that was cancelled came to nothing.
///
/// # Panics
/// If the task did: a bug of ours must end whoever owns the task, with its reason.
pub fn outcome<T>(joined: Result<T, JoinError>) -> Option<T> {
    match joined {
        Ok(outcome) => Some(outcome),
        Err(failure) if failure.is_panic() => std::panic::resume_unwind(failure.into_panic()),
        Err(_) => None,
    }
}
