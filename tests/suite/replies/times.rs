//! Instants and dates in RFC 3339 notation, compared with jiff where jiff can parse them.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, Hash};
use std::str::FromStr;
use std::time::SystemTime;

use sdk_core::{Date, Error, ErrorKind, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

const YEARS: [&str; 7] = ["0000", "1900", "1969", "1970", "2000", "2024", "9999"];
const DAYS: [&str; 12] = [
    "01-01", "02-28", "02-29", "02-30", "03-01", "04-31", "11-00", "12-30", "12-31", "12-32",
    "00-10", "13-01",
];
const TIMES: [&str; 6] = [
    "00:00:00", "09:30:45", "23:59:59", "24:00:00", "23:60:00", "23:59:60",
];
const FRACTIONS: [&str; 6] = ["", ".0", ".5", ".50", ".999999999", "."];
const ZONES: [&str; 7] = ["Z", "z", "-00:00", "+05:30", "-23:59", "+05:60", ""];

/// Returns all combinations of these parts, and a notation with one additional or changed character at each position.
fn notations() -> Vec<String> {
    let append = |texts: Vec<String>, between: &str, parts: &[&str]| -> Vec<String> {
        let with = |text: String| {
            parts
                .iter()
                .map(move |part| format!("{text}{between}{part}"))
        };
        texts.into_iter().flat_map(with).collect()
    };
    let mut all = append(days(), "T", &TIMES);
    all = append(append(all, "", &FRACTIONS), "", &ZONES);
    let right = "2024-02-29T23:59:59.5+05:30";
    for at in 0..right.len() {
        for byte in (' '..='~').map(String::from) {
            let (start, end) = right.split_at(at);
            all.extend([
                format!("{start}{byte}{end}"),
                format!("{start}{byte}{}", &end[1..]),
            ]);
        }
    }
    all
}

fn days() -> Vec<String> {
    let of = |year: &&str| DAYS.map(|day| format!("{year}-{day}"));
    YEARS.iter().flat_map(of).collect()
}

/// Decodes a string as a server sends it.
fn received<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(text.into())
}

/// Checks that a string is preserved, whether a caller or a server provides it.
fn assert_preserved<T>(text: &str)
where
    T: FromStr<Err = Error> + Serialize + DeserializeOwned + Debug + ToString + AsRef<str>,
{
    for value in [text.parse::<T>().unwrap(), received(text).unwrap()] {
        assert_eq!((value.as_ref(), &*value.to_string()), (text, text));
        assert_eq!(serde_json::to_value(&value).unwrap(), text);
        assert!(format!("{value:?}").contains(&format!("{text:?}")));
    }
}

/// Checks that equality, order and hash of values match the instants or dates they represent.
fn assert_same_order<T: Ord + Hash + Debug, U: Ord>(mut values: Vec<(T, U)>) {
    values.sort_by(|left, right| left.0.cmp(&right.0));
    let hash = |value: &T| BuildHasherDefault::<DefaultHasher>::default().hash_one(value);
    for pair in values.windows(2) {
        let [(left, ours), (right, theirs)] = pair else {
            unreachable!()
        };
        let about = format!("{left:?} and {right:?}");
        assert_eq!(left.cmp(right), ours.cmp(theirs), "{about}");
        assert_eq!((left == right), (ours == theirs), "{about}");
        assert!(left != right || hash(left) == hash(right), "{about}");
    }
}

#[test]
fn jiff_reads_the_same_instants() {
    let (mut instants, mut beyond) = (Vec::new(), 0);
    let last: Timestamp = "9999-12-30T22:00:00.999999999Z".parse().unwrap();
    let notations = notations();
    for (at, text) in notations.iter().enumerate() {
        let parsed = text.parse::<Timestamp>();
        match (text.parse::<jiff::Timestamp>(), received::<Timestamp>(text)) {
            (Ok(theirs), Ok(ours)) => {
                assert_eq!(jiff::Timestamp::try_from(&ours).unwrap(), theirs, "{text}");
                let time = SystemTime::try_from(&ours).unwrap();
                assert_eq!(time, SystemTime::from(theirs), "{text}");
                // In UTC, the year may need more than four digits. Such an instant is rejected when it is sent.
                let [by_jiff, by_time] = [theirs.into(), time.into()] as [Timestamp; 2];
                assert_eq!(by_jiff.is_well_formed(), by_time.is_well_formed(), "{text}");
                if by_jiff.is_well_formed() {
                    assert_eq!((&by_jiff, by_jiff.as_str()), (&ours, by_time.as_str()));
                }
                assert_eq!(parsed.is_ok(), ours.is_well_formed(), "{text}");
                if parsed.is_ok() {
                    assert_preserved::<Timestamp>(text);
                }
                instants.push((ours, theirs));
            }
            (Err(_), Ok(ours)) => {
                assert!(ours > last, "{text}");
                let error = jiff::Timestamp::try_from(&ours).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Value);
                assert!(error.message().contains(text), "{error}");
                beyond += 1;
            }
            (Err(_), Err(_)) => assert!(parsed.is_err(), "{text}"),
            // jiff also accepts the notations at the end of the list.
            (Ok(_), Err(error)) => assert!(at > notations.len() / 2, "{text}: {error}"),
        }
    }
    assert!(instants.len() > 3_000 && beyond > 50, "{beyond}");
    assert_same_order(instants);
}

