//! The roster of a class: who was given which join code. A file of lines `code,student,group`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use league_agent::exchange::random_hex;
use league_agent::keep::write_private;

use crate::manager::blueprint::Place;

/// The first line of a roster.
const HEAD: &str = "code,student,group";

/// A roster that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    /// Everybody on it, each with a code.
    pub places: Vec<Place>,
    /// Where the codes stand that were made up, if any were.
    pub codes: Option<PathBuf>,
}

/// Why a roster cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RosterError {
    /// It cannot be read, or its codes cannot be written.
    #[error("cannot use the roster {file}: {source}")]
    File {
        /// Which file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of it is none.
    #[error("{file}:{line}: expected {HEAD} with a student, got `{got}`")]
    Line {
        /// Which file.
        file: PathBuf,
        /// Which line, from one.
        line: usize,
        /// What stands there, without its code.
        got: String,
    },
    /// Two of them have the same code, of which only one could use it.
    #[error("{file}:{line}: {student} has the code of line {first}; codes are for one each")]
    Twice {
        /// Which file.
        file: PathBuf,
        /// Which line, from one.
        line: usize,
        /// Who stands there.
        student: String,
        /// Where the code stood before.
        first: usize,
    },
    /// It has two columns and does not say which.
    #[error(
        "{file}:{line}: two columns, and no first line that says which they are; write `code,student` \
         or `student,group` above them"
    )]
    Columns {
        /// Which file.
        file: PathBuf,
        /// Which line, from one.
        line: usize,
    },
    /// There is nobody on it.
    #[error("there is nobody on the roster {0}; its lines are {HEAD}")]
    Empty(PathBuf),
}

/// Reads a roster. Who has no code is given one, and everybody's codes go into a private file
/// beside it, which is a roster too. Who was given one before keeps it.
///
/// # Errors
/// If the roster cannot be used.
pub fn read(file: &Path) -> Result<Roster, RosterError> {
    let mut places = listed(file)?;
    if places.iter().all(|place| !place.code.is_empty()) {
        return Ok(Roster { places, codes: None });
    }
    let codes = file.with_extension("codes.csv");
    let mut before = if codes.exists() { listed(&codes)? } else { vec![] };
    before.retain(|known| places.iter().all(|place| place.code != known.code));
    for place in places.iter_mut().filter(|place| place.code.is_empty()) {
        let known = before
            .iter()
            .position(|known| (&known.student, &known.group) == (&place.student, &place.group));
        place.code = known.map_or_else(random_hex, |at| before.remove(at).code);
    }
    // Whoever is no longer on the roster may be in a league all the same.
    let lines = places.iter().chain(&before).map(line).collect::<Vec<_>>().join("\n");
    let written = write_private(&codes, &format!("{HEAD}\n{lines}\n"));
    written.map_err(|source| RosterError::File { file: codes.clone(), source })?;
    Ok(Roster { places, codes: Some(codes) })
}

/// Everybody in a file, with an empty code where there is none.
fn listed(file: &Path) -> Result<Vec<Place>, RosterError> {
    let failed = |source| RosterError::File { file: file.into(), source };
    let text = fs::read_to_string(file).map_err(failed)?;
    let (mut places, mut columns) = (vec![], Columns::default());
    let (mut codes_at, separator) = (BTreeMap::new(), separator(&text));
    for (number, line) in (1_usize..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if line.trim().is_empty() {
            continue;
        }
        if let Some(named) = Columns::named(line, separator).filter(|_| number == 1) {
            columns = named;
            continue;
        }
        // Whether the first is a code or somebody's name nobody can tell.
        if !columns.are_named && cells(line, separator).is_some_and(|cells| cells.len() == 2) {
            return Err(RosterError::Columns { file: file.into(), line: number });
        }
        let place = columns.place(line, separator).ok_or_else(|| RosterError::Line {
            file: file.into(),
            line: number,
            got: line.split_once(separator).map_or("one cell", |(_, rest)| rest).to_string(),
        })?;
        let first = *codes_at.entry(place.code.clone()).or_insert(number);
        if first != number && !place.code.is_empty() {
            let (file, student) = (file.into(), place.student);
            return Err(RosterError::Twice { file, line: number, student, first });
        }
        places.push(place);
    }
    if places.is_empty() {
        return Err(RosterError::Empty(file.into()));
    }
    Ok(places)
}

/// Which cell of a line is what.
struct Columns {
    code: Option<usize>,
    student: usize,
    group: Option<usize>,
    count: usize,
    /// Whether a first line says so.
    are_named: bool,
}

impl Default for Columns {
    fn default() -> Self {
        Self { code: Some(0), student: 1, group: Some(2), count: 3, are_named: false }
    }
}

impl Columns {
    /// The columns that a first line names; `None` if it is somebody's line.
    fn named(line: &str, separator: char) -> Option<Self> {
        let names = cells(line, separator)?;
        let find = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let (code, student, group) = (find("code"), find("student")?, find("group"));
        Some(Self { code, student, group, count: names.len(), are_named: true })
    }

    fn place(&self, line: &str, separator: char) -> Option<Place> {
        let cells = cells(line, separator)?;
        let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).cloned();
        let (code, student) = (cell(self.code).unwrap_or_default(), cell(Some(self.student))?);
        let group = cell(self.group).filter(|group| !group.is_empty());
        let is_whole = cells.iter().skip(self.count).all(String::is_empty) && !student.is_empty();
        is_whole.then_some(Place { code, student, group })
    }
}

