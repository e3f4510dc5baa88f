//! JSON that is compared by its meaning, but for numbers, which are compared by their digits.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use sdk_core::{Members, RawJson, Record};
use sdk_crm::types::PersonReference;

use crate::support::assert_says;

/// A JSON value; a number is the text that it came as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text that is known to be JSON.
    pub(super) fn parse(text: &str) -> Json {
        let text = text.trim();
        match text.as_bytes()[0] {
            b'{' => {
                let Pairs(members) = serde_json::from_str(text).unwrap();
                let member =
                    |(name, value): (String, Box<RawValue>)| (name, Json::parse(value.get()));
                Json::Object(members.into_iter().map(member).collect())
            }
            b'[' => {
                let items: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap();
                Json::Array(items.iter().map(|item| Json::parse(item.get())).collect())
            }
            b'"' => Json::Text(serde_json::from_str(text).unwrap()),
            b'n' => Json::Null,
            b't' | b'f' => Json::Bool(text == "true"),
            _ => Json::Number(text.to_owned()),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(digits) => f.write_str(digits),
            Json::Text(text) => f.write_str(&quoted(text)),
            Json::Array(items) => {
                let items: Vec<String> = items.iter().map(Json::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
            Json::Object(members) => {
                let member = |(name, value): &(String, Json)| format!("{}:{value}", quoted(name));
                let members: Vec<String> = members.iter().map(member).collect();
                write!(f, "{{{}}}", members.join(","))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// The members of an object in order, equal names included.
struct Pairs(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Pairs(members))
            }
        }

        deserializer.deserialize_map(PairsVisitor)
    }
}

#[test]
fn reading_and_writing_keeps_digits_order_and_equal_names() {
    let text =
        r#"{"b":[1.10,-0,1E+2,123456789012345678901234567890],"a":null,"a":{"\u0022":true}}"#;

    assert_eq!(
        Json::parse(text).to_string(),
        text.replace("\\u0022", "\\\"")
    );
}

#[test]
fn a_member_is_there_or_not_whatever_else_is() {
    let record: Record = r#"{"name":"Ann","note":null}"#.parse().unwrap();
    assert_eq!(record.get::<String>("name").unwrap().unwrap(), "Ann");
    assert_eq!(record.get::<String>("note").unwrap(), None);
    assert_eq!(record.get::<String>("other").unwrap(), None);
    let odd = serde_json::from_str::<PersonReference>("1").unwrap_err();
    assert_says(&odd, &["expected a string"]);
    let odd: Record = "[1]".parse().unwrap();
    let error = odd.get::<String>("name").unwrap_err();
    assert_says(&error, &["member `name`", "found an array of 3 bytes"]);

    let raw = RawJson::from(record);
    assert_eq!(raw.as_str(), r#"{"name":"Ann","note":null}"#);
    assert_ne!(raw, RawJson::null());

    let mut members = Members::from_iter([("a", raw.clone()), ("b", RawJson::null())]);
    assert!(!members.is_empty());
    assert_eq!(members.remove("c"), None);
    assert_eq!(members.remove("a"), Some(raw));
    assert_eq!(
        members.iter().collect::<Vec<_>>(),
        [("b", &RawJson::null())]
    );
    members.remove("b");
    assert!(members.is_empty());
}
