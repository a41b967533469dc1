//! Rust text taken apart: per line its code, its comment and its string literals.
//!
//! This is not a parser. It knows just enough of the language that a rule about code is not
//! misled by a word in a string, and that tests can be told from the rest.

/// One line of Rust.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// As written.
    pub raw: String,
    /// Without comments; string and character literals are emptied.
    pub code: String,
    /// The text of comments on this line.
    pub comment: String,
    /// What the string literals on this line hold, escapes as written.
    pub strings: Vec<String>,
    /// Whether the line is compiled for tests only.
    pub test: bool,
}

/// One Rust file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RustFile {
    /// From the root of the workspace, with forward slashes.
    pub path: String,
    /// The lines; the first has number one.
    pub lines: Vec<Line>,
}

impl RustFile {
    /// Reads a file. All of it counts as a test if its path says so.
    pub fn read(path: &str, text: &str) -> Self {
        let mut lines = Lexer::default().read(text);
        mark_tests(&mut lines);
        let mut file = Self { path: path.to_owned(), lines };
        if is_test_path(path) {
            file.count_as_test();
        }
        file
    }

    /// Every line with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Every line with its number that is also compiled outside tests.
    pub fn numbered_shipped(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.numbered().filter(|(_, line)| !line.test)
    }

    /// Whether the whole file is for tests or benchmarks.
    pub fn is_test(&self) -> bool {
        self.lines.iter().all(|line| line.test)
    }

    /// Whole files that this one declares for tests only, as path prefixes without `.rs`.
    pub fn test_modules(&self) -> Vec<String> {
        let home = self.module_folder();
        let declared = self.lines.iter().filter(|line| line.test);
        declared
            .filter_map(|line| module_name(&line.code))
            .map(|name| format!("{home}/{name}"))
            .collect()
    }

    /// Says that this file was declared for tests only.
    pub fn count_as_test(&mut self) {
        self.lines.iter_mut().for_each(|line| line.test = true);
    }

    fn module_folder(&self) -> &str {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        match name {
            "mod.rs" | "lib.rs" | "main.rs" => folder,
            _ => self.path.trim_end_matches(".rs"),
        }
    }
}

fn is_test_path(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.split('/').any(|part| part == "tests" || part == "benches")
}

fn module_name(code: &str) -> Option<&str> {
    let declared = code.trim().rsplit_once("mod ")?.1;
    declared.strip_suffix(';')
}

/// Marks every item behind `#[cfg(test)]`, from the attribute to the item's end.
fn mark_tests(lines: &mut [Line]) {
    let mut open: Option<Item> = None;
    for line in lines {
        if open.is_none() && is_test_attribute(&line.code) {
            open = Some(Item::default());
        }
        if let Some(item) = &mut open {
            line.test = true;
            if item.ends_on(&line.code) {
                open = None;
            }
        }
    }
}

fn is_test_attribute(code: &str) -> bool {
    ["#[cfg(test)]", "#[cfg(all(test", "#[cfg(any(test"].iter().any(|start| code.contains(start))
}

#[derive(Default)]
struct Item {
    depth: i32,
    has_body: bool,
}

impl Item {
    fn ends_on(&mut self, code: &str) -> bool {
        for char in code.chars() {
            match char {
                '{' | '(' | '[' => self.depth += 1,
                '}' | ')' | ']' => self.depth -= 1,
                _ => {}
            }
            self.has_body |= char == '{';
            let closed = char == ';' || (char == '}' && self.has_body);
            if closed && self.depth == 0 {
                return true;
            }
        }
        false
    }
}

#[derive(Clone, Copy, Default)]
enum Place {
    #[default]
    Code,
    LineComment,
    BlockComment(u32),
    Text,
    RawText(usize),
}

#[derive(Default)]
struct Lexer {
    place: Place,
    line: Line,
    literal: String,
    done: Vec<Line>,
}

impl Lexer {
    fn read(mut self, text: &str) -> Vec<Line> {
        for raw in text.lines() {
            self.line.raw = raw.to_owned();
            let chars: Vec<char> = raw.chars().collect();
            let mut at = 0;
            while at < chars.len() {
                at += self.step(&chars[at..], at.checked_sub(1).map(|before| chars[before]));
            }
            self.end_line();
        }
        self.done
    }

    fn end_line(&mut self) {
        match self.place {
            Place::LineComment => self.place = Place::Code,
            Place::Text | Place::RawText(_) => self.end_literal(),
            Place::Code | Place::BlockComment(_) => {}
        }
        self.done.push(std::mem::take(&mut self.line));
    }

    fn end_literal(&mut self) {
        self.line.strings.push(std::mem::take(&mut self.literal));
    }

    /// Reads what `rest` begins with and says how many characters that was.
    fn step(&mut self, rest: &[char], before: Option<char>) -> usize {
        match self.place {
            Place::Code => self.step_code(rest, before),
            Place::LineComment => {
                self.line.comment.extend(rest);
                rest.len()
            }
            Place::BlockComment(depth) => self.step_block(rest, depth),
            Place::Text => self.step_text(rest),
            Place::RawText(hashes) => self.step_raw(rest, hashes),
        }
    }