/// What stands between the cells: in some countries spreadsheets write semicolons.
fn separator(text: &str) -> char {
    let first = text.lines().next().unwrap_or_default();
    if first.contains(';') && !first.contains(',') { ';' } else { ',' }
}

/// The cells of a line; one in quotes may hold commas, and two quotes in it are one.
fn cells(line: &str, separator: char) -> Option<Vec<String>> {
    let (mut cells, mut cell, mut quoted) = (vec![], String::new(), false);
    let mut letters = line.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            letter if letter == separator && !quoted => {
                cells.push(std::mem::take(&mut cell).trim().to_string())
            }
            letter => cell.push(letter),
        }
    }
    cells.push(cell.trim().to_string());
    (!quoted).then_some(cells)
}

fn line(place: &Place) -> String {
    let quoted = |text: &str| {
        let is_plain = !text.contains([',', '"']);
        if is_plain { text.to_string() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    };
    let Place { code, student, group } = place;
    format!("{},{},{}", quoted(code), quoted(student), quoted(group.as_deref().unwrap_or("")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("students.csv");
        fs::write(&file, text).unwrap();
        (data, file)
    }

    #[test]
    fn a_roster_with_codes_is_taken_as_it_is() {
        let text = "Code, Student, Group\r\nabc, \"Lovelace, Ada\", red\n\ndef,Alan \"\"T\"\"\n";
        let (_data, file) = written(text);
        let roster = read(&file).unwrap();
        let shown: Vec<_> =
            roster.places.iter().map(|p| (&*p.code, &*p.student, p.group.as_deref())).collect();
        assert_eq!(shown, [("abc", "Lovelace, Ada", Some("red")), ("def", "Alan T", None)]);
        assert_eq!(roster.codes, None);
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let (_data, file) = written("Group,Student\nred,Ada\n,Alan\n");
        let roster = read(&file).unwrap();
        let shown: Vec<_> =
            roster.places.iter().map(|p| (p.code.len(), &*p.student, p.group.as_deref())).collect();
        assert_eq!(shown, [(32, "Ada", Some("red")), (32, "Alan", None)]);
    }

    #[test]
    fn two_columns_must_say_which_they_are() {
        for text in ["Ada,red\nAlan,blue\n", "code1,Ada,red\ncode2,Alan\n", "a;b\n"] {
            let (_data, file) = written(text);
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains("write `code,student` or `student,group` above"), "{error}");
        }
    }

    #[test]
    fn cells_may_be_separated_by_semicolons() {
        let (_data, file) = written("code;student;group\nabc;Lovelace, Ada;red\n");
        let roster = read(&file).unwrap();
        assert_eq!(&*roster.places[0].student, "Lovelace, Ada");
        assert_eq!(roster.places[0].group.as_deref(), Some("red"));
    }

    #[test]
    fn a_code_that_two_have_is_found_in_its_line_and_not_shown() {
        let (_data, file) = written("code,student\nabcd,Ada\nefgh,Alan\nabcd,Grace\n");
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains("students.csv:4: Grace has the code of line 2"), "{error}");
        assert!(!error.contains("abcd"), "{error}");
    }

    #[test]
    fn codes_are_made_up_once_and_kept_in_a_private_roster() {
        let (data, file) = written("code,student,group\n,\"Lovelace, Ada\",red\nmine,Alan,\n");
        let roster = read(&file).unwrap();
        let codes = data.path().join("students.codes.csv");
        assert_eq!(roster.codes.as_deref(), Some(&*codes));
        assert_eq!((roster.places[0].code.len(), &*roster.places[1].code), (32, "mine"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&codes).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(read(&codes).unwrap().places, roster.places, "it is a roster too");
    }

    #[test]
    fn whoever_was_given_a_code_keeps_it_when_others_come() {
        let (data, file) = written("student,group\nAda,red\nAda,red\nBob,\n");
        let before = read(&file).unwrap().places;
        fs::write(&file, "student,group\nCyd,red\nAda,red\nAda,red\nAda,blue\n").unwrap();
        let after = read(&file).unwrap().places;
        assert_eq!(after[1..3], before[..2], "two of one name are two people");
        let new = [&after[0].code, &after[3].code];
        assert!(before.iter().all(|place| !new.contains(&&place.code)), "{new:?}");
        let kept = read(&data.path().join("students.codes.csv")).unwrap().places;
        let all: Vec<_> = after.iter().chain(&before[2..]).cloned().collect();
        assert_eq!(kept, all, "Bob's code is not lost");
        assert_eq!(read(&file).unwrap().places, after, "nothing changes by itself");
    }

    #[test]
    fn what_is_no_roster_is_found_in_its_line_without_its_code() {
        let (_data, file) = written("code,student,group\nabc,Ada,red\nsecret,\n");
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains("students.csv:3") && !error.contains("secret"), "{error}");
        for text in ["code,student,group\n", "", "a,b,c,d\n", "a,\"b\n"] {
            let (_data, file) = written(text);
            assert!(read(&file).is_err(), "{text:?}");
        }
    }
}
