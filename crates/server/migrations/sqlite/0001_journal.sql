-- Leagues by a small number, so that a row does not repeat the name.
CREATE TABLE league (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE
) STRICT;

-- The record itself: rows of all leagues in the order of writing, about a page of them in a block.
-- An append changes only the end of the table, however many leagues are active, and SQLite handles
-- a block as fast as it would a row. See journal/sqlite/block.rs for the form.
-- The writer chooses `id`; its uniqueness keeps two writers apart.
CREATE TABLE block (
    id    INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

-- Where the rows of a league are: row `first` and those after it, as pairs of how many rows (four
-- bytes) and in which block (eight bytes), big end first. Written from time to time for many rows
-- at once.
CREATE TABLE span (
    league INTEGER NOT NULL,
    first  INTEGER NOT NULL,
    places BLOB    NOT NULL,
    PRIMARY KEY (league, first)
) STRICT, WITHOUT ROWID;

-- Blocks up to this id are in a span; the few after it are found by looking at them all.
CREATE TABLE indexed (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    up_to INTEGER NOT NULL
) STRICT;
INSERT INTO indexed (one, up_to) VALUES (1, 0);

-- What is stored beside a row, such as a transcript. Not part of the chain, so it can be deleted
-- while the row keeps the hash that it was stored under.
CREATE TABLE attachment (
    league INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    hash   BLOB    NOT NULL CHECK (length(hash) = 32),
    bytes  BLOB    NOT NULL,
    PRIMARY KEY (league, seq)
) STRICT;
