//! The table of every field that a document lists, as the documentation has it.

use std::sync::LazyLock;

/// A row: a field of a message in a document.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) document: &'static str,
    /// The document's own name of the type; `*` stands for its envelope.
    pub(super) message: &'static str,
    /// `request` or `result`.
    pub(super) place: &'static str,
    /// Its path, without the envelope or payload around it.
    pub(super) field: &'static str,
    pub(super) types: &'static str,
    pub(super) required: bool,
    /// What must hold for the row to apply.
    pub(super) when: Option<&'static str>,
    pub(super) values: Vec<&'static str>,
    slip: bool,
}

/// Every row that is no slip of its document.
pub(super) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let (_, fields) = TABLE.split_once("\nfield = [\n").unwrap_or_default();
    let rows = fields.lines().filter_map(|line| line.trim().strip_prefix("{ ")).map(row);
    let is_part = |row: &Row| !["envelope", "payload"].contains(&row.field);
    rows.filter(|row| !row.slip && is_part(row)).collect()
});

const TABLE: &str = include_str!("../../../../docs/protocol/fields.toml");

fn row(line: &'static str) -> Row {
    let mut row = Row::default();
    let mut rest = line;
    while let Some((name, value)) = rest.split_once(" = ") {
        let (texts, after) = match value.strip_prefix('[') {
            Some(list) => {
                let (inside, after) = list.split_once(']').unwrap_or((list, ""));
                (inside.split('"').skip(1).step_by(2).collect(), after)
            }
            None => match value.strip_prefix('"') {
                Some(text) => {
                    let (text, after) = text.split_once('"').unwrap_or((text, ""));
                    (vec![text], after)
                }
                None => {
                    let (word, after) = value.split_once([',', ' ']).unwrap_or((value, ""));
                    (vec![word], after)
                }
            },
        };
        row.set(name, texts);
        rest = after.trim_start_matches([',', ' ']);
    }
    row
}

impl Row {
    /// The field of the message in which it stands, or which it is.
    pub(super) fn head(&self) -> &'static str {
        self.field.split(['.', '[']).next().unwrap_or_default()
    }

    fn set(&mut self, name: &str, texts: Vec<&'static str>) {
        let text = texts.first().copied().unwrap_or_default();
        match name {
            "document" => self.document = text,
            "message" => self.message = text,
            "where" => self.place = text,
            "field" => {
                let inner =
                    text.strip_prefix("envelope.").or_else(|| text.strip_prefix("payload."));
                self.field = inner.unwrap_or(text);
            }
            "type" => self.types = text,
            "required" => self.required = text == "true",
            "when" => self.when = Some(text),
            "values" => self.values = texts,
            "slip" => self.slip = true,
            // How a document numbers its sections, and where a row follows from prose.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read() {
        assert!(ROWS.len() > 550, "{}", ROWS.len());
        for row in ROWS.iter() {
            assert!(!row.message.is_empty() && !row.field.is_empty(), "{row:?}");
            assert!(["request", "result"].contains(&row.place), "{row:?}");
            assert!(!row.types.is_empty(), "{row:?}");
        }
        let with_values = ROWS.iter().find(|row| row.field == "parity_choice").unwrap();
        assert_eq!(with_values.values, ["even", "odd"]);
        assert!(ROWS.iter().any(|row| row.when == Some("status=ACCEPTED")));
        assert!(ROWS.iter().any(|row| row.document == "001" && row.field == "conversation_id"));
    }
}
