//! The shells: the manager and the referee as services, and the record they keep.
//!
//! [`journal`] is where leagues are written down, [`record`] what is read out of it later,
//! [`letters`] what the manager sends and receives.
//! [`manager`] and [`referee`] run core's machines and meet only over the protocol. [`practice`]
//! has one agent play the house, without a league. [`runtime`] puts a whole league together; nobody
//! knows it. [`secret`] keeps the private files, [`limits`] names every bound.

mod abridge;
pub mod journal;
pub mod letters;
pub mod limits;
pub mod manager;
pub mod practice;
pub mod record;
pub mod referee;
pub mod runtime;
pub mod secret;
