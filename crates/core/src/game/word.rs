//! The text of a move.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Enough for the words of games, and copied in one go.
const SHORT_MAX: usize = 8;

/// A word that a player chose. A short one, as all games have them, needs no memory elsewhere:
/// a league remembers many.
#[derive(Clone, PartialEq, Eq)]
pub struct Word(Form);

/// A text has one form, so that equal texts have equal forms.
#[derive(Clone, PartialEq, Eq)]
enum Form {
    Short {
        length: u8,
        /// Zero behind the text.
        bytes: [u8; SHORT_MAX],
    },
    /// Behind a thin pointer, to be no larger than a short one.
    Long(Arc<String>),
}

impl Word {
    /// The word as text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Form::Short { length, bytes } => {
                let text = &bytes[..usize::from(*length)];
                std::str::from_utf8(text).expect("the bytes were copied from a text")
            }
            Form::Long(text) => text,
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Form::Short { length, bytes } => &bytes[..usize::from(*length)],
            Form::Long(text) => text.as_bytes(),
        }
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        let mut bytes = [0; SHORT_MAX];
        let (room, length) = (bytes.get_mut(..text.len()), u8::try_from(text.len()));
        let (Some(room), Ok(length)) = (room, length) else {
            return Self(Form::Long(Arc::new(text.to_owned())));
        };
        room.copy_from_slice(text.as_bytes());
        Self(Form::Short { length, bytes })
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialOrd for Word {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Word {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader)
    }
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Word, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Move;

    #[test]
    fn a_word_is_its_text_whatever_its_length() {
        let texts = ["", "even", "scissors", "scissors.", "grüße", "\0", "\0\0"];
        for one in texts {
            assert_eq!(Word::from(one).as_str(), one);
            assert_eq!(format!("{0} {0:?}", Word::from(one)), format!("{one} {one:?}"));
            let json = serde_json::to_string(&Word::from(one)).unwrap();
            assert_eq!(json, serde_json::to_string(one).unwrap());
            assert_eq!(serde_json::from_str::<Word>(&json).unwrap(), Word::from(one));
            for other in texts {
                let (a, b) = (Word::from(one), Word::from(other));
                assert_eq!((a == b, a.cmp(&b)), (one == other, one.cmp(other)));
            }
        }
    }

    #[test]
    fn a_move_takes_two_machine_words() {
        assert_eq!(size_of::<Option<Move>>(), 16);
    }
}
