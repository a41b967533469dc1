//! Moments as text: ISO-8601 in UTC, in and out.

use league_core::time::Timestamp;

const DAY_MS: i64 = 86_400_000;
const UTC: &str = "give the time in UTC and end it with `Z`, such as 2025-01-15T10:30:00Z";
const FORM: &str = "write it like 2025-01-15T10:30:00Z";
/// The last moment that can be written, 9999-12-31T23:59:59.999Z, and the first, of the year 0.
const RANGE_MS: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// Appends `moment` as `YYYY-MM-DDTHH:MM:SS.mmmZ`. What lies outside the years 0 to 9999 is
/// written as the nearest moment inside.
pub fn write(moment: Timestamp, out: &mut Vec<u8>) {
    let millis = moment.as_millis().clamp(*RANGE_MS.start(), *RANGE_MS.end());
    let (year, month, day) = civil_from_days(millis.div_euclid(DAY_MS));
    let in_day = millis.rem_euclid(DAY_MS);
    let parts = [
        (year, 4, b'-'),
        (month, 2, b'-'),
        (day, 2, b'T'),
        (in_day / 3_600_000, 2, b':'),
        (in_day / 60_000 % 60, 2, b':'),
        (in_day / 1_000 % 60, 2, b'.'),
        (in_day % 1_000, 3, b'Z'),
    ];
    for (number, width, after) in parts {
        for place in (0..width).rev() {
            let digit = number / 10_i64.pow(place) % 10;
            out.push(b'0' + u8::try_from(digit).expect("a digit is below ten"));
        }
        out.push(after);
    }
}

/// `moment` as `YYYY-MM-DDTHH:MM:SS.mmmZ`.
pub fn format(moment: Timestamp) -> String {
    let mut out = Vec::with_capacity(24);
    write(moment, &mut out);
    String::from_utf8(out).expect("digits and punctuation are UTF-8")
}

/// Reads any ISO-8601 form of a moment in UTC: date and time extended or basic, with or without a
/// fraction of the second, ending in `Z`, `+00:00`, `+0000` or `+00`.
///
/// # Errors
/// What to change, if `text` is not such a form.
pub fn parse(text: &str) -> Result<Timestamp, &'static str> {
    let mut rest = Rest(text.as_bytes());
    let days = date(&mut rest).ok_or(FORM)?;
    if !rest.take(b'T') {
        return Err(FORM);
    }
    let millis = time(&mut rest).ok_or(FORM)?;
    match rest.0 {
        b"Z" | b"+00:00" | b"+0000" | b"+00" => Ok(Timestamp::from_millis(days * DAY_MS + millis)),
        b"+00:00Z" => Err("end it with either `Z` or `+00:00`, not both"),
        b"" | [b'+' | b'-', ..] => Err(UTC),
        _ => Err(FORM),
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take(&mut self, wanted: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == wanted => {
                self.0 = rest;
                true
            }
            Some(_) | None => false,
        }
    }

    /// The number in the next `width` digits.
    fn digits(&mut self, width: usize) -> Option<i64> {
        let (head, rest) = self.0.split_at_checked(width)?;
        self.0 = rest;
        head.iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })
    }

    fn starts_with_digit(&self) -> bool {
        self.0.first().is_some_and(u8::is_ascii_digit)
    }
}

/// Days since 1970 of `YYYY-MM-DD` or `YYYYMMDD`.
fn date(rest: &mut Rest<'_>) -> Option<i64> {
    let year = rest.digits(4)?;
    let extended = rest.take(b'-');
    let month = rest.digits(2)?;
    if extended && !rest.take(b'-') {
        return None;
    }
    let day = rest.digits(2)?;
    let valid = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    valid.then(|| days_from_civil(year, month, day))
}

