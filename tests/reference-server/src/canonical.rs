//! Two texts of JSON that parse to the same have one canonical form. Numbers are compared exactly, whatever their size:
//! an amount never touches floating point.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use serde_json::value::RawValue;

/// The canonical form of a text that is JSON: members in order and without null ones, no spacing, plain numbers.
pub(crate) fn canonical(json: &[u8]) -> serde_json::Result<String> {
    let mut text = String::new();
    write(serde_json::from_slice(json)?, &mut text)?;
    Ok(text)
}

fn write(raw: &RawValue, out: &mut String) -> serde_json::Result<()> {
    let json = raw.get();
    match json.as_bytes().first() {
        Some(b'{') => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(json)?;
            out.push('{');
            for (name, value) in members
                .into_iter()
                .filter(|(_, value)| value.get() != "null")
            {
                let _ = write!(out, "{}:", Value::from(name));
                write(value, out)?;
                out.push(',');
            }
            out.push('}');
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(json)?;
            out.push('[');
            for item in items {
                write(item, out)?;
                out.push(',');
            }
            out.push(']');
        }
        Some(b'"') => {
            let _ = write!(
                out,
                "{}",
                Value::from(serde_json::from_str::<String>(json)?)
            );
        }
        Some(b'-' | b'0'..=b'9') => out.push_str(&number(json)),
        _ => out.push_str(json),
    }
    Ok(())
}

/// A number as its significant digits and a power of ten: `1.10` is `11e-1`, and so is `1.1`.
fn number(text: &str) -> String {
    let (sign, plain) = text
        .strip_prefix('-')
        .map_or(("", text), |plain| ("-", plain));
    let (mantissa, power) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let dropped = digits.len() - significant.len();
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    // A power beyond an i64 stands for a number that no reader of JSON takes.
    let power: i64 = power.parse().unwrap_or(i64::MAX);
    let shift =
        i64::try_from(dropped).unwrap_or(i64::MAX) - i64::try_from(fraction.len()).unwrap_or(0);
    format!("{sign}{significant}e{}", power.saturating_add(shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        canonical(one.as_bytes()).unwrap() == canonical(other.as_bytes()).unwrap()
    }

    #[test]
    fn order_spacing_escapes_and_nulls_do_not_matter() {
        assert!(same(
            r#"{"a": 1, "b": {"c": [1, 2], "d": null}}"#,
            r#"{"b":{"c":[1,2]},"\u0061":1}"#
        ));
        assert!(!same(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#));
        assert!(!same(r#"{"a":"1"}"#, r#"{"a":1}"#));
        assert!(!same(r#"{"a":"b,c"}"#, r#"{"a":"b","c":1}"#));
    }

    #[test]
    fn numbers_are_compared_exactly() {
        for (one, other) in [
            ("1.10", "1.1"),
            ("100", "1e2"),
            ("-0.0", "0"),
            ("0.5", "5E-1"),
        ] {
            assert!(same(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("123456789012345678901234", "123456789012345678901235"),
            ("0.1", "0.10000000000000000001"),
            ("1", "-1"),
            ("10", "1"),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }
}
