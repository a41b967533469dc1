//! The program as people meet it: what it prints, what it leaves behind, and how it ends.

#[cfg(test)]
mod checking;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod config;
#[cfg(test)]
mod deviations;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod examined;
#[cfg(test)]
mod guides;
#[cfg(test)]
mod headers;
#[cfg(test)]
mod keep;
#[cfg(test)]
mod killing;
#[cfg(test)]
mod kits;
#[cfg(test)]
mod large;
#[cfg(test)]
mod liar;
#[cfg(test)]
mod lies;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod places;
#[cfg(test)]
mod play;
#[cfg(test)]
mod pollers;
#[cfg(test)]
mod program;
#[cfg(test)]
mod pulling;
#[cfg(test)]
mod reach;
#[cfg(test)]
mod recall;
mod record;
#[cfg(test)]
mod roster;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod secret;
#[cfg(test)]
mod service;
#[cfg(test)]
mod services;
mod sim;
#[cfg(test)]
mod sparring;
#[cfg(test)]
mod watching;
