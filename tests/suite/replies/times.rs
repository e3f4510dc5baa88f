//! Instants and dates: texts of RFC 3339, held to what jiff says of them wherever jiff reads them.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sdk_core::{Date, ErrorKind, Timestamp, ZonedTime};
use serde::Serialize;
use serde::de::DeserializeOwned;

const YEARS: [&str; 10] = [
    "0000", "0004", "1582", "1900", "1969", "1970", "2000", "2024", "2026", "9999",
];
const DAYS: [&str; 14] = [
    "01-01", "02-28", "02-29", "02-30", "03-01", "04-30", "04-31", "06-15", "11-00", "12-30",
    "12-31", "12-32", "00-10", "13-01",
];
const TIMES: [&str; 8] = [
    "00:00:00", "09:30:45", "23:59:59", "24:00:00", "23:60:00", "23:59:60", "23:59:61", "9:00:00",
];
const FRACTIONS: [&str; 7] = ["", ".0", ".5", ".50", ".000000001", ".999999999", "."];
const ZONES: [&str; 8] = [
    "Z", "z", "+00:00", "-00:00", "+05:30", "-23:59", "+05:60", "",
];

/// The last one that jiff holds.
const LAST_OF_JIFF: &str = "9999-12-30T22:00:00.999999999Z";

fn parsed(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Everything that reads a text reads this one, and gives it back as it is.
fn is_kept<T>(text: &str)
where
    T: std::str::FromStr<Err = sdk_core::Error>
        + Serialize
        + DeserializeOwned
        + Debug
        + ToString
        + AsRef<str>,
{
    let json = format!("{text:?}");
    let given: T = text.parse().unwrap();
    let received: T = serde_json::from_str(&json).unwrap();
    for value in [&given, &received] {
        assert_eq!(value.as_ref(), text);
        assert_eq!(value.to_string(), text);
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert!(format!("{value:?}").contains(&json));
    }
}

/// Every combination of the parts above.
fn notations() -> impl Iterator<Item = String> {
    let times = TIMES
        .iter()
        .flat_map(|time| FRACTIONS.map(|fraction| format!("{time}{fraction}")))
        .flat_map(|time| ZONES.map(|zone| format!("{time}{zone}")))
        .collect::<Vec<_>>();
    YEARS
        .iter()
        .flat_map(|year| DAYS.map(|day| format!("{year}-{day}")))
        .flat_map(move |day| {
            let joined = times.iter().map(move |time| format!("{day}T{time}"));
            joined.collect::<Vec<_>>()
        })
}

#[test]
fn an_instant_is_one_where_jiff_says_so_and_the_same() {
    let (mut read, mut beyond) = (0, 0);
    let last: jiff::Timestamp = LAST_OF_JIFF.parse().unwrap();
    for text in notations() {
        let received = serde_json::from_str::<Timestamp>(&format!("{text:?}"));
        match (text.parse::<jiff::Timestamp>(), received) {
            (Ok(theirs), Ok(ours)) => {
                assert_eq!(jiff::Timestamp::try_from(&ours).unwrap(), theirs, "{text}");
                let time = SystemTime::try_from(&ours).unwrap();
                assert_eq!(time, SystemTime::from(theirs), "{text}");
                // UTC may name a year that four digits cannot.
                if Timestamp::from(theirs).is_well_formed() {
                    assert_eq!(ours, theirs.into(), "{text}");
                    assert_eq!(Timestamp::from(time), ours, "{text}");
                }
                if ours.is_well_formed() {
                    is_kept::<Timestamp>(&text);
                }
                read += 1;
            }
            (Err(_), Ok(ours)) => {
                assert!(ours > last.into(), "{text}");
                let error = jiff::Timestamp::try_from(&ours).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Value);
                assert!(error.message().contains(&text), "{error}");
                beyond += 1;
            }
            (Err(_), Err(_)) => assert!(text.parse::<Timestamp>().is_err(), "{text}"),
            (Ok(_), Err(error)) => panic!("{text}: {error}"),
        }
    }
    assert!(read > 10_000 && beyond > 100, "{read} and {beyond}");
}

#[test]
fn instants_compare_as_those_of_jiff_do() {
    let texts: Vec<String> = notations()
        .filter(|text| text.parse::<jiff::Timestamp>().is_ok() && !text.contains(":60"))
        .enumerate()
        .filter(|(at, text)| at % 53 == 0 || text.starts_with("2024-02"))
        .map(|(_, text)| text)
        .collect();
    let both = |text: &String| (parsed(text), text.parse::<jiff::Timestamp>().unwrap());
    let instants: Vec<_> = texts.iter().map(both).collect();
    let mut equal = 0;
    for (ours, theirs) in &instants {
        for (our_other, their_other) in &instants {
            let order = theirs.cmp(their_other);
            assert_eq!(ours.cmp(our_other), order, "{ours} and {our_other}");
            assert_eq!(ours == our_other, order.is_eq(), "{ours} and {our_other}");
            if order.is_eq() {
                assert_eq!(hash(ours), hash(our_other), "{ours} and {our_other}");
                equal += usize::from(ours.as_str() != our_other.as_str());
            }
        }
    }
    assert!(equal > 100, "many have several notations");
}

