//! Being asked to stop, by the person at the terminal or by the system.

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// What `kill` and service managers send.
    Terminate,
}

impl Signal {
    /// The exit code that shells expect after it.
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }

    /// Waits until somebody asks. Listening begins with the first poll.
    pub(crate) async fn received() -> Self {
        tokio::select! {
            biased;
            () = interrupted() => Self::Interrupt,
            () = terminated() => Self::Terminate,
        }
    }
}

async fn interrupted() {
    // Where nobody can ask, nobody is waited for.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn terminated() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut asked) = signal(SignalKind::terminate())
            && asked.recv().await.is_some()
        {
            return;
        }
    }
    std::future::pending::<()>().await;
}
