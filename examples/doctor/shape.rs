//! Replies held against the specs: which documented and assumed members came, and of which type.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use sdk_core::App;
use serde_json::Value;

use super::report::Report;

static SPECS: LazyLock<[Value; 4]> = LazyLock::new(|| {
    [
        include_str!("../../specs/platform.yaml"),
        include_str!("../../specs/crm.yaml"),
        include_str!("../../specs/calendar.yaml"),
        include_str!("../../specs/accounting.yaml"),
    ]
    .map(|text| serde_yaml_ng::from_str(text).expect("the specs are YAML"))
});

fn spec(app: App) -> &'static Value {
    let place = match app {
        App::Platform => 0,
        App::Crm => 1,
        App::Calendar => 2,
        _ => 3,
    };
    &SPECS[place]
}

/// What no 64 bits hold (A49).
const BIG: &str = "integer beyond 64 bits";

/// The type of a value, in the words of this report.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) => match number.as_f64().filter(|it| it.fract() == 0.0) {
            _ if number.is_i64() => "integer",
            Some(whole) if whole.abs() >= 9.2e18 => BIG,
            Some(_) => "integer",
            None => "number",
        },
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Names of members with their types. A name that may be a value, such as an address, is only counted.
pub(crate) fn named(value: &Value) -> String {
    let Some(members) = value.as_object() else {
        return format!("no members: it is {}", kind(value));
    };
    let plain = members.iter().filter(|(name, _)| is_name(name)).take(20);
    let plain = plain.map(|(name, it)| format!("{name} ({})", kind(it)));
    let mut all: Vec<String> = plain.collect();
    if all.len() < members.len() {
        all.push(format!("{} more", members.len() - all.len()));
    }
    all.join(", ")
}

fn is_name(name: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    name.len() <= 40
        && name.chars().all(plain)
        && name.starts_with(|it: char| it.is_ascii_alphabetic())
}

/// Holds the reply of an operation against its schema: verdicts for what is assumed, findings for what is documented.
pub(crate) fn check(report: &mut Report, app: App, operation: &str, reply: &Value) {
    let spec = spec(app);
    let operations = spec["paths"].as_object().into_iter().flatten();
    let mut operations = operations.flat_map(|(_, item)| item.as_object().into_iter().flatten());
    let Some((_, found)) = operations.find(|(_, it)| it["operationId"] == *operation) else {
        return;
    };
    let mut walk = Walk {
        spec,
        differs: BTreeSet::new(),
        unknown: BTreeSet::new(),
        came: BTreeMap::new(),
        against: BTreeMap::new(),
    };
    let schema = &found["responses"]["200"]["content"]["application/json"]["schema"];
    walk.value(schema, reply, "", &[]);
    for (holds, all) in [(true, &walk.came), (false, &walk.against)] {
        for (id, members) in all {
            let first = members.first().map_or("", String::as_str);
            let more = members.len() - 1;
            let more = if more == 0 {
                String::new()
            } else {
                format!(" and {more} more")
            };
            report.judge(holds, id, format!("{operation}{first}{more}"));
        }
    }
    let Walk {
        differs, unknown, ..
    } = walk;
    for differs in &differs {
        let cure = "the contract documents it otherwise: ask its makers, and read the reply with `raw_call` until then";
        report.problem(format!("{operation}: {differs}"), cure);
    }
    if !unknown.is_empty() {
        let all: Vec<String> = unknown.into_iter().take(10).collect();
        let all = all.join(", ");
        report.note(format!(
            "{operation} has members that the contract does not show: {all}"
        ));
    }
    if differs.is_empty() {
        report.ok(format!("{operation} has the documented shape"));
    }
}

struct Walk {
    spec: &'static Value,
    differs: BTreeSet<String>,
    unknown: BTreeSet<String>,
    /// The members that came as assumed, by entry.
    came: BTreeMap<&'static str, BTreeSet<String>>,
    against: BTreeMap<&'static str, BTreeSet<String>>,
}

