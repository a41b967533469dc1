//! Figures as monitoring systems read them: Prometheus' text format.

use std::fmt::{Display, Write};

use super::figure::{BOUNDS, Histogram};

/// What kind of figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only ever grows.
    Counter,
    /// Comes and goes.
    Gauge,
}

/// A page that is being written.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    name: &'static str,
}

impl Page {
    /// What follows are figures of this name.
    pub fn family(&mut self, name: &'static str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        self.head(name, kind, help);
    }

    fn head(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        self.put(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    /// One figure of the family.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.line("", labels, value);
    }

    /// A family of one.
    pub fn single(&mut self, (name, kind): (&'static str, Kind), help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(&[], value);
    }

    /// A histogram of seconds.
    pub fn histogram(&mut self, name: &'static str, help: &str, histogram: &Histogram) {
        self.head(name, "histogram", help);
        let (cumulated, sum) = histogram.read();
        let bounds = BOUNDS.iter().map(|(_, bound)| *bound).chain(["+Inf"]);
        for (bound, count) in bounds.zip(cumulated) {
            self.line("_bucket", &[("le", bound)], count);
        }
        self.line("_sum", &[], sum);
        self.line("_count", &[], cumulated[BOUNDS.len()]);
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let name = self.name;
        self.put(format_args!("{name}{suffix}"));
        for (index, (label, text)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            self.put(format_args!("{before}{label}=\"{text}\""));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        self.put(format_args!("{after} {value}\n"));
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // A string takes everything.
        let _written = self.text.write_fmt(text);
    }

    /// The page.
    pub fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_family_has_its_head_once_and_labels_are_escaped() {
        let mut page = Page::default();
        page.family("a_total", Kind::Counter, "How many.");
        page.sample(&[("b", "x\"y\\z\n"), ("c", "d")], 1_u32);
        page.single(("e", Kind::Gauge), "Some.", 0.5);
        let expected = "# HELP a_total How many.\n# TYPE a_total counter\n\
            a_total{b=\"x\\\"y\\\\z\\n\",c=\"d\"} 1\n# HELP e Some.\n# TYPE e gauge\ne 0.5\n";
        assert_eq!(page.finish(), expected);
    }

    #[test]
    fn buckets_are_cumulated() {
        let histogram = Histogram::new();
        histogram.observe(Duration::from_millis(1));
        histogram.observe(Duration::from_secs(60));
        let mut page = Page::default();
        page.histogram("t_seconds", "How long.", &histogram);
        let text = page.finish();
        for line in ["_bucket{le=\"0.0005\"} 0", "_bucket{le=\"0.001\"} 1", "_bucket{le=\"30\"} 1"]
        {
            assert!(text.contains(&format!("t_seconds{line}\n")), "{text}");
        }
        let end = "t_seconds_bucket{le=\"+Inf\"} 2\nt_seconds_sum 60.001\nt_seconds_count 2\n";
        assert!(text.ends_with(end), "{text}");
    }
}
