//! Deterministic values that conform to a schema: documented examples first, then values built from the rules.

use serde_json::{Map, Value};

use super::check::{self, Side};
use super::document::{Document, list, members};
use super::merge::{Followed, merged};
use super::{format, text};

/// Below this depth, samples omit optional fields.
const DEEPEST: usize = 6;

/// The limit of steps for building and checking a sample. After half of them, samples omit optional fields.
const STEPS: usize = 20_000;

/// The maximum depth of a sample.
const BOTTOM: usize = 100;

/// The number of items in a list whose schema has no limits.
const ITEMS: usize = 2;

/// The limit of list items if each item shows another variant or example.
const MOST_ITEMS: usize = 50;

/// The schema of undocumented values.
static ANYTHING: Value = Value::Bool(true);

/// Returns a value that conforms to `schema`, or `None` if none can be built. The lists of a second page start at the
/// turn `first`.
pub(super) fn sample(document: &Document, schema: &Value, first: usize) -> Option<Value> {
    let mut sampler = Sampler {
        document,
        first,
        left: STEPS,
    };
    sampler.value(schema, &At::default())
}

struct Sampler<'d> {
    document: &'d Document,
    first: usize,
    /// The number of steps left.
    left: usize,
}

/// The position of a value: its depth, its turn in a list, and the references that lead to it.
#[derive(Clone, Default)]
struct At {
    depth: usize,
    turn: usize,
    followed: Followed,
}

impl At {
    fn below(&self, turn: usize) -> At {
        At {
            depth: self.depth + 1,
            turn,
            followed: self.followed.clone(),
        }
    }
}