#[test]
fn an_instant_beyond_other_types_keeps_its_order() {
    let ascending = [
        "0000-01-01T00:00:00+23:59",
        "0000-01-01T00:00:00Z",
        "2016-12-31T23:59:59.999999999000Z",
        "2016-12-31T23:59:59.9999999990001Z",
        "2017-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999999998Z",
        "9999-12-31T23:59:59.999999999999Z",
        "9999-12-31T23:59:59-23:59",
    ];
    let instants = ascending.map(|text| {
        assert_preserved::<Timestamp>(text);
        Timestamp::from(text)
    });
    assert!(instants.is_sorted_by(|left, right| left < right));
    // Trailing zeros don't count as lost digits.
    for (at, is_held) in [(2, true), (3, false)] {
        assert_eq!(jiff::Timestamp::try_from(&instants[at]).is_ok(), is_held);
        assert_eq!(SystemTime::try_from(&instants[at]).is_ok(), is_held);
    }
    let endless = format!("2026-01-15T09:00:00.{}Z", "1".repeat(100_000));
    let error = SystemTime::try_from(&Timestamp::from(endless)).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.to_string().len() < 1_000);
    // A leap second equals the second before it, as in `SystemTime`.
    let leap: Timestamp = "2016-12-31T15:59:60.25-08:00".parse().unwrap();
    assert_eq!(leap, Timestamp::from("2016-12-31T23:59:59.25Z"));
    // A string that isn't an instant sorts last and equals only itself.
    let other = Timestamp::from("0000");
    assert!(instants.iter().all(|instant| *instant < other));
    assert!(other == Timestamp::from("0000") && other != Timestamp::from("0001"));
    assert!(SystemTime::try_from(&other).is_err());
    assert!(!Timestamp::from(jiff::Timestamp::MIN).is_well_formed());
}

#[test]
fn callers_need_strict_rfc_3339_and_servers_any_readable_instant() {
    let from_server = [
        "2026-01-15 09:00:00Z",
        "2026-01-15T09:00:60Z",
        "2026-01-15T23:59:60Z",
        "2016-12-31T23:59:60+01:00",
    ];
    // jiff accepts these as instants.
    let invalid = [
        "2026-01-15T09:00Z",
        "2026-01-15T09:00:00,5Z",
        "2026-01-15T09:00:00+0530",
        "2026-01-15T09:00:00Z[UTC]",
        "+002026-01-15T09:00:00Z",
    ];
    for text in from_server.iter().chain(&invalid) {
        let error = text.parse::<Timestamp>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let rule = "must be an RFC 3339 date-time, such as 2026-01-15T09:00:00Z";
        assert_eq!(error.message(), format!("`Timestamp` {rule}: got {text:?}"));
    }
    for text in from_server {
        assert_eq!(received::<Timestamp>(text).unwrap().as_str(), text);
    }
    for text in invalid {
        let error = received::<Timestamp>(text).unwrap_err().to_string();
        assert!(error.ends_with("expected an RFC 3339 date-time"), "{error}");
    }
}

#[test]
fn dates_are_parsed_like_jiff_parses_them() {
    let mut dates = Vec::new();
    for text in days() {
        let theirs = text.parse::<jiff::civil::Date>();
        assert_eq!(text.parse::<Date>().is_ok(), theirs.is_ok(), "{text}");
        let Ok(theirs) = theirs else { continue };
        assert_preserved::<Date>(&text);
        let date: Date = text.parse().unwrap();
        assert_eq!(jiff::civil::Date::try_from(&date).unwrap(), theirs);
        assert_eq!(date, theirs.into());
        dates.push((date, theirs));
    }
    assert_same_order(dates);
    for text in [
        "",
        "2026-1-15",
        "2026-01-15T00:00:00",
        "20260115",
        "12026-01-15",
    ] {
        let error = text.parse::<Date>().unwrap_err();
        let rule = "must be an RFC 3339 date, such as 2026-01-15";
        assert_eq!(error.message(), format!("`Date` {rule}: got {text:?}"));
        assert!(received::<Date>(text).is_err());
        assert!(jiff::civil::Date::try_from(&Date::from(text)).is_err());
    }
    assert!(!Date::from(jiff::civil::Date::MIN).is_well_formed());
}
