//! Values that conform to a schema, the same ones each time: what the document shows first, then what its rules allow.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Number, Value, json};

use super::check::{self, Side};
use super::document::{Document, list, members};
use super::merge::{Followed, follow, merged};
use super::{format, text};

/// Below that depth, optional members are left out.
const DEEPEST: usize = 6;

/// After so many values, optional members are left out.
const MOST: usize = 4_000;

/// After so many steps of making and checking, there is no sample.
const STEPS: usize = 300_000;

/// The deepest that a sample may be.
const BOTTOM: usize = 100;

/// How many items a list has if its schema does not say.
const ITEMS: usize = 2;

/// The most items of a list that shows something in each.
const MOST_ITEMS: usize = 50;

/// A value that conforms to `schema`, unless none can be made. The lists of a second page go on at the turn `first`.
pub(super) fn sample(document: &Document, schema: &Value, first: usize) -> Option<Value> {
    let mut sampler = Sampler {
        document,
        first,
        made: 0,
        steps: Cell::new(STEPS),
    };
    sampler.value(schema, &At::default())
}

struct Sampler<'d> {
    document: &'d Document,
    first: usize,
    made: usize,
    /// How many are left.
    steps: Cell<usize>,
}

/// Where a value stands: how deep, in which turn of a list, and by which references.
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
    fn value(&mut self, schema: &Value, at: &At) -> Option<Value> {
        self.made += 1;
        let left = self.steps.get().saturating_sub(1);
        self.steps.set(left);
        if left == 0 || at.depth > BOTTOM || *schema == false {
            return None;
        }
        let shown = self.shown(schema, schema, at.turn);
        let made = shown.or_else(|| self.made(schema, at));
        made.or_else(|| self.conforms(schema, &Value::Null).then_some(Value::Null))
    }

    fn made(&mut self, schema: &Value, at: &At) -> Option<Value> {
        let has = |names: &[&str]| names.iter().any(|name| schema.get(*name).is_some());
        let variants = check::variants(self.document, schema);
        if has(&["$ref"]) && !has(&["allOf", "oneOf", "anyOf", "properties"]) {
            let mut at = at.clone();
            let target = follow(self.document, schema, &mut at.followed)?;
            return self.value(target, &at);
        }
        if !variants.is_empty() && !has(&["properties", "allOf", "$ref"]) {
            let mut in_turn = (0..variants.len()).map(|more| (at.turn + more) % variants.len());
            return in_turn.find_map(|place| {
                let value = self.value(variants[place], at)?;
                Some(self.tagged(schema, &variants[place..=place], value))
            });
        }
        let mut followed = at.followed.clone();
        let all = merged(self.document, schema, at.turn, &mut followed, &self.steps)?;
        let at = At {
            followed,
            ..at.clone()
        };
        if let Some(shown) = self.shown(&all, schema, at.turn) {
            return Some(shown);
        }
        let made = self.typed(&all, &at, false)?;
        let odd = ["not", "if"].iter().any(|name| all.get(*name).is_some());
        if !made.is_object() && !odd || self.conforms(schema, &made) {
            return Some(made);
        }
        if odd && let Some(other) = self.other(schema, &all, &at) {
            return Some(other);
        }
        let made = self.tagged(schema, &variants, made);
        // Members that exclude each other are optional.
        let fits = self.conforms(schema, &made);
        if fits {
            Some(made)
        } else {
            self.typed(&all, &at, true)
        }
    }

    /// A value of a later turn, or of what a condition asks for.
    fn other(&mut self, schema: &Value, all: &Value, at: &At) -> Option<Value> {
        let mut plain = all.as_object()?.clone();
        plain.retain(|name, _| !["not", "if", "then", "else"].contains(&name.as_str()));
        let parts = [all.get("then"), all.get("else")].into_iter().flatten();
        let parts = parts.map(|part| (0, json!({"allOf": [plain, part]})));
        let mut tries = (1..4).map(|more| (more, json!(plain))).chain(parts);
        tries.find_map(|(more, part)| {
            let turn = at.turn + more;
            let made = self.made(&part, &At { turn, ..at.clone() })?;
            self.conforms(schema, &made).then_some(made)
        })
    }

    fn conforms(&self, schema: &Value, value: &Value) -> bool {
        if self.steps.get() == 0 {
            return false;
        }
        let (broken, steps) = check::counted(self.document, Side::Reply, schema, value, "");
        self.steps.set(self.steps.get().saturating_sub(steps));
        broken.is_empty()
    }

    /// What a document shows of a schema, if it keeps the rules. It is the first of what takes turns.
    fn shown(&self, of: &Value, schema: &Value, turn: usize) -> Option<Value> {
        if turn > 0 && !check::variants(self.document, schema).is_empty() {
            return None;
        }
        let several = list(&of["examples"]).iter();
        let examples = several
            .clone()
            .skip(turn % several.len().max(1))
            .chain(several);
        let first = of.get("const").into_iter().chain(of.get("example"));
        let mut shown = first.chain(examples).chain(of.get("default"));
        shown.find(|value| self.conforms(schema, value)).cloned()
    }

    /// The value with the tag of the first of these variants that it then is.
    fn tagged(&self, union: &Value, variants: &[&Value], value: Value) -> Value {
        let Some(member) = union["discriminator"]["propertyName"].as_str() else {
            return value;
        };
        let tags = variants
            .iter()
            .filter_map(|variant| check::tag(union, variant));
        let mut tried = tags.filter_map(|tag| {
            let mut other = value.clone();
            other.as_object_mut()?.insert(member.to_owned(), tag.into());
            Some(other)
        });
        tried
            .find(|other| self.conforms(union, other))
            .unwrap_or(value)
    }

    /// A value of the type that a merged schema has, or seems to have; with the required members only if it is `bare`.
    fn typed(&mut self, schema: &Value, at: &At, bare: bool) -> Option<Value> {
        let values: Vec<&Value> = list(&schema["enum"])
            .iter()
            .filter(|value| !value.is_null())
            .collect();
        if !values.is_empty() {
            return Some(values[at.turn % values.len()].clone());
        }
        let has = |names: &[&str]| names.iter().any(|name| schema.get(*name).is_some());
        let types = check::types(schema);
        let kind = types.iter().find(|kind| **kind != "null").copied();
        match kind {
            None if !types.is_empty() => Some(Value::Null),
            Some("boolean") => Some(false.into()),
            Some(kind @ ("integer" | "number")) => self.number(schema, at.turn, kind == "integer"),
            None if has(&["minimum", "maximum", "multipleOf"]) => {
                self.number(schema, at.turn, false)
            }
            Some("array") => self.array(schema, at),
            None if has(&["items", "minItems"]) => self.array(schema, at),
            Some("string") => text(schema, at.turn),
            None if has(&["pattern", "format", "minLength", "maxLength"]) => text(schema, at.turn),
            _ => self.object(schema, at, bare).map(Value::Object),
        }
    }

    fn number(&self, schema: &Value, turn: usize, integer: bool) -> Option<Value> {
        let (least, most) = check::bounds(schema);
        let near = |(at, open): (&Value, bool)| Some((at.as_f64()?, open));
        let (least, most) = (least.and_then(near), most.and_then(near));
        let whole = if integer { 1.0 } else { 0.0 };
        let step = schema["multipleOf"].as_f64().unwrap_or(1.0).max(whole);
        let from = match (least, most) {
            (Some((least, _)), _) => (least / step).ceil() * step,
            (None, Some((most, _))) if most < 1.0 => (most / step).floor() * step - step,
            _ => step,
        };
        let middle = f64::midpoint(least.map_or(0.0, |at| at.0), most.map_or(1.0, |at| at.0));
        #[expect(clippy::cast_precision_loss, reason = "lists are short")]
        let tried = [from + (turn as f64) * step, from, from + step, middle];
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a larger one does not conform"
        )]
        let as_value = |number: f64| {
            let whole = integer.then(|| Value::from(number.round() as i64));
            whole.or_else(|| Number::from_f64(number).map(Value::Number))
        };
        let mut fitting = tried.into_iter().filter_map(as_value);
        fitting.find(|value| self.conforms(schema, value))
    }

    fn array(&mut self, schema: &Value, at: &At) -> Option<Value> {
        let size = |name: &str| Some(usize::try_from(schema[name].as_u64()?).unwrap_or(usize::MAX));
        let least = size("minItems").unwrap_or(0);
        let items = schema.get("items").unwrap_or(&Value::Bool(true));
        let variants = check::variants(self.document, self.document.resolve(items)).len();
        let first = list(&schema["prefixItems"]);
        let contained = schema
            .get("contains")
            .map_or(0, |_| size("minContains").unwrap_or(1));
        let least = least.max(contained);
        let usual = match at.depth {
            0..3 => variants.clamp(ITEMS, MOST_ITEMS),
            3..DEEPEST if self.made < MOST => variants.clamp(1, MOST_ITEMS),
            _ => 0,
        };
        let wanted = usual.max(least).min(size("maxItems").unwrap_or(usize::MAX));
        let turn = if at.depth < 2 { self.first } else { 0 };
        let (mut made, mut known) = (Vec::new(), HashSet::new());
        for place in 0..wanted {
            let both = || json!({"allOf": [items, schema["contains"]]});
            let both = (place < contained).then(both);
            let schema = first.get(place).or(both.as_ref()).unwrap_or(items);
            let Some(item) = self.value(schema, &at.below(turn + place)) else {
                break;
            };
            if schema["uniqueItems"] != true || known.insert(item.clone()) {
                made.push(item);
            }
        }
        (made.len() >= least).then(|| made.into())
    }

    fn object(&mut self, schema: &Value, at: &At, bare: bool) -> Option<Map<String, Value>> {
        let mut required: Vec<&str> = list(&schema["required"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let others = members(&schema["dependentRequired"]).flat_map(|(_, others)| list(others));
        required.extend(others.filter_map(Value::as_str));
        let mut object = Map::new();
        for (name, property) in members(&schema["properties"]) {
            let needed = required.contains(&name.as_str());
            let again = [property, &property["items"], &property["allOf"][0]]
                .iter()
                .any(|part| {
                    at.followed
                        .iter()
                        .any(|known| part["$ref"] == known.as_str())
                });
            let left_out = bare || again || at.depth >= DEEPEST || self.made >= MOST;
            if Side::Reply.leaves_out(self.document, property) || left_out && !needed {
                continue;
            }
            match self.value(property, &at.below(at.turn)) {
                Some(value) => drop(object.insert(name.clone(), value)),
                None if needed => return None,
                None => {}
            }
        }
        let more = schema.get("additionalProperties");
        let pattern = members(&schema["patternProperties"]).next();
        let pattern = pattern.filter(|_| more.is_none_or(|more| *more == false));
        let other = pattern
            .map(|(_, other)| other)
            .or(more)
            .unwrap_or(&Value::Bool(true));
        for name in required {
            if !object.contains_key(name) && schema["properties"].get(name).is_none() {
                object.insert(name.to_owned(), self.value(other, &at.below(at.turn))?);
            }
        }
        let of_others = object.is_empty() && more.is_some_and(Value::is_object);
        let shown = u64::from(of_others && at.depth < DEEPEST);
        let least = schema["minProperties"].as_u64().unwrap_or(0).max(shown);
        for turn in 0..MOST_ITEMS {
            if (object.len() as u64) < least {
                let value = self.value(other, &at.below(turn))?;
                let name = match (schema.get("propertyNames"), pattern) {
                    (Some(names), _) => self.value(names, &at.below(turn))?.as_str()?.to_owned(),
                    (None, Some((pattern, _))) => text::matching(pattern, 0, turn)?,
                    (None, None) => format::sample("", turn),
                };
                object.insert(name, value);
            }
        }
        Some(object)
    }
}

/// A text that keeps its pattern, or else its format, and its length.
fn text(schema: &Value, turn: usize) -> Option<Value> {
    let size = |name: &str| Some(usize::try_from(schema[name].as_u64()?).unwrap_or(usize::MAX));
    let least = size("minLength").unwrap_or(0);
    let most = size("maxLength").unwrap_or(usize::MAX);
    let mut made = match schema["pattern"].as_str() {
        Some(pattern) => text::matching(pattern, least, turn)?,
        None => format::sample(schema["format"].as_str().unwrap_or_default(), turn),
    };
    let length = made.chars().count();
    made.extend(std::iter::repeat_n(
        'x',
        least.saturating_sub(length).min(1 << 16),
    ));
    Some(made.chars().take(most).collect::<String>().into())
}
