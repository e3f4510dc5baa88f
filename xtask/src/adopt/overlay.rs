//! An `OpenAPI` Overlay 1.1: what is ours, and what we correct, laid over a document that stays as its vendor wrote it.
//!
//! `roas-overlay` applies it. Its values are unordered, so the order of the document is put back; it stops at the first
//! action that fails, so then each is tried on its own; and it passes over keys that it does not know: they are refused.

use indexmap::IndexMap;
use roas_overlay::apply::{Apply, ApplyErrorKind, ApplyOptions};
use roas_overlay::v1_1;
use roas_overlay::validation::{Validate, ValidationOptions};
use serde_json::Value;

use crate::node::Node;
use crate::{Result, at};

const ROOT_KEYS: [&str; 4] = ["overlay", "info", "extends", "actions"];
const ACTION_KEYS: [&str; 5] = ["target", "description", "update", "copy", "remove"];

/// An overlay whose actions are well-formed.
#[derive(Debug)]
pub(crate) struct Overlay {
    whole: v1_1::Overlay,
}

impl Overlay {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let node = Node::parse(text)?;
        let mut wrong = Vec::new();
        unknown("the overlay", &node, &ROOT_KEYS, &mut wrong);
        for (index, action) in node.at("actions").items().iter().enumerate() {
            let name = format!("action {}", index + 1);
            unknown(&name, action, &ACTION_KEYS, &mut wrong);
        }
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        let value = serde_json::to_value(&node).map_err(at("not JSON"))?;
        let whole: v1_1::Overlay =
            serde_json::from_value(value).map_err(at("not an OpenAPI Overlay 1.1"))?;
        // A document that needs no action is one of the best; only the format wants at least one.
        if !whole.actions.is_empty() {
            whole
                .validate(ValidationOptions::IgnoreEmptyInfoVersion.into())
                .map_err(|error| error.to_string().trim_end().to_owned())?;
        }
        Ok(Self { whole })
    }

    /// The document with all actions applied, or everything that is wrong with any of them.
    pub(crate) fn apply(&self, document: &Node) -> Result<Node> {
        let options = ApplyOptions::ErrorOnZeroMatch | ApplyOptions::ErrorOnMixedKindMatch;
        let mut value = serde_json::to_value(document).map_err(at("not JSON"))?;
        if self.whole.apply(&mut value, options).is_ok() {
            return Ok(in_order(value, Some(document)));
        }
        let mut wrong = Vec::new();
        for (index, action) in self.whole.actions.iter().enumerate() {
            let one = v1_1::Overlay {
                actions: vec![action.clone()],
                ..self.whole.clone()
            };
            if let Err(error) = one.apply(&mut value, options) {
                let why = match error.kind {
                    ApplyErrorKind::ZeroMatch => {
                        "its target matches nothing; correct the target, or take the action out"
                            .to_owned()
                    }
                    other => other.to_string(),
                };
                let reason = action.description.iter().map(|it| format!(" ({it})"));
                let (target, reason) = (&action.target, reason.collect::<String>());
                wrong.push(format!("action {} at `{target}`{reason}: {why}", index + 1));
            }
        }
        Err(wrong.join("\n"))
    }

    /// The document with all actions that have a target, and the indices of those that have none.
    pub(crate) fn loose(&self, document: &Node) -> Result<(Node, Vec<usize>)> {
        let mut value = serde_json::to_value(document).map_err(at("not JSON"))?;
        let options = ApplyOptions::ErrorOnMixedKindMatch;
        let done = self.whole.apply(&mut value, options.into());
        let done = done.map_or(Vec::new(), |it| it.actions);
        let dead = done.iter().filter(|it| it.matched == 0).map(|it| it.index);
        Ok((in_order(value, Some(document)), dead.collect()))
    }

    /// The targets of those of these actions that change nothing.
    pub(crate) fn idle(&self, document: &Node, indices: &[usize]) -> Result<Vec<String>> {
        let mut value = serde_json::to_value(document).map_err(at("not JSON"))?;
        let mut idle = Vec::new();
        for (index, action) in self.whole.actions.iter().enumerate() {
            let one = v1_1::Overlay {
                actions: vec![action.clone()],
                ..self.whole.clone()
            };
            let before = indices.contains(&index).then(|| value.clone());
            let done = one.apply(&mut value, ApplyOptions::ErrorOnMixedKindMatch.into());
            done.map_err(|error| error.to_string())?;
            idle.extend((before.as_ref() == Some(&value)).then(|| action.target.clone()));
        }
        Ok(idle)
    }
}

/// Refuses the keys of an object that are neither known nor an extension.
fn unknown(name: &str, node: &Node, known: &[&str], wrong: &mut Vec<String>) {
    for (key, _) in node.members() {
        if !known.contains(&key.as_str()) && !key.starts_with("x-") {
            wrong.push(format!("{name} has an unknown key `{key}`"));
        }
    }
}