#[test]
fn what_no_other_type_holds_keeps_its_place_among_all_instants() {
    let ascending = [
        "0000-01-01T00:00:00+23:59",
        "0000-01-01T00:00:00Z",
        "2016-12-31T23:59:59.999999999Z",
        "2016-12-31T23:59:59.9999999990001Z",
        "2017-01-01T00:00:00Z",
        "9999-12-30T22:00:00.999999999Z",
        "9999-12-31T23:59:59.999999999998Z",
        "9999-12-31T23:59:59.999999999999Z",
        "9999-12-31T23:59:59-23:59",
    ];
    let instants = ascending.map(parsed);
    assert!(instants.is_sorted_by(|left, right| left < right));
    for text in ascending {
        is_kept::<Timestamp>(text);
    }
    // A leap second is the second before it, as in `SystemTime`.
    let leap = parsed("2016-12-31T15:59:60.25-08:00");
    assert_eq!(leap, parsed("2016-12-31T23:59:59.25Z"));
    is_kept::<Timestamp>(leap.as_str());
    // What is not an instant comes last, and is equal to itself.
    let other = Timestamp::from("0000");
    assert!(instants.iter().all(|instant| *instant < other));
    assert_eq!(other, Timestamp::from("0000".to_owned()));
    assert_ne!(other, Timestamp::from("0001"));

    let fine = &instants[3];
    assert_eq!(
        SystemTime::try_from(fine).unwrap_err().kind(),
        ErrorKind::Value
    );
    assert!(jiff::Timestamp::try_from(fine).is_err());
    let endless = format!("2026-01-15T09:00:00.{}Z", "1".repeat(100_000));
    is_kept::<Timestamp>(&endless);
    let error = SystemTime::try_from(&parsed(&endless)).unwrap_err();
    assert!(error.to_string().len() < 1_000, "a line that is bounded");
    // Zeros are not digits that anybody misses.
    let zeros = parsed("2016-12-31T23:59:59.999999999000Z");
    assert!(SystemTime::try_from(&zeros).is_ok());
    assert!(jiff::Timestamp::try_from(&zeros).is_ok());
    assert!(SystemTime::try_from(&other).is_err());
}

#[test]
fn one_wrong_byte_is_one_too_many() {
    let right = "2024-02-29T23:59:59.5+05:30";
    let mut accepted = 0;
    for at in 0..=right.len() {
        for byte in 0x20..0x7f_u8 {
            let byte = char::from(byte);
            let replaced = right.get(at + 1..).map(|rest| (rest, &right[..at]));
            let replaced = replaced.map(|(rest, start)| format!("{start}{byte}{rest}"));
            let inserted = format!("{}{byte}{}", &right[..at], &right[at..]);
            for text in replaced.into_iter().chain([inserted]) {
                let received: Result<Timestamp, _> = serde_json::from_value(text.clone().into());
                let given: Result<Timestamp, _> = text.parse();
                assert!(given.is_err() || received.is_ok(), "{text}");
                let Ok(received) = received else { continue };
                assert_eq!(given.is_ok(), !text.contains(' '), "{text}");
                let theirs: jiff::Timestamp = text.parse().unwrap();
                assert_eq!(received, theirs.into(), "{text}");
                accepted += 1;
            }
        }
        assert!(right[..at].parse::<Timestamp>().is_err() || at == right.len());
    }
    assert!(accepted > 100, "digits do take the place of digits");
}

