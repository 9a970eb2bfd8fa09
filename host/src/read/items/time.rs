//! Dates and time spans: a number of units, counted from 1970 for dates.

use crate::base::value::Value;
use alloc::format;
use alloc::string::String;
use core::fmt::Write as _;

/// The value of no date and no span.
const NONE: i64 = i64::MIN;

const DAY: i128 = 86_400;

/// A unit, and how many make a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    name: &'static str,
    length: Length,
    multiple: i64,
}

/// The length of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    Unknown,
    Months(i128),
    Days(i128),
    Hours,
    Minutes,
    /// The decimals of a second.
    Decimals(u32),
}

const UNITS: [(&str, Length); 13] = [
    ("Y", Length::Months(12)),
    ("M", Length::Months(1)),
    ("W", Length::Days(7)),
    ("D", Length::Days(1)),
    ("h", Length::Hours),
    ("m", Length::Minutes),
    ("s", Length::Decimals(0)),
    ("ms", Length::Decimals(3)),
    ("us", Length::Decimals(6)),
    ("ns", Length::Decimals(9)),
    ("ps", Length::Decimals(12)),
    ("fs", Length::Decimals(15)),
    ("as", Length::Decimals(18)),
];

impl Unit {
    /// The unit with this spelling, such as `25us` or `D/2`, which is `12h`; a type without one counts
    /// unknown units.
    pub(super) fn of(spelling: Option<&str>) -> Option<Unit> {
        const UNKNOWN: Unit = Unit { name: "", length: Length::Unknown, multiple: 1 };
        let Some(spelling) = spelling else { return Some(UNKNOWN) };
        let at = spelling.find(|c: char| !c.is_ascii_digit())?;
        let (multiple, name) = spelling.split_at(at);
        let (name, divisor) = name.split_once('/').unwrap_or((name, "1"));
        let place = UNITS.iter().position(|(unit, _)| *unit == name)?;
        let multiple: i64 = if multiple.is_empty() { 1 } else { multiple.parse().ok()? };
        let (place, times) = match divisor.parse().ok()? {
            1 => (place, 1),
            divisor => part(place, divisor)?,
        };
        let (name, length) = *UNITS.get(place)?;
        Some(Unit { name, length, multiple: multiple.checked_mul(times)? })
    }

    /// A date in the form of ISO 8601, as precise as the unit.
    pub(super) fn date(&self, steps: i64) -> Value {
        if steps == NONE {
            return Value::from("NaT");
        }
        let count = i128::from(steps) * i128::from(self.multiple);
        let text = match self.length {
            Length::Unknown => return Value::Int(count),
            Length::Months(months) => {
                let month = count * months;
                let (year, month) = (1970 + month.div_euclid(12), month.rem_euclid(12) + 1);
                let year = year_text(year);
                if months == 12 { year } else { format!("{year}-{month:02}") }
            }
            Length::Days(days) => day(count * days),
            Length::Hours => {
                let hour = count.rem_euclid(24);
                format!("{}T{hour:02}", day(count.div_euclid(24)))
            }
            Length::Minutes => {
                let (hour, minute) = (count.rem_euclid(1440) / 60, count.rem_euclid(60));
                format!("{}T{hour:02}:{minute:02}", day(count.div_euclid(1440)))
            }
            Length::Decimals(decimals) => {
                let second = 10_i128.pow(decimals);
                let (seconds, part) = (count.div_euclid(second), count.rem_euclid(second));
                let clock = seconds.rem_euclid(DAY);
                let (hour, minute, rest) = (clock / 3600, clock / 60 % 60, clock % 60);
                let mut text = day(seconds.div_euclid(DAY));
                let _ = write!(text, "T{hour:02}:{minute:02}:{rest:02}");
                if decimals > 0 {
                    let _ = write!(text, ".{part:0width$}", width = decimals as usize);
                }
                text
            }
        };
        Value::from(text.as_str())
    }

    /// A time span with its unit, such as `75 us`.
    pub(super) fn span(&self, steps: i64) -> Value {
        let count = i128::from(steps) * i128::from(self.multiple);
        match self.length {
            _ if steps == NONE => Value::from("NaT"),
            Length::Unknown => Value::Int(count),
            _ => Value::from(format!("{count} {}", self.name).as_str()),
        }
    }
}