/// A value with its members in the order of what it was made from; what is new comes last.
fn in_order(value: Value, model: Option<&Node>) -> Node {
    match value {
        Value::Object(mut members) => {
            let mut ordered = IndexMap::new();
            for (name, old) in model.into_iter().flat_map(Node::members) {
                if let Some(value) = members.remove(name) {
                    ordered.insert(name.clone(), in_order(value, Some(old)));
                }
            }
            let new = members.into_iter();
            ordered.extend(new.map(|(name, value)| (name, in_order(value, None))));
            Node::Object(ordered)
        }
        Value::Array(items) => {
            let old = model.map(Node::items).unwrap_or_default();
            let aligned = items.len() >= old.len();
            let mut rest = old.iter();
            let next = |item: Value| {
                // Where items are gone, the others are known by what they are.
                let same =
                    |old: &&Node| aligned || serde_json::to_value(old).is_ok_and(|old| old == item);
                let model = rest.find(same);
                in_order(item, model)
            };
            Node::List(items.into_iter().map(next).collect())
        }
        Value::String(text) => Node::Text(text),
        Value::Number(number) => Node::Number(number),
        Value::Bool(value) => Node::Bool(value),
        Value::Null => Node::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::Overlay;
    use crate::node::Node;

    const DOCUMENT: &str = "
openapi: 3.1.0
paths:
  /zebras:
    get: {summary: List, parameters: [{name: q, in: query}, {name: filter, in: query, style: deepObject}, {name: a, in: query}]}
    delete: {tags: [z, a]}
  /ants: {get: {summary: List}}
info: {version: 1, title: Zoo}
";

    fn overlay(actions: &str) -> Overlay {
        parse(&format!("actions:\n{actions}")).unwrap()
    }

    fn parse(rest: &str) -> crate::Result<Overlay> {
        Overlay::parse(&format!(
            "overlay: 1.1.0\ninfo: {{title: Ours, version: '1'}}\n{rest}"
        ))
    }

    fn document() -> Node {
        Node::parse(DOCUMENT).unwrap()
    }

    #[test]
    fn what_is_not_touched_stays_as_it_was_and_in_its_order() {
        let actions = "
- {target: \"$.paths['/zebras'].get\", update: {x-sdk-group: herd, summary: All}}
- {target: \"$.paths['/zebras'].get.parameters[?@.name=='filter']\", remove: true}
- {target: \"$.paths['/ants']\", remove: true}
- {target: \"$.paths['/zebras'].delete.tags\", update: [b]}
";
        let laid = overlay(actions).apply(&document()).unwrap();
        let expected = r#"{"openapi":"3.1.0","paths":{"/zebras":{"get":{"summary":"All","parameters":[{"name":"q","in":"query"},{"name":"a","in":"query"}],"x-sdk-group":"herd"},"delete":{"tags":["z","a","b"]}}},"info":{"version":1,"title":"Zoo"}}"#;
        assert_eq!(serde_json::to_string(&laid).unwrap(), expected);
    }

    #[test]
    fn an_overlay_without_actions_changes_nothing() {
        let none = parse("actions: []").unwrap();
        assert_eq!(none.apply(&document()), Ok(document()));
    }

    #[test]
    fn all_actions_that_fail_are_named_at_once() {
        let actions = "
- {target: \"$.paths['/yaks'].get\", update: {deprecated: true}, description: Yaks are old.}
- {target: \"$.paths['/ants'].get\", update: {deprecated: true}}
- {target: \"$.info.title\", update: Farm}
- {target: \"$.paths['/cows']\", remove: true}
";
        let error = overlay(actions).apply(&document()).unwrap_err();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(
            lines[0],
            "action 1 at `$.paths['/yaks'].get` (Yaks are old.): its target matches nothing; correct the target, or take the action out"
        );
        assert!(
            lines[1].starts_with("action 3 at `$.info.title`: "),
            "{error}"
        );
        assert_eq!(
            lines[2],
            "action 4 at `$.paths['/cows']`: its target matches nothing; correct the target, or take the action out"
        );
        assert_eq!(lines.len(), 3, "{error}");
    }

    #[test]
    fn actions_without_a_target_or_an_effect_are_told() {
        let actions = "
- {target: \"$.paths['/yaks'].get\", update: {deprecated: true}}
- {target: \"$.paths['/ants'].get\", update: {summary: List}}
- {target: \"$.paths['/ants'].get\", update: {summary: All}}
";
        let (overlay, document) = (overlay(actions), document());
        let (laid, dead) = overlay.loose(&document).unwrap();
        let summary = laid.pointer("/paths/~1ants/get/summary").unwrap();
        assert_eq!((summary.text(), dead), (Some("All"), vec![0]));
        let idle = overlay.idle(&document, &[1, 2]).unwrap();
        assert_eq!(idle, ["$.paths['/ants'].get"]);
    }

    #[test]
    fn a_misspelt_key_and_a_version_that_is_not_1_1_are_refused() {
        let misspelt = "action: []\nactions: [{target: $, update: {}, delete: true}]";
        assert_eq!(
            parse(misspelt).unwrap_err(),
            "the overlay has an unknown key `action`\naction 1 has an unknown key `delete`"
        );
        for (wrong, why) in [
            ("x-none: true", "actions"),
            ("actions: [{target: nowhere, update: {}}]", "JSONPath"),
            ("actions: [{target: $.info}]", "must specify one of"),
        ] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let later = "overlay: 2.0.0\ninfo: {title: T, version: '1'}\nactions: []";
        assert!(Overlay::parse(later).unwrap_err().contains("2.0.0"));
    }
}
