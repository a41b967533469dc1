//! How long files and lines may be. The length of functions is clippy's business.

use crate::source::RustFile;
use crate::{Offence, Rule};

const FILE_LINES_MAX: usize = 600;
const TEST_FILE_LINES_MAX: usize = 900;
const COLUMNS_MAX: usize = 100;

static FILE: Rule = Rule {
    name: "a file ends at 600 lines without its tests; a file of tests at 900",
    why: "a longer file holds a noun that was never named, and nobody reads it whole",
    remedy: "divide it by noun into a folder with a mod.rs; move long tests into tests.rs",
};

static LINE: Rule = Rule {
    name: "a line ends at 100 columns",
    why: "two files fit beside each other on a screen",
    remedy: "break the line; only a string literal or an address may be longer",
};

/// Files and lines of Rust that are too long.
pub fn offences(file: &RustFile) -> Vec<Offence> {
    let (counted, max) = if file.is_test() {
        (file.lines.len(), TEST_FILE_LINES_MAX)
    } else {
        (file.numbered_shipped().count(), FILE_LINES_MAX)
    };
    let file_offence = (counted > max).then(|| {
        let found = format!("{counted} lines, {max} at most");
        Offence::new(&FILE, &file.path, max + 1, found)
    });
    let line_offences = file.numbered().filter_map(|(number, line)| {
        let columns = line.raw.chars().count();
        let literal: usize = line.strings.iter().map(|text| text.chars().count()).sum();
        let excused = line.raw.contains("://") || columns - literal <= COLUMNS_MAX;
        let offends = columns > COLUMNS_MAX && !excused;
        offends.then(|| Offence::new(&LINE, &file.path, number, format!("{columns} columns")))
    });
    file_offence.into_iter().chain(line_offences).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[usize]) {
        let found: Vec<usize> =
            offences(&RustFile::read(path, text)).iter().map(|offence| offence.line).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_line_after_the_last_allowed_one_is_named() {
        check("a.rs", &"x();\n".repeat(600), &[]);
        check("a.rs", &"x();\n".repeat(601), &[601]);
    }

    #[test]
    fn tests_in_the_same_file_do_not_count() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "x();\n".repeat(50));
        check("a.rs", &("x();\n".repeat(600) + &tests), &[]);
    }

    #[test]
    fn files_of_tests_may_be_longer_but_not_endless() {
        check("a/tests.rs", &"x();\n".repeat(900), &[]);
        check("a/tests.rs", &"x();\n".repeat(901), &[901]);
    }

    #[test]
    fn long_lines_are_found_and_long_literals_are_not() {
        check("a.rs", &format!("fine();\n// {}", "é".repeat(98)), &[2]);
        check("a.rs", &format!("// {}", "é".repeat(97)), &[]);
        check("a.rs", &format!("call(\"{}\");", "a".repeat(120)), &[]);
        check("a.rs", &format!("// see https://{}", "a".repeat(120)), &[]);
    }
}
