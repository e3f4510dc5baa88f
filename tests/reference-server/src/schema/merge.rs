//! One schema of what `allOf`, references and a chosen variant say together.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use super::check::variants;
use super::document::{Document, list};

/// How often a reference may be followed on the way to a value: a circle ends in what does not need it.
const ROUNDS: usize = 2;

/// The references that led to a value.
pub(super) type Followed = Vec<String>;

/// What a schema refers to, unless that never ends.
pub(super) fn follow<'d>(
    document: &'d Document,
    schema: &Value,
    followed: &mut Followed,
) -> Option<&'d Value> {
    let reference = schema["$ref"].as_str()?;
    if followed.iter().filter(|known| *known == reference).count() >= ROUNDS {
        return None;
    }
    followed.push(reference.to_owned());
    document.target(reference)
}

/// Merges a schema with all that it refers to, and with the variant of this turn; `None` if that never ends, or if there
/// are no `steps` left for it.
pub(super) fn merged(
    document: &Document,
    schema: &Value,
    turn: usize,
    followed: &mut Followed,
    steps: &Cell<usize>,
) -> Option<Value> {
    steps.set(steps.get().checked_sub(1)?);
    let mut all = schema.as_object().cloned().unwrap_or_default();
    all.retain(|name, _| !["$ref", "allOf", "oneOf", "anyOf"].contains(&name.as_str()));
    if schema.get("$ref").is_some() {
        let target = follow(document, schema, followed)?;
        join(&mut all, merged(document, target, turn, followed, steps)?);
    }
    for part in list(&schema["allOf"]) {
        join(&mut all, merged(document, part, turn, followed, steps)?);
    }
    let variants = variants(document, schema);
    if !variants.is_empty() {
        let in_turn = variants.iter().cycle().skip(turn % variants.len());
        let mut in_turn = in_turn.take(variants.len());
        let (part, by) = in_turn.find_map(|variant| {
            let mut by = followed.clone();
            Some((merged(document, variant, turn, &mut by, steps)?, by))
        })?;
        *followed = by;
        join(&mut all, part);
    }
    Some(all.into())
}

/// Adds what another schema says.
fn join(all: &mut Map<String, Value>, mut other: Value) {
    let other = other.as_object_mut().map(std::mem::take);
    for (name, theirs) in other.into_iter().flatten() {
        let Some(ours) = all.get_mut(&name) else {
            all.insert(name, theirs);
            continue;
        };
        match name.as_str() {
            "properties" => {
                for (name, theirs) in theirs.as_object().cloned().unwrap_or_default() {
                    let both = match ours.get(&name) {
                        Some(ours) if *ours != theirs => json!({"allOf": [ours, theirs]}),
                        _ => theirs,
                    };
                    ours[&name] = both;
                }
            }
            "required" => {
                let both = list(ours).iter().chain(list(&theirs)).cloned();
                *ours = both.collect();
            }
            "enum" => {
                *ours = list(ours)
                    .iter()
                    .filter(|one| list(&theirs).contains(one))
                    .cloned()
                    .collect();
            }
            "minimum" | "minLength" | "minItems" if theirs.as_f64() > ours.as_f64() => {
                *ours = theirs;
            }
            "maximum" | "maxLength" | "maxItems" if theirs.as_f64() < ours.as_f64() => {
                *ours = theirs;
            }
            "type" if ours.is_array() || theirs == "integer" => *ours = theirs,
            _ => {}
        }
    }
}