#[test]
fn a_caller_is_held_to_the_letter_and_a_server_to_the_instant() {
    for text in [
        "2026-01-15 09:00:00Z",
        "2026-01-15T09:00:60Z",
        "2026-01-15T23:59:60Z",
        "2016-12-31T23:59:60+01:00",
    ] {
        let received: Timestamp = serde_json::from_value(text.into()).unwrap();
        assert_eq!(received.as_str(), text);
        assert!(!received.is_well_formed());

        let error = text.parse::<Timestamp>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            error.message(),
            format!(
                "`Timestamp` must be an RFC 3339 date-time, such as 2026-01-15T09:00:00Z: got {text:?}"
            )
        );
    }
    for text in [
        "",
        "tomorrow",
        "2026-01-15",
        "9999-12-31Z",
        "é00:00",
        "2026-01-15T09:00Z",
        "2026-01-15T09:00:00",
        "2026-01-15T09:00:00,5Z",
        "2026-01-15T09:00:00+0530",
        "2026-01-15T09:00:00+05",
        "2026-01-15T09:00:00+24:00",
        "2026-01-15T09:00:00Z[UTC]",
        "20260115T090000Z",
        "+002026-01-15T09:00:00Z",
        "1900-02-29T09:00:00Z",
        "２０２６-01-15T09:00:00Z",
    ] {
        assert!(text.parse::<Timestamp>().is_err(), "{text}");
        let received = serde_json::from_value::<Timestamp>(text.into());
        let error = received.unwrap_err().to_string();
        assert!(error.ends_with("expected an RFC 3339 date-time"), "{error}");
    }
    assert!(serde_json::from_str::<Timestamp>("1768467600").is_err());
}

#[test]
fn the_clock_of_the_system_gives_instants_in_utc() {
    let since = |seconds, nanos| UNIX_EPOCH + Duration::new(seconds, nanos);
    for (time, text) in [
        (since(0, 0), "1970-01-01T00:00:00Z"),
        (since(1_768_467_600, 500_000_000), "2026-01-15T09:00:00.5Z"),
        (
            UNIX_EPOCH - Duration::from_nanos(1),
            "1969-12-31T23:59:59.999999999Z",
        ),
        (UNIX_EPOCH - Duration::from_secs(1), "1969-12-31T23:59:59Z"),
        (since(253_402_300_799, 0), "9999-12-31T23:59:59Z"),
        (
            UNIX_EPOCH - Duration::from_secs(62_167_219_200),
            "0000-01-01T00:00:00Z",
        ),
    ] {
        let timestamp = Timestamp::from(time);
        assert_eq!(timestamp.as_str(), text);
        assert!(timestamp.is_well_formed());
        assert_eq!(SystemTime::try_from(&timestamp).unwrap(), time);
    }
    // What four digits of a year cannot say is seen when it is sent.
    for time in [
        since(253_402_300_800, 0),
        UNIX_EPOCH - Duration::from_secs(62_167_219_201),
    ] {
        assert!(!Timestamp::from(time).is_well_formed());
    }
    assert!(!Timestamp::from(jiff::Timestamp::MIN).is_well_formed());
}

#[test]
fn a_date_is_one_where_jiff_says_so_and_the_same() {
    let mut dates = Vec::new();
    for text in YEARS
        .iter()
        .flat_map(|year| DAYS.map(|day| format!("{year}-{day}")))
    {
        let theirs = text.parse::<jiff::civil::Date>();
        assert_eq!(text.parse::<Date>().is_ok(), theirs.is_ok(), "{text}");
        let Ok(theirs) = theirs else { continue };
        is_kept::<Date>(&text);
        let date: Date = text.parse().unwrap();
        assert_eq!(jiff::civil::Date::try_from(&date).unwrap(), theirs);
        assert_eq!(date, theirs.into());
        dates.push((date, theirs));
    }
    for (ours, theirs) in &dates {
        for (our_other, their_other) in &dates {
            assert_eq!(ours.cmp(our_other), theirs.cmp(their_other));
            assert_eq!(hash(ours) == hash(our_other), theirs == their_other);
        }
    }
    for text in [
        "",
        "2026-1-15",
        "2026-01-15T00:00:00",
        "20260115",
        "12026-01-15",
    ] {
        let error = text.parse::<Date>().unwrap_err();
        assert_eq!(
            error.message(),
            format!("`Date` must be an RFC 3339 date, such as 2026-01-15: got {text:?}")
        );
        assert!(serde_json::from_value::<Date>(text.into()).is_err());
        assert!(jiff::civil::Date::try_from(&Date::from(text)).is_err());
    }
    assert!(!Date::from(jiff::civil::Date::MIN).is_well_formed());
}

#[test]
fn a_zoned_time_of_jiff_has_an_instant_and_the_name_of_its_zone() {
    let zone = |zone: jiff::tz::TimeZone| jiff::Timestamp::UNIX_EPOCH.to_zoned(zone);
    let utc: &dyn ZonedTime = &zone(jiff::tz::TimeZone::UTC);
    assert_eq!(utc.timestamp().as_str(), "1970-01-01T00:00:00Z");
    assert_eq!(utc.time_zone(), Some("UTC"));
    let fixed: &dyn ZonedTime = &zone(jiff::tz::offset(2).to_time_zone());
    assert_eq!(fixed.timestamp(), utc.timestamp());
    assert_eq!(fixed.time_zone(), None);
}
