//! Derives IDs, groups and methods that a vendor's document lacks from IDs, tags and paths.

use std::collections::BTreeSet;

use super::call::Call;
use crate::model::Method;
use crate::names;

/// The ID in camel case, from the document or derived from method and path.
pub(super) fn id(call: &Call<'_>) -> String {
    let own = call.raw.text_at("operationId").map(names::camel);
    own.filter(|id| id.starts_with(|first: char| first.is_ascii_alphabetic()))
        .unwrap_or_else(|| {
            let mut parts = vec![verb(call.method, false).to_owned()];
            parts.extend(segments(&call.path).map(str::to_owned));
            if call.path.ends_with('}') {
                parts.push("by id".to_owned());
            }
            names::camel(&parts.join(" "))
        })
}

/// The group, which is the first tag or the first meaningful part of the path.
pub(super) fn group(call: &Call<'_>) -> String {
    if let Some(group) = call.raw.text_at("x-sdk-group") {
        return group.to_owned();
    }
    let tags = call.raw.at("tags").texts();
    let name = tags.first().map(String::as_str);
    let name = name
        .or_else(|| segments(&call.path).next())
        .unwrap_or("service");
    let group = of_tag(name);
    if group.trim_matches('_').is_empty() {
        "service".to_owned()
    } else {
        group
    }
}

/// The group of a tag, which may have a parent, as in `crm/contacts`.
pub(super) fn of_tag(tag: &str) -> String {
    names::snake(tag.rsplit(['/', '>']).next().unwrap_or(tag))
}

/// The method in its group, which is the ID without the words of the group, or the action at the end of the path.
pub(super) fn method(call: &Call<'_>, group: &str) -> String {
    if let Some(name) = call.raw.text_at("x-sdk-method") {
        return name.to_owned();
    }
    let of_group: BTreeSet<String> = names::words(group).iter().map(|it| stem(it)).collect();
    let id = call.raw.text_at("operationId").unwrap_or_default();
    let mut words: Vec<String> = names::words(id);
    words.retain(|word| {
        let noise = is_version(word)
            || matches!(
                word.as_str(),
                "api" | "controller" | "by" | "id" | "the" | "a" | "an"
            );
        !noise && !of_group.contains(&stem(word))
    });
    // A read of the model for a write must not have the name of the write, as in `get_create_model`.
    let writes = [
        "create", "add", "update", "replace", "set", "delete", "remove",
    ];
    if words.len() > 1 && words[0] == "get" && !writes.contains(&words[1].as_str()) {
        words.remove(0);
    }
    let plain = ["get", "post", "put", "patch", "delete"];
    match words.as_slice() {
        [] => {}
        [only] if plain.contains(&only.as_str()) && *only == call.method.key() => {}
        words if words.len() <= 4 => return names::snake(&words.join(" ")),
        _ => {}
    }
    let last = segments(&call.path).last().unwrap_or_default();
    let repeats = names::words(last)
        .iter()
        .any(|word| of_group.contains(&stem(word)));
    let ends_in_value = call.path.ends_with('}');
    let action = verb(call.method, ends_in_value);
    if repeats || last.is_empty() || segments(&call.path).count() < 2 {
        action.to_owned()
    } else if call.method == Method::Post && !ends_in_value {
        names::snake(last)
    } else {
        names::snake(&format!("{action} {last}"))
    }
}

fn verb(method: Method, is_single: bool) -> &'static str {
    match method {
        Method::Get if is_single => "get",
        Method::Get => "list",
        Method::Post => "create",
        Method::Put => "replace",
        Method::Patch => "update",
        Method::Delete => "delete",
    }
}

/// The meaningful parts of a path.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| {
        !part.is_empty() && !part.starts_with('{') && !is_version(part) && *part != "api"
    })
}

fn is_version(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    })
}

/// The singular of a word.
fn stem(word: &str) -> String {
    if matches!(word, "people" | "persons") {
        return "person".to_owned();
    }
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 1 => format!("{stem}y"),
        _ if word.ends_with("ss") || word.len() < 4 => word.to_owned(),
        _ => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}
