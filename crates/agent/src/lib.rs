//! Legs to stand on, and the front door for whoever writes a player in Rust.
//!
//! [`author`] is that door: a player is one function. Behind it:
//! [`endpoint`] is being called, [`caller`] is calling; both know HTTP and nothing of the protocol.
//! [`pull`] is being called without a port: fetching what was sent from the manager.
//! [`address`] is where somebody can be called, [`targets`] who may be, [`rate`] how often.
//! [`desk`] answers protocol messages behind an endpoint, [`exchange`] sends them and reads the
//! answers, [`shape`] is how an agent wants to be spoken to. [`register`] is the handshake with the
//! manager, [`keep`] where a token lies between two runs, [`lookout`] how an agent hears of its
//! league when nobody tells it, [`player`] a whole player around a [`strategy`]. [`ambient`] is the
//! only clock and the only entropy in the workspace, [`guard`] keeps locks usable and panics heard,
//! [`vitals`] says over plain HTTP whether an agent lives.
//! [`log`] is what the services say of their work, [`meter`] what they count, by [`component`].
#![warn(missing_docs)]

pub mod address;
pub mod ambient;
pub mod author;
pub mod caller;
pub mod component;
mod connector;
pub mod desk;
pub mod endpoint;
pub mod exchange;
pub mod guard;
pub mod keep;
pub mod limits;
pub mod log;
pub mod lookout;
pub mod meter;
pub mod player;
pub mod pull;
pub mod rate;
pub mod register;
pub mod shape;
pub mod strategy;
pub mod targets;
pub mod vitals;