/// The unit, by its place in [`UNITS`], of which a whole number makes up a part of another one, and
/// that number. NumPy looks for it up to three units down. Of a week it finds one for every divisor:
/// no years.
fn part(place: usize, divisor: i64) -> Option<(usize, i64)> {
    let parts: &[(usize, i64)] = match place {
        0 => &[(1, 12), (2, 52), (3, 365)],
        1 => &[(2, 4), (3, 30), (4, 720)],
        2 => &[(3, 7), (4, 168), (5, 10_080), (0, 0)],
        3 => &[(4, 24), (5, 1440), (6, 86_400)],
        4 => &[(5, 60), (6, 3600)],
        5 => &[(6, 60), (7, 60_000)],
        11 => &[(12, 1000)],
        12 => &[],
        _ => &[(place + 1, 1000), (place + 2, 1_000_000)],
    };
    let found = parts.iter().find(|(_, count)| count.checked_rem(divisor) == Some(0))?;
    Some((found.0, found.1 / divisor))
}

/// A day in the Gregorian calendar, counted from 1970-01-01.
///
/// Years begin in March here, so that the day that some lack is the last one. Their cycle is 400
/// years, or 146,097 days.
fn day(since: i128) -> String {
    let since = since + 719_468;
    let (cycle, day) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * cycle + year + i128::from(month <= 2);
    format!("{}-{month:02}-{day:02}", year_text(year))
}

fn year_text(year: i128) -> String {
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}", year.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    fn date(unit: &str, steps: i64) -> String {
        Unit::of(Some(unit)).expect("a unit").date(steps).to_string()
    }

    /// The texts of `numpy.datetime_as_string`.
    #[test]
    fn dates_have_the_precision_of_their_unit() {
        for (unit, steps, text) in [
            ("Y", 50, "2020"),
            ("10Y", -1, "1960"),
            ("M", -1, "1969-12"),
            ("M", 602, "2020-03"),
            ("W", 1, "1970-01-08"),
            ("D", -719_528, "0000-01-01"),
            ("D", -719_529, "-0001-12-31"),
            ("D", 18_321, "2020-02-29"),
            ("D", 11_016, "2000-02-29"),
            ("D", -25_508, "1900-03-01"),
            ("h", -1, "1969-12-31T23"),
            ("m", 61, "1970-01-01T01:01"),
            ("s", 951_827_696, "2000-02-29T12:34:56"),
            ("ms", -1, "1969-12-31T23:59:59.999"),
            ("25us", 3, "1970-01-01T00:00:00.000075"),
            ("ns", 1, "1970-01-01T00:00:00.000000001"),
            ("as", i64::MAX, "1970-01-01T00:00:09.223372036854775807"),
            ("Y", i64::MAX, "9223372036854777777"),
            ("s", i64::MIN, "NaT"),
            // Parts of units.
            ("D/2", 3, "1970-01-02T12"),
            ("h/4", -3, "1969-12-31T23:15"),
            ("D/5", -1, "1969-12-31T19:12"),
            ("M/2", -3, "1969-11-20"),
            ("Y/5", 1, "1970-03-15"),
            ("2D/3", 1, "1970-01-01T16"),
            ("m/1000", 1, "1970-01-01T00:00:00.060"),
            ("ps/1000000", 1, "1970-01-01T00:00:00.000000000000000001"),
            ("W/11", 9, "1970"),
        ] {
            assert_eq!(date(unit, steps), format!("\"{text}\""), "{unit} {steps}");
        }
        // The last second that each day has, over two cycles of years.
        let mut last = String::new();
        for day in -150_000..150_000 {
            let text = date("D", day);
            assert!(day <= -150_000 || text > last || text.starts_with("\"-"), "{last} {text}");
            last = text;
        }
    }

    #[test]
    fn count_of_unknown_units_is_a_number() {
        assert_eq!(Unit::of(None).expect("one").date(7), Value::Int(7));
        assert_eq!(Unit::of(Some("D/12")).expect("one").span(7).to_string(), "\"14 h\"");
        for spelling in ["eons", "s/3", "as/2", "D/0", "5h/7"] {
            assert_eq!(Unit::of(Some(spelling)), None, "{spelling}");
        }
        assert_eq!(
            Unit::of(Some("2147483647W")).expect("one").span(i64::MAX).to_string(),
            "\"19807040619342712359383728129 W\""
        );
    }
}