impl Sampler<'_> {
    /// Returns a value of this turn's variant, or of the next variant that has a value, or else null.
    fn value(&mut self, schema: &Value, at: &At) -> Option<Value> {
        let variants = check::variants(self.document, self.document.resolve(schema));
        let mut turns = at.turn..at.turn + variants.len().max(1);
        turns
            .find_map(|turn| self.made(schema, At { turn, ..at.clone() }))
            .or_else(|| self.conforming(schema, Value::Null))
    }

    fn made(&mut self, schema: &Value, mut at: At) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        if at.depth > BOTTOM {
            return None;
        }
        let followed = &mut at.followed;
        let all = merged(self.document, schema, at.turn, followed, &mut self.left)?;
        let all = Value::Object(all);
        if let Some(shown) = self.shown(&all, schema, at.turn) {
            return Some(shown);
        }
        let made = self.typed(&all, &at, false)?;
        let is_object = made.is_object();
        let made = self.conforming(schema, made);
        if made.is_some() || !is_object {
            return made;
        }
        // Optional fields may exclude each other, so try without them.
        let bare = self.typed(&all, &at, true)?;
        self.conforming(schema, bare)
    }

    fn conforming(&mut self, schema: &Value, value: Value) -> Option<Value> {
        let left = &mut self.left;
        check::holds_within(self.document, Side::Reply, schema, &value, left).then_some(value)
    }

    /// Returns a documented example, if it conforms.
    fn shown(&mut self, all: &Value, schema: &Value, turn: usize) -> Option<Value> {
        let several = list(&all["examples"]).iter();
        let in_turn = several.clone().skip(turn % several.len().max(1));
        let first = ["const", "example"]
            .into_iter()
            .filter_map(|it| all.get(it));
        let shown = first
            .chain(in_turn)
            .chain(several)
            .chain(all.get("default"));
        shown
            .cloned()
            .find_map(|value| self.conforming(schema, value))
    }

    /// Returns a value of the merged schema's type. If `bare`, it has only the required fields.
    fn typed(&mut self, schema: &Value, at: &At, bare: bool) -> Option<Value> {
        let values = list(&schema["enum"]).iter().filter(|it| !it.is_null());
        let values: Vec<&Value> = values.collect();
        if !values.is_empty() {
            return Some(values[at.turn % values.len()].clone());
        }
        let has = |names: &[&str]| names.iter().any(|name| schema.get(*name).is_some());
        let mut types = check::types(schema);
        types.sort_by_key(|kind| *kind == "null");
        match types.first().copied() {
            Some("null") => Some(Value::Null),
            Some("boolean") => Some(false.into()),
            Some("integer" | "number") => self.number(schema, at.turn),
            None if has(&["minimum", "maximum", "multipleOf"]) => self.number(schema, at.turn),
            Some("array") => self.array(schema, at),
            None if has(&["items", "minItems"]) => self.array(schema, at),
            Some("string") => text(schema, at.turn),
            None if has(&["pattern", "format", "minLength", "maxLength"]) => text(schema, at.turn),
            _ => self.object(schema, at, bare).map(Value::Object),
        }
    }

    /// Returns a number at or near a bound, because the bound itself may be excluded.
    fn number(&mut self, schema: &Value, turn: usize) -> Option<Value> {
        let bound = |names: [&str; 2]| names.iter().find_map(|name| schema[*name].as_f64());
        let least = bound(["minimum", "exclusiveMinimum"]);
        let most = bound(["maximum", "exclusiveMaximum"]);
        let step = schema["multipleOf"].as_f64().unwrap_or(1.0);
        let from = match (least, most) {
            (Some(least), _) => (least / step).ceil() * step,
            (None, Some(most)) if most < step => (most / step).floor() * step,
            _ => step,
        };
        #[expect(clippy::cast_precision_loss, reason = "lists are short")]
        let near = [turn as f64, 0.0, 1.0, -1.0].map(|steps| from + steps * step);
        let middle = f64::midpoint(least.unwrap_or(0.0), most.unwrap_or(1.0));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a larger one does not conform"
        )]
        let whole = |number: &f64| (number.fract() == 0.0).then_some(*number as i64);
        let as_value = |number: f64| whole(&number).map_or(number.into(), Value::from);
        let mut tried = near.into_iter().chain([middle]).map(as_value);
        tried.find_map(|value| self.conforming(schema, value))
    }

    fn array(&mut self, schema: &Value, at: &At) -> Option<Value> {
        let (least, most) = sizes(schema, "Items");
        let items = schema.get("items").unwrap_or(&ANYTHING);
        let variants = check::variants(self.document, self.document.resolve(items)).len();
        let usual = match at.depth {
            0..3 => variants.clamp(ITEMS, MOST_ITEMS),
            3..DEEPEST if self.left > STEPS / 2 => variants.clamp(1, MOST_ITEMS),
            _ => 0,
        };
        let turn = if at.depth < 2 { self.first } else { 0 };
        let mut made = Vec::new();
        for place in 0..usual.max(least).min(most) {
            let item = list(&schema["prefixItems"]).get(place).unwrap_or(items);
            let Some(item) = self.value(item, &at.below(turn + place)) else {
                break;
            };
            if schema["uniqueItems"] != true || !made.contains(&item) {
                made.push(item);
            }
        }
        (made.len() >= least).then(|| made.into())
    }

    fn object(&mut self, schema: &Value, at: &At, bare: bool) -> Option<Map<String, Value>> {
        let required = list(&schema["required"]).iter().filter_map(Value::as_str);
        let required: Vec<&str> = required.collect();
        let mut object = Map::new();
        for (name, property) in members(&schema["properties"]) {
            let needed = required.contains(&name.as_str());
            let spare = bare || at.depth >= DEEPEST || self.left < STEPS / 2;
            if Side::Reply.leaves_out(self.document, property) || spare && !needed {
                continue;
            }
            match self.value(property, &at.below(at.turn)) {
                Some(value) => drop(object.insert(name.clone(), value)),
                None if needed => return None,
                None => {}
            }
        }
        let other = schema.get("additionalProperties").unwrap_or(&ANYTHING);
        for name in required {
            if !object.contains_key(name) && schema["properties"].get(name).is_none() {
                object.insert(name.to_owned(), self.value(other, &at.below(at.turn))?);
            }
        }
        let is_map = object.is_empty() && other.is_object() && at.depth < DEEPEST;
        let least = sizes(schema, "Properties").0.max(usize::from(is_map));
        for turn in 0..MOST_ITEMS {
            if object.len() < least {
                let value = self.value(other, &at.below(turn))?;
                object.insert(format::sample("", turn), value);
            }
        }
        Some(object)
    }
}

fn sizes(schema: &Value, of: &str) -> (usize, usize) {
    let bound = |which: &str| schema[format!("{which}{of}")].as_u64();
    let size = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
    let least = bound("min").map_or(0, size);
    (least, bound("max").map_or(usize::MAX, size))
}

/// Returns a string that matches the pattern or the format, and the length.
fn text(schema: &Value, turn: usize) -> Option<Value> {
    let (least, most) = sizes(schema, "Length");
    let mut made = match schema["pattern"].as_str() {
        Some(pattern) => text::matching(pattern, least, turn)?,
        None => format::sample(schema["format"].as_str().unwrap_or_default(), turn),
    };
    let missing = least.saturating_sub(made.chars().count());
    made.extend(std::iter::repeat_n('x', missing.min(1 << 16)));
    Some(made.chars().take(most).collect::<String>().into())
}
