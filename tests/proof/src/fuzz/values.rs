//! JSON without a schema. Its source is preserved exactly, and its numbers are read as `serde_json` reads them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use sdk_core::{Number, RawJson, Record, Text};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::stage::is_tidy;
use crate::json::Json;

pub(super) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    let raw = match text.parse::<RawJson>() {
        Ok(raw) => raw,
        Err(error) => {
            assert!(!is_json, "{error}");
            return is_tidy(&error);
        }
    };
    assert!(is_json);
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
    assert_eq!((raw.as_str(), raw.to_string().as_str()), (trimmed, trimmed));
    assert_eq!(serde_json::to_string(&raw).expect("it is JSON"), trimmed);
    assert_eq!(RawJson::encode(&raw).expect("it is JSON"), raw);
    if let Err(error) = raw.to_value() {
        is_tidy(&error);
        assert!(serde_json::from_str::<Value>(text).is_err());
    }
    same::<Value>(&raw);
    same::<BTreeMap<String, Option<Text>>>(&raw);
    same::<Vec<(u8, Option<f64>)>>(&raw);
    number(trimmed);
    let record = Record::from(raw);
    let is_object = trimmed.starts_with('{');
    assert_eq!(serde_json::from_str::<Record>(text).is_ok(), is_object);
    let Ok(members) = record.members() else {
        return;
    };
    // If a name occurs twice, a record returns the first value.
    let names: Vec<&str> = members.iter().map(|(name, _)| name).take(16).collect();
    for name in names {
        let member = members.get(name).expect("the name exists");
        assert_eq!(record.raw_member(name).as_ref(), Some(member));
        let found = Json::read(member.as_str());
        let string = found.as_ref().and_then(Json::text);
        assert_eq!(record.text(name).as_deref(), string);
        if let Err(error) = record.get::<u8>(name) {
            is_tidy(&error);
            let is_telling = |it: &str| it.len() > 12 && it.contains(|c: char| c.is_ascii_digit());
            let quoted = string.filter(|it| is_telling(it) && !name.contains(*it));
            let hidden = quoted.is_none_or(|it| !error.to_string().contains(it));
            assert!(hidden, "{error}");
        }
    }
    let written = serde_json::to_string(&members).expect("it is JSON");
    assert_eq!(Json::read(&written), Json::read(text));
}

/// Checks that `RawJson` and `serde_json` decode a value equally.
fn same<T: DeserializeOwned + PartialEq + Debug>(raw: &RawJson) {
    let read = serde_json::from_str::<T>(raw.as_str());
    assert_eq!(raw.decode::<T>().ok(), read.ok());
}

fn number(text: &str) {
    let parsed = text.parse::<Number>();
    let of_json = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    assert_eq!(parsed.is_ok(), of_json);
    let Ok(number) = parsed else { return };
    let written = serde_json::to_string(&number).expect("it is JSON");
    assert_eq!((number.as_str(), &*written), (text, text));
    let read: Option<serde_json::Number> = serde_json::from_str(text).ok();
    // `serde_json` reads `-0` as a float.
    if text != "-0" {
        let integer = read.as_ref().and_then(serde_json::Number::as_i64);
        assert_eq!(number.as_i64(), integer);
    }
    assert_eq!(number.as_f64().is_some(), read.is_some());
    if let (Some(one), Some(other)) = (number.as_f64(), read.and_then(|it| it.as_f64())) {
        assert!((one - other).abs() <= one.abs() * 1e-14, "{one} {other}");
    }
}