/// Milliseconds of the day of `HH:MM:SS` or `HHMMSS`, seconds with an optional fraction, minutes
/// and seconds optional. A leap second counts as the first of the next day.
fn time(rest: &mut Rest<'_>) -> Option<i64> {
    let hour = rest.digits(2)?;
    let extended = rest.take(b':');
    let (mut minute, mut second, mut millis) = (0, 0, 0);
    if extended || rest.starts_with_digit() {
        minute = rest.digits(2)?;
        let more = if extended { rest.take(b':') } else { rest.starts_with_digit() };
        if more {
            second = rest.digits(2)?;
            if rest.take(b'.') || rest.take(b',') {
                millis = fraction(rest)?;
            }
        }
    }
    let leap = (hour, minute, second) == (23, 59, 60);
    let valid = hour < 24 && minute < 60 && (second < 60 || leap);
    valid.then_some(((hour * 60 + minute) * 60 + second) * 1_000 + millis)
}

/// The milliseconds in a fraction of a second; finer digits are dropped.
fn fraction(rest: &mut Rest<'_>) -> Option<i64> {
    let count = rest.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=18).contains(&count) {
        return None;
    }
    let kept = count.min(3);
    let scale = 10_i64.pow(3 - u32::try_from(kept).expect("at most three digits"));
    let millis = rest.digits(kept)? * scale;
    rest.digits(count - kept)?;
    Some(millis)
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a date of the Gregorian calendar. Years begin in March, so that the leap day
/// is the last of a year, and go in eras of 400.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_civil`].
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    // req: WIRE-4
    #[test]
    fn every_utc_form_of_a_moment_is_the_same_moment() {
        for text in [
            "2025-01-15T10:30:00Z",
            "20250115T10:30:00Z",
            "20250115T103000Z",
            "2025-01-15T103000Z",
            "2025-01-15T10:30:00+00:00",
            "20250115T10:30:00+00:00",
            "2025-01-15T10:30:00+0000",
            "2025-01-15T10:30:00+00",
            "2025-01-15T10:30:00.000Z",
            "2025-01-15T10:30:00.0009999Z",
            "2025-01-15T10:30:00,0Z",
            "2025-01-15T10:30Z",
            "20250115T1030Z",
        ] {
            assert_eq!(parse(text).map(Timestamp::as_millis), Ok(1_736_937_000_000), "{text}");
        }
    }

    // req: WIRE-4
    #[test]
    fn any_other_offset_or_none_is_refused_with_what_to_change() {
        for (text, fix) in [
            ("2025-01-15T10:30:00", UTC),
            ("20250115T10:30:00+02:00", UTC),
            ("2025-01-15T10:30:00-00:00", UTC),
            ("2025-01-15T10:30:00+00:00Z", "not both"),
            ("2025-01-15 10:30:00Z", FORM),
            ("2025-01-15T10:30:00z", FORM),
            ("2025-02-29T10:30:00Z", FORM),
            ("2025-13-01T10:30:00Z", FORM),
            ("2025-01-15T24:00:00Z", FORM),
            ("2025-01-15T10:60:00Z", FORM),
            ("2025-01-15T10:30:60Z", FORM),
            ("2025-01-15T10:30:00.Z", FORM),
            ("2025-0115T10:30:00Z", FORM),
            ("1736937000", FORM),
            ("yesterday", FORM),
            ("", FORM),
        ] {
            let refused = parse(text).unwrap_err();
            assert!(refused.contains(fix), "{text}: {refused}");
        }
    }

    #[test]
    fn known_moments_are_written_as_expected() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_767_176_999_007, "2025-12-31T10:29:59.007Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
            (i64::MIN, "0000-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(format(Timestamp::from_millis(millis)), text);
        }
        assert_eq!(parse("2016-12-31T23:59:60Z"), parse("2017-01-01T00:00:00Z"));
    }

    #[test]
    fn every_day_of_four_centuries_is_read_as_it_was_written() {
        let mut expected = (1900, 1, 1);
        for days in days_from_civil(1900, 1, 1)..days_from_civil(2300, 1, 1) {
            assert_eq!(civil_from_days(days), expected);
            let moment = Timestamp::from_millis(days * DAY_MS + days.rem_euclid(DAY_MS / 7) * 7);
            assert_eq!(parse(&format(moment)), Ok(moment));
            expected.2 += 1;
            if expected.2 > days_in_month(expected.0, expected.1) {
                expected = (expected.0 + expected.1 / 12, expected.1 % 12 + 1, 1);
            }
        }
    }
}
