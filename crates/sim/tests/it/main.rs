//! Worlds by the thousand, and whether those who watch them can see.

#[cfg(test)]
mod crowd;
#[cfg(test)]
mod meta;
#[cfg(test)]
mod sabotage;
#[cfg(test)]
mod seeds;