    fn step_code(&mut self, rest: &[char], before: Option<char>) -> usize {
        if let Some((hashes, length)) = raw_start(rest, before) {
            self.line.code.push('"');
            self.place = Place::RawText(hashes);
            return length;
        }
        match rest {
            ['/', '/', ..] => self.enter(Place::LineComment, 2),
            ['/', '*', ..] => self.enter(Place::BlockComment(1), 2),
            ['"', ..] => {
                self.line.code.push('"');
                self.enter(Place::Text, 1)
            }
            ['\'', '\\', _, tail @ ..] => {
                self.line.code.push_str("''");
                3 + tail.iter().position(|c| *c == '\'').map_or(tail.len(), |end| end + 1)
            }
            ['\'', _, '\'', ..] => {
                self.line.code.push_str("''");
                3
            }
            [first, ..] => {
                self.line.code.push(*first);
                1
            }
            [] => 1,
        }
    }

    fn enter(&mut self, place: Place, length: usize) -> usize {
        self.place = place;
        length
    }

    fn step_block(&mut self, rest: &[char], depth: u32) -> usize {
        match rest {
            ['*', '/', ..] if depth == 1 => self.enter(Place::Code, 2),
            ['*', '/', ..] => self.enter(Place::BlockComment(depth - 1), 2),
            ['/', '*', ..] => self.enter(Place::BlockComment(depth + 1), 2),
            other => {
                self.line.comment.extend(other.first());
                1
            }
        }
    }

    fn step_text(&mut self, rest: &[char]) -> usize {
        match rest {
            ['\\', escaped, ..] => {
                self.literal.extend(['\\', *escaped]);
                2
            }
            ['"', ..] => self.close_text(1),
            other => {
                self.literal.extend(other.first());
                1
            }
        }
    }

    fn step_raw(&mut self, rest: &[char], hashes: usize) -> usize {
        let closing = rest.iter().skip(1).take(hashes).filter(|c| **c == '#').count();
        if rest.first() == Some(&'"') && closing == hashes {
            return self.close_text(1 + hashes);
        }
        self.literal.extend(rest.first());
        1
    }

    fn close_text(&mut self, length: usize) -> usize {
        self.line.code.push('"');
        self.end_literal();
        self.enter(Place::Code, length)
    }
}

/// The number of hashes and the length of what opens a raw string here, if one does.
fn raw_start(rest: &[char], before: Option<char>) -> Option<(usize, usize)> {
    let continues_a_name = before.is_some_and(is_name_char);
    let prefix = match rest {
        _ if continues_a_name => return None,
        ['r', ..] => 1,
        ['b' | 'c', 'r', ..] => 2,
        _ => return None,
    };
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    (rest.get(prefix + hashes) == Some(&'"')).then_some((hashes, prefix + hashes + 1))
}

/// Whether `c` can stand in a name.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `code` has `word` in it, not as part of a longer name.
pub fn has_word(code: &str, word: &str) -> bool {
    let edge = |c: Option<char>| !c.is_some_and(is_name_char);
    let open_start = !word.starts_with(is_name_char);
    let open_end = !word.ends_with(is_name_char);
    code.match_indices(word).any(|(at, _)| {
        let start = open_start || edge(code[..at].chars().next_back());
        let end = open_end || edge(code[at + word.len()..].chars().next());
        start && end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        RustFile::read("a.rs", text).lines.remove(0)
    }

    #[test]
    fn strings_and_comments_are_not_code() {
        let read = line(r#"let a = "b // c"; // d "e""#);
        assert_eq!(read.code, r#"let a = ""; "#);
        assert_eq!(read.strings, ["b // c"]);
        assert_eq!(read.comment, r#" d "e""#);
    }

    #[test]
    fn raw_strings_characters_and_lifetimes_are_told_apart() {
        let read = line(r###"f::<'a>(r#"x"y"#, '"', '\'', b"z", r"w", br##"v"#"##)"###);
        assert_eq!(read.strings, [r#"x"y"#, "z", "w", r##"v"#"##]);
        assert_eq!(read.code, r#"f::<'a>("", '', '', b"", "", "")"#);
    }

    #[test]
    fn literals_and_comments_may_span_lines() {
        let file = RustFile::read("a.rs", "let a = \"b\\\n  c\"; /* d\n/* e */ f */ g();");
        let code: Vec<&str> = file.lines.iter().map(|line| line.code.as_str()).collect();
        assert_eq!(code, ["let a = \"", "\"; ", " g();"]);
        assert_eq!(file.lines[1].strings, ["  c"]);
    }

    #[test]
    fn items_for_tests_are_marked_to_their_end() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}";
        let marks: Vec<bool> =
            RustFile::read("a.rs", text).lines.iter().map(|line| line.test).collect();
        assert_eq!(marks, [false, true, true, true, true, false]);
    }

    #[test]
    fn a_module_declared_for_tests_is_found() {
        let text = "#[cfg(test)]\nmod contract;\nmod memory;";
        let inside = RustFile::read("s/journal/mod.rs", text);
        assert_eq!(inside.test_modules(), ["s/journal/contract"]);
    }

    #[test]
    fn words_have_edges() {
        assert!(has_word("unsafe { }", "unsafe"));
        assert!(!has_word("unsafe_code", "unsafe"));
        assert!(has_word("a::todo!()", "todo!"));
        assert!(!has_word("mytodo!()", "todo!"));
    }
}
