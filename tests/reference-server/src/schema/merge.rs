//! Merges `allOf`, references and a chosen variant into one schema.

use serde_json::{Map, Value, json};

use super::check::{self, variants};
use super::document::{Document, list};

/// How often a value can contain the same reference, so that samples of circular schemas end.
const ROUNDS: usize = 2;

/// Keywords that are merged instead of copied.
const PARTS: [&str; 4] = ["$ref", "allOf", "oneOf", "anyOf"];

/// Keywords that a union uses only in its first turn.
const SHOWN: [&str; 3] = ["example", "examples", "default"];

/// The references that lead to a value.
pub(super) type Followed = Vec<String>;

/// Merges a schema with all its references and the variant of this turn. Returns `None` for an endless reference, or
/// if no steps are `left`.
pub(super) fn merged(
    document: &Document,
    schema: &Value,
    turn: usize,
    followed: &mut Followed,
    left: &mut usize,
) -> Option<Map<String, Value>> {
    *left = left.checked_sub(1)?;
    if *schema == false {
        return None;
    }
    let mut all = schema.as_object().cloned().unwrap_or_default();
    let variants = variants(document, schema);
    all.retain(|name, _| !PARTS.contains(&name.as_str()));
    if turn > 0 && !variants.is_empty() {
        all.retain(|name, _| !SHOWN.contains(&name.as_str()));
    }
    if let Some(reference) = schema["$ref"].as_str() {
        if followed.iter().filter(|it| *it == reference).count() >= ROUNDS {
            return None;
        }
        followed.push(reference.to_owned());
        let target = document.target(reference)?;
        join(&mut all, merged(document, target, turn, followed, left)?);
    }
    for part in list(&schema["allOf"]) {
        join(&mut all, merged(document, part, turn, followed, left)?);
    }
    if !variants.is_empty() {
        let in_turn = variants.iter().cycle().skip(turn % variants.len());
        let mut in_turn = in_turn.take(variants.len());
        let (variant, part, by) = in_turn.find_map(|variant| {
            let mut by = followed.clone();
            let part = merged(document, variant, turn, &mut by, left)?;
            Some((*variant, part, by))
        })?;
        *followed = by;
        join(&mut all, part);
        let name = schema["discriminator"]["propertyName"].as_str();
        if let Some((name, tag)) = name.zip(check::tag(schema, variant)) {
            let tagged = json!({"properties": {name: {"const": tag}}});
            join(&mut all, tagged.as_object().cloned()?);
        }
    }
    Some(all)
}

fn join(all: &mut Map<String, Value>, other: Map<String, Value>) {
    for (name, theirs) in other {
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
            "items" if *ours != theirs => *ours = json!({"allOf": [ours, theirs]}),
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
