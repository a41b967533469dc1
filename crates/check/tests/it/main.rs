//! What the checker promises: a page that is true, names that can be relied on, and verdicts that
//! are right about agents of which we know what they do wrong.

#[cfg(test)]
mod breakable;
#[cfg(test)]
mod catalogue;