/// The entries that a schema rests on.
fn ids(schema: &'static Value, name: &str) -> Vec<&'static str> {
    let entry = &schema[name];
    let all = entry
        .as_array()
        .map_or(std::slice::from_ref(entry), Vec::as_slice);
    all.iter().filter_map(Value::as_str).collect()
}

impl Walk {
    fn value(&mut self, schema: &'static Value, value: &Value, at: &str, above: &[&'static str]) {
        if let Some(reference) = schema["$ref"].as_str() {
            let pointer = reference.trim_start_matches('#');
            let Some(target) = self.spec.pointer(pointer) else {
                return;
            };
            return self.value(target, value, at, above);
        }
        let assumed = ids(schema, "x-type-assumption");
        let Some(wanted) = schema["type"].as_str() else {
            return;
        };
        let is = kind(value);
        let fits = match wanted {
            "string" => is == "text",
            "number" => matches!(is, "number" | "integer"),
            _ => is == wanted,
        };
        let wanted = if wanted == "string" { "text" } else { wanted };
        if value.is_null() && schema["nullable"] == true {
            return;
        }
        let is_big = wanted == "integer" && is == BIG;
        let all = assumed.iter().chain(above).copied();
        let all = all.chain((wanted == "integer").then_some("A49"));
        let (held, told) = if fits {
            (&mut self.came, at.to_owned())
        } else {
            (&mut self.against, format!("{at} is {is}, not {wanted}"))
        };
        let is_bare = value.as_array().is_some_and(Vec::is_empty);
        // A list without records shows nothing of them.
        for id in all.filter(|id| !is_bare && (fits || is_big || *id != "A49")) {
            held.entry(id).or_default().insert(told.clone());
        }
        if !fits {
            if !is_big && assumed.is_empty() && above.is_empty() {
                self.differs.insert(told);
            }
            return;
        }
        match value {
            Value::Object(members) => self.members(schema, members, at),
            Value::Array(items) => {
                let most = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
                if most < items.len() as u64 {
                    let found = format!("{at} has {} items, documented are {most}", items.len());
                    self.differs.insert(found);
                }
                for item in items {
                    self.value(&schema["items"], item, &format!("{at}[]"), above);
                }
            }
            Value::String(text) => self.text(schema, text, at, above),
            _ => {}
        }
    }

    fn members(
        &mut self,
        schema: &'static Value,
        members: &serde_json::Map<String, Value>,
        at: &str,
    ) {
        let known = schema["properties"].as_object();
        let inherited = ids(schema, "x-assumption");
        for (name, property) in known.into_iter().flatten() {
            let path = format!("{at}.{name}");
            let own = ids(property, "x-assumption");
            let required = schema["required"].as_array();
            let required = required.is_some_and(|all| all.iter().any(|it| it == name.as_str()));
            match members.get(name) {
                Some(value) => {
                    let target = property["$ref"].as_str().unwrap_or_default();
                    let target = self.spec.pointer(target.trim_start_matches('#'));
                    // What an object rests on is the format of its references.
                    let is_reference = target.is_some_and(|it| it["pattern"].is_string());
                    let above = if is_reference { &inherited } else { &own };
                    self.value(property, value, &path, above);
                }
                None if !own.is_empty() => {
                    let other = named(&Value::Object(members.clone()));
                    for id in own {
                        let missing = format!("{path} is missing beside {other}");
                        self.against.entry(id).or_default().insert(missing);
                    }
                }
                None if required => {
                    self.differs.insert(format!("{path} is missing"));
                }
                None => {}
            }
        }
        // What else a page has is not shown.
        let known = known.filter(|it| !it.is_empty() && !it.contains_key("nextCursor"));
        if let Some(known) = known {
            let unknown = members
                .keys()
                .filter(|it| !known.contains_key(*it) && is_name(it));
            self.unknown.extend(unknown.cloned());
        }
    }

    /// Constants, formats of references.
    fn text(&mut self, schema: &'static Value, text: &str, at: &str, above: &[&'static str]) {
        let pattern = schema["pattern"].as_str();
        if pattern.is_some_and(|pattern| !fits(pattern, text)) {
            let other = format!("{at} does not have the documented format");
            for id in above {
                self.against.entry(id).or_default().insert(other.clone());
            }
            if above.is_empty() {
                self.differs.insert(other);
            }
        }
        let values = schema["enum"].as_array();
        if values.is_some_and(|all| all.iter().all(|it| it != text)) {
            let found = format!("{at} has a value that the contract does not show");
            self.differs.insert(found);
        }
    }
}

/// Whether a text is a prefix and twelve letters and digits, as all documented references are.
fn fits(pattern: &str, text: &str) -> bool {
    let prefix = pattern.trim_start_matches('^');
    let prefix = prefix.split('[').next().unwrap_or_default();
    let last = if pattern.contains("A-Z") { 'Z' } else { 'F' };
    let fine = |it: char| it.is_ascii_digit() || ('A'..=last).contains(&it);
    let rest = text.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.len() == 12 && rest.chars().all(fine))
}
