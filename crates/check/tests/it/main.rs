//! What the checker promises: a page that is true, and cases with names that can be relied on.

mod catalogue;
