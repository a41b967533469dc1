//! The services over real sockets, met by strangers who write their JSON by hand, and what only a
//! whole process can show.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod assigned;
#[cfg(test)]
mod authentication;
#[cfg(test)]
mod breaker;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod envelope;
#[cfg(test)]
mod flood;
#[cfg(test)]
mod foreign_referee;
#[cfg(test)]
mod impostor;
#[cfg(test)]
#[path = "../../../wire/tests/it/judge.rs"]
mod judge;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod letters;
#[cfg(test)]
mod numbers;
#[cfg(test)]
mod own_referee;
#[cfg(test)]
mod players;
#[cfg(test)]
mod practising;
#[cfg(test)]
mod pull;
#[cfg(test)]
mod puller;
#[cfg(test)]
mod registration;
#[cfg(test)]
mod rehearsals;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod returning;
#[cfg(test)]
mod rpc;
#[cfg(test)]
mod shape;
#[cfg(test)]
mod spoken;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod standing;
#[cfg(test)]
mod stranger;
#[cfg(test)]
mod traffic;
#[cfg(test)]
mod transcript;
#[cfg(test)]
mod troubles;
#[cfg(test)]
mod watcher;
