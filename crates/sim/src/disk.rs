//! The manager's journal on a disk that can fail, tear what is being written, and forget what was
//! never synced. What was synced stays.

use league_core::manager::Event;

use crate::fate::Fate;

const HEADER_BYTES: usize = 8;

/// A file of frames: length, checksum, the events of one append.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    synced: Vec<u8>,
    writing: Option<Vec<u8>>,
}

impl Disk {
    /// Begins an append. It counts once [`Disk::finish`] has come.
    pub(crate) fn begin(&mut self, events: &[Event]) {
        assert!(self.writing.is_none(), "one append at a time");
        self.writing = Some(frame(events));
    }

    /// The append under way is on the disk.
    pub(crate) fn finish(&mut self) {
        let frame = self.writing.take().expect("an append is under way");
        self.synced.extend(frame);
    }

    /// The power goes, or the write fails: of an append under way nothing, a part or all is left.
    pub(crate) fn break_off(&mut self, fate: &mut Fate) {
        let Some(frame) = self.writing.take() else { return };
        let kept = match fate.between(0, 2) {
            0 => 0,
            1 => fate.index(frame.len()),
            _ => frame.len(),
        };
        self.synced.extend(&frame[..kept]);
    }

    /// Reads everything that is whole and cuts off what is not.
    pub(crate) fn open(&mut self) -> Vec<Event> {
        let mut events = vec![];
        let mut at = 0;
        while let Some((found, next)) = read(&self.synced, at) {
            events.extend(found);
            at = next;
        }
        self.synced.truncate(at);
        events
    }
}

fn frame(events: &[Event]) -> Vec<u8> {
    let payload = postcard::to_allocvec(events).expect("events are plain data");
    let length = u32::try_from(payload.len()).expect("appends are small");
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend(checksum(&payload).to_le_bytes());
    frame.extend(payload);
    frame
}

fn read(bytes: &[u8], at: usize) -> Option<(Vec<Event>, usize)> {
    let number = |from: usize| -> Option<u32> {
        let bytes = bytes.get(from..from + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let length = usize::try_from(number(at)?).ok()?;
    let expected = number(at + 4)?;
    let begin = at + HEADER_BYTES;
    let payload = bytes.get(begin..begin + length)?;
    if checksum(payload) != expected {
        return None;
    }
    let events = postcard::from_bytes(payload).expect("what has its checksum was written by us");
    Some((events, begin + length))
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use league_core::manager::Fact;
    use league_core::time::Timestamp;

    use super::*;

    fn event(millis: i64) -> Event {
        Event { at: Timestamp::from_millis(millis), fact: Fact::LeagueStarted }
    }

    #[test]
    fn what_was_synced_stays_and_what_is_torn_goes_whole() {
        for seed in 0..300 {
            let mut fate = Fate::new(seed, "disk");
            let mut disk = Disk::default();
            disk.begin(&[event(1), event(2)]);
            disk.finish();
            disk.begin(&[event(3), event(4)]);
            disk.break_off(&mut fate);
            let left = disk.open();
            assert!(left == [event(1), event(2)] || left.len() == 4, "{left:?}");
            disk.begin(&[event(5)]);
            disk.finish();
            assert_eq!(disk.open().last(), Some(&event(5)), "an append after a tear is read");
        }
    }
}
