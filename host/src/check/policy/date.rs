//! Calendar days.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day of the Gregorian calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i64,
    month: u8,
    day: u8,
}

impl Date {
    /// The day with this date, which must exist.
    pub(super) fn new(year: u16, month: u8, day: u8) -> Self {
        Date { year: year.into(), month, day }
    }

    /// Today.
    pub(super) fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Date::of_day((since.as_secs() / 86_400).cast_signed())
    }

    /// The day `days` days after 1970-01-01.
    pub(super) fn of_day(days: i64) -> Self {
        // Years start in March here, so that the leap day is their last.
        let days = days + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let (month, day) = ((month + 2) % 12 + 1, day - (153 * month + 2) / 5 + 1);
        let year = year + era * 400 + i64::from(month <= 2);
        let small = |n: i64| u8::try_from(n).unwrap_or(u8::MAX);
        Date { year, month: small(month), day: small(day) }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString as _;

    #[test]
    fn day_numbers_convert_to_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (20_453, "2025-12-31"),
        ] {
            assert_eq!(Date::of_day(day).to_string(), date);
        }
        assert!(Date::today() > Date::of_day(20_000));
    }
}
