//! How many may be connected at once, who gives way, and what the others are told.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use crate::limits::{TURN_AWAY_BYTES_MAX, TURN_AWAY_TIMEOUT};

/// The places at an endpoint, and who has them.
#[derive(Debug)]
pub(super) struct Places {
    free: usize,
    per_address: usize,
    taken: BTreeMap<IpAddr, usize>,
}

impl Places {
    pub(super) const fn new(total: usize, per_address: usize) -> Self {
        Self { free: total, per_address, taken: BTreeMap::new() }
    }

    /// Takes a place for `address`; false if there is none for it.
    pub(super) fn enter(&mut self, address: IpAddr) -> bool {
        let taken = self.taken.get(&address).copied().unwrap_or(0);
        if self.free == 0 || taken >= self.per_address {
            return false;
        }
        self.free -= 1;
        self.taken.insert(address, taken + 1);
        true
    }

    /// Whether `address` has all the places that one may have.
    fn is_crowded(&self, address: IpAddr) -> bool {
        self.taken.get(&address).is_some_and(|taken| *taken >= self.per_address)
    }

    /// Gives a place of `address` back.
    pub(super) fn leave(&mut self, address: IpAddr) {
        self.free += 1;
        match self.taken.get_mut(&address) {
            Some(taken) if *taken > 1 => *taken -= 1,
            Some(_) | None => drop(self.taken.remove(&address)),
        }
    }
}

/// Who is connected, in the order in which they came.
#[derive(Debug)]
pub(super) struct Guests {
    places: Places,
    connected: BTreeMap<u64, Guest>,
    came: u64,
}

#[derive(Debug)]
struct Guest {
    address: IpAddr,
    has_asked: Arc<AtomicBool>,
    task: AbortHandle,
}

impl Guests {
    pub(super) const fn new(places: Places) -> Self {
        Self { places, connected: BTreeMap::new(), came: 0 }
    }

    /// Finds a place for `address`: a free one, or that of whoever has been connected longest
    /// without asking anything. False if there is neither.
    pub(super) fn admit(&mut self, address: IpAddr) -> bool {
        if self.places.enter(address) {
            return true;
        }
        let crowded = self.places.is_crowded(address);
        let mut quiet = self.connected.iter().filter(|(_, guest)| {
            !guest.has_asked.load(Ordering::Relaxed) && (!crowded || guest.address == address)
        });
        let Some((&number, _)) = quiet.next() else { return false };
        let guest = self.leave(number);
        guest.inspect(|guest| guest.task.abort());
        self.places.enter(address)
    }

    /// Seats somebody who was admitted; `connect` starts the connection of that number.
    pub(super) fn seat(
        &mut self,
        address: IpAddr,
        has_asked: Arc<AtomicBool>,
        connect: impl FnOnce(u64) -> AbortHandle,
    ) {
        let number = self.came;
        self.came += 1;
        let guest = Guest { address, has_asked, task: connect(number) };
        self.connected.insert(number, guest);
    }

    /// Somebody is gone.
    pub(super) fn depart(&mut self, number: u64) {
        drop(self.leave(number));
    }

    fn leave(&mut self, number: u64) -> Option<Guest> {
        let guest = self.connected.remove(&number);
        guest.inspect(|guest| self.places.leave(guest.address))
    }
}

const NO_PLACE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\
    Content-Type: text/plain; charset=utf-8\r\nContent-Length: 48\r\nConnection: close\r\n\r\n\
    too many connections are open; try again later\r\n";

/// Tells somebody that there is no place, without reading what they want.
pub(super) async fn turn_away(stream: TcpStream) {
    // Whoever does not wait for the answer does not get one.
    let _given_up = tokio::time::timeout(TURN_AWAY_TIMEOUT, tell_full(stream)).await;
}

async fn tell_full(stream: TcpStream) -> io::Result<()> {
    let mut left = NO_PLACE;
    while !left.is_empty() {
        stream.writable().await?;
        match stream.try_write(left) {
            Ok(written) => left = &left[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    // Closing a socket with something unread in it would take the answer back.
    let stream = stream.into_std()?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let stream = TcpStream::from_std(stream)?;
    let (mut read, mut bytes) = (0, [0; 4096]);
    while read < TURN_AWAY_BYTES_MAX {
        stream.readable().await?;
        match stream.try_read(&mut bytes) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_limited_in_all_and_for_each_address() {
        let [one, other, third] = [1, 2, 3].map(|n| IpAddr::from([10, 0, 0, n]));
        let mut places = Places::new(3, 2);
        assert!(places.enter(one) && places.enter(one));
        assert!(!places.enter(one), "two for each");
        assert!(places.enter(other));
        assert!(!places.enter(third), "three in all");
        places.leave(one);
        assert!(places.enter(third));
        for address in [one, other, third] {
            places.leave(address);
        }
        assert_eq!((places.free, places.taken.len()), (3, 0));
    }

    #[test]
    fn the_answer_has_the_length_that_it_says() {
        let text = std::str::from_utf8(NO_PLACE).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    }
}
