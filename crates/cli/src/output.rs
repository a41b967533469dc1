//! The only writer to stdout and stderr. Data goes to stdout, everything else to stderr.

use std::io::{self, Write};

/// What whoever listens beyond this machine is told.
pub(crate) const UNENCRYPTED: &str =
    "tokens cross the network unencrypted; whoever runs the manager can put TLS in front of it";

/// Writes data. A reader that went away is not our failure; a full disk is.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// Writes a line for people.
pub(crate) fn say(line: &str) {
    let _gone = writeln!(io::stderr().lock(), "{line}");
}

/// Writes a line of the log, which has its line end.
pub(crate) fn log(line: &str) {
    let _gone = io::stderr().lock().write_all(line.as_bytes());
}

/// Writes data that a service offers; it goes on if nobody takes it.
pub(crate) fn offer(text: &str) {
    let _untaken = print(text);
}
