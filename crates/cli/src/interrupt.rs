//! Being asked to stop: Ctrl-C, and what service managers send.

use tokio::sync::watch;

/// Becomes true when the program is asked to stop. Must be called inside the runtime.
pub(crate) fn watch() -> std::io::Result<(watch::Receiver<bool>, impl Future<Output = ()>)> {
    let (stop, stopping) = watch::channel(false);
    #[cfg(unix)]
    let mut terminated = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate())?
    };
    let listen = async move {
        #[cfg(unix)]
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminated.recv() => {}
        }
        #[cfg(not(unix))]
        drop(tokio::signal::ctrl_c().await);
        stop.send_replace(true);
        std::future::pending::<()>().await;
    };
    Ok((stopping, listen))
}

/// Runs `work`, which is told through its receiver when the program is asked to stop.
pub(crate) fn run<T, W: Future<Output = T>>(
    work: impl FnOnce(watch::Receiver<bool>) -> W,
) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        // Signals are listened for before there is anything that they could leave half done.
        let (stopping, listen) = watch()?;
        tokio::select! {
            biased;
            () = listen => unreachable!("a signal only asks to stop"),
            done = work(stopping) => Ok(done),
        }
    })
}
