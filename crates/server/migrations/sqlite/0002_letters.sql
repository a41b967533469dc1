-- What the manager has sent and received, some of it in each row: see letters/bundle.rs for the form.
-- Not part of the chain and not needed for a replay, so old rows can be deleted.
CREATE TABLE letters (
    id      INTEGER PRIMARY KEY,
    league  INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    bytes   BLOB    NOT NULL
) STRICT;
CREATE INDEX letters_of_league ON letters (league, first);
