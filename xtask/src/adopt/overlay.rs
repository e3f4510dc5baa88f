//! An `OpenAPI` Overlay 1.1 with additions and corrections to a vendor's document, which stays unchanged.
//!
//! `roas-overlay` applies the overlay, with unordered values, so this module restores the document's order. The crate ignores
//! unknown keys, so this module rejects them. A person can edit the text, so this module only adds and removes its own lines.

use std::fmt;

use indexmap::IndexMap;
use roas_overlay::apply::{Apply, ApplyOptions, ApplyReport};
use roas_overlay::v1_1;
use roas_overlay::validation::{Validate, ValidationOptions};
use serde_json::Value;

use crate::node::Node;
use crate::{Result, at, settled};

const ROOT_KEYS: [&str; 4] = ["overlay", "info", "extends", "actions"];
const ACTION_KEYS: [&str; 5] = ["target", "description", "update", "copy", "remove"];

/// A well-formed overlay with its text.
#[derive(Debug)]
pub(super) struct Overlay {
    pub(super) text: String,
    node: Node,
    parsed: v1_1::Overlay,
}

/// An update in the form that this program writes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Action {
    /// A `JSONPath`.
    pub(super) target: String,
    pub(super) update: Node,
}

/// The fields that an action updates.
pub(super) type Members = Vec<(String, Node)>;

impl Action {
    pub(super) fn new(target: String, update: Members) -> Self {
        let update = Node::Object(update.into_iter().collect());
        Self { target, update }
    }
}

impl Overlay {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let node = Node::parse(text)?;
        let mut problems = unknown("the overlay", &node, &ROOT_KEYS);
        for (index, action) in node.at("actions").items().iter().enumerate() {
            let name = format!("action {}", index + 1);
            problems.extend(unknown(&name, action, &ACTION_KEYS));
        }
        settled(&problems)?;
        let parsed: v1_1::Overlay =
            serde_json::from_value(value(&node)?).map_err(at("not an OpenAPI Overlay 1.1"))?;
        // A document might need no action, but the format requires at least one.
        if !parsed.actions.is_empty() {
            parsed
                .validate(ValidationOptions::IgnoreEmptyInfoVersion.into())
                .map_err(|error| error.to_string().trim_end().to_owned())?;
        }
        let text = text.to_owned();
        Ok(Self { text, node, parsed })
    }

    /// The document with all actions applied. The error names every action that matches nothing.
    pub(super) fn apply(&self, document: &Node) -> Result<Node> {
        let mut value = value(document)?;
        let dead = dead(&self.parsed, &mut value)?.into_iter().map(|index| {
            let action = &self.parsed.actions[index];
            let reason = action.description.iter().map(|it| format!(" ({it})"));
            let (target, reason) = (&action.target, reason.collect::<String>());
            format!("`{target}`{reason} matches nothing; correct the target, or remove the action")
        });
        settled(&dead.collect::<Vec<_>>())?;
        Ok(in_order(value, Some(document)))
    }

    /// Removes the actions that this program wrote and that match nothing in a document. Returns the removed actions too.
    pub(super) fn fitted(self, document: &Node) -> Result<(Self, Vec<Action>)> {
        let dead = dead(&self.parsed, &mut value(document)?)?;
        let gone: Vec<Action> = dead.into_iter().filter_map(|it| self.written(it)).collect();
        let mut text = self.text;
        for action in &gone {
            text = text.replacen(&action.to_string(), "", 1);
        }
        if Node::parse(&text)?.at("actions").is_null() {
            text = text.replacen("\nactions:\n", "\nactions: []\n", 1);
        }
        Ok((Self::parse(&text)?, gone))
    }

    /// Appends actions. Comments and layout stay.
    pub(super) fn with(self, actions: &[Action]) -> Result<Self> {
        if actions.is_empty() {
            return Ok(self);
        }
        let mut text = self.text.trim_end().to_owned() + "\n";
        if let Some(head) = text.strip_suffix("actions: []\n") {
            text = format!("{head}actions:\n");
        }
        text.extend(actions.iter().map(Action::to_string));
        let grown = Self::parse(&text).map(|it| (it.parsed.actions.len(), it));
        match grown {
            Ok((count, grown)) if count == self.parsed.actions.len() + actions.len() => Ok(grown),
            _ => Err(
                "the overlay must end with its `actions`, one per line and indented by two spaces"
                    .to_owned(),
            ),
        }
    }

    /// The action at an index, if this program wrote it and it was not edited.
    fn written(&self, index: usize) -> Option<Action> {
        let node = self.node.at("actions").items().get(index)?;
        let action = Action {
            target: node.text_at("target")?.to_owned(),
            update: node.get("update")?.clone(),
        };
        let is_ours = |key: &String| key.starts_with("x-") || key == "operationId";
        let is_written = action.update.members().all(|it| is_ours(it.0))
            && self.text.contains(&action.to_string());
        is_written.then_some(action)
    }
}

/// Writes the line of an overlay, with JSON as YAML.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |value: &Node| serde_json::to_string(value).unwrap_or_default();
        let target = json(&Node::Text(self.target.clone()));
        let update = json(&self.update);
        writeln!(f, "  - {{target: {target}, update: {update}}}")
    }
}

/// Converts a JSON pointer into a `JSONPath`, if its target exists.
pub(super) fn path(document: &Node, pointer: &str) -> Option<String> {
    let quoted = |name: &str| format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"));
    let (mut node, mut path) = (document, "$".to_owned());
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let item = step.parse().ok().and_then(|at: usize| node.items().get(at));
        let is_plain = step.chars().all(|it| it.is_ascii_alphabetic());
        // The name of a parameter is more stable than its index.
        let next = match item.map(|it| it.text_at("name")) {
            Some(Some(name)) => format!("[?@.name=={}]", quoted(name)),
            Some(None) => format!("[{step}]"),
            None if is_plain => format!(".{step}"),
            None => format!("[{}]", quoted(&step)),
        };
        path += &next;
        node = item.or_else(|| node.get(&step))?;
    }
    Some(path)
}

/// The keys of an object that are neither known nor an extension.
fn unknown(name: &str, node: &Node, known: &[&str]) -> Vec<String> {
    let keys = node.members().map(|it| it.0);
    let wrong = keys.filter(|key| !known.contains(&key.as_str()) && !key.starts_with("x-"));
    wrong
        .map(|key| format!("{name} has an unknown key `{key}`"))
        .collect()
}

fn value(node: &Node) -> Result<Value> {
    serde_json::to_value(node).map_err(at("not JSON"))
}

/// Applies the actions, and returns the indices of the actions that match nothing.
fn dead(overlay: &v1_1::Overlay, value: &mut Value) -> Result<Vec<usize>> {
    let done = overlay.apply(value, ApplyOptions::ErrorOnMixedKindMatch.into());
    let ApplyReport { actions, .. } =
        done.map_err(|error| format!("`{}`: {}", error.target, error.kind))?;
    let dead = actions.iter().filter(|it| it.matched == 0);
    Ok(dead.map(|it| it.index).collect())
}

/// A value with its fields in the order of its original. New fields come last.
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
            // If items were removed, the remaining items are recognized by their values.
            let is_shorter = items.len() < old.len();
            let mut rest = old.iter();
            let ordered = items.into_iter().map(|item| {
                let same = |it: &&Node| !is_shorter || value_is(it, &item);
                let model = rest.find(same);
                in_order(item, model)
            });
            Node::List(ordered.collect())
        }
        Value::String(text) => Node::Text(text),
        Value::Number(number) => Node::Number(number),
        Value::Bool(value) => Node::Bool(value),
        Value::Null => Node::Null,
    }
}

fn value_is(node: &Node, item: &Value) -> bool {
    value(node).is_ok_and(|it| it == *item)
}

#[cfg(test)]
mod tests {
    use super::{Action, Overlay};
    use crate::node::Node;

    const HEAD: &str = "overlay: 1.1.0\ninfo: {title: Ours, version: '1'}\n";

    fn overlay(actions: &str) -> Overlay {
        Overlay::parse(&format!("{HEAD}actions:\n{actions}")).unwrap()
    }

    fn document() -> Node {
        let text = "
openapi: 3.1.0
paths:
  /zebras:
    get: {summary: List, parameters: [{name: q, in: query}, {name: filter, in: query, style: deepObject}, {name: a, in: query}]}
    delete: {tags: [z, a]}
  /ants: {get: {summary: List}}
info: {version: 1, title: Zoo}
";
        Node::parse(text).unwrap()
    }

    #[test]
    fn untouched_parts_keep_their_order() {
        let actions = "
  - {target: \"$.paths['/zebras'].get\", update: {x-sdk-group: herd, summary: All}}
  - {target: \"$.paths['/zebras'].get.parameters[?@.name=='filter']\", remove: true}
  - {target: \"$.paths['/ants']\", remove: true}
  - {target: \"$.paths['/zebras'].delete.tags\", update: [b]}
";
        let laid = overlay(actions).apply(&document()).unwrap();
        let expected = r#"{"openapi":"3.1.0","paths":{"/zebras":{"get":{"summary":"All","parameters":[{"name":"q","in":"query"},{"name":"a","in":"query"}],"x-sdk-group":"herd"},"delete":{"tags":["z","a","b"]}}},"info":{"version":1,"title":"Zoo"}}"#;
        assert_eq!(serde_json::to_string(&laid).unwrap(), expected);
        let none = Overlay::parse(&format!("{HEAD}actions: []")).unwrap();
        assert_eq!(none.apply(&document()), Ok(document()));
    }

    #[test]
    fn an_error_names_all_actions_without_a_match() {
        let actions = "
  - {target: \"$.paths['/yaks'].get\", update: {deprecated: true}, description: Yaks are old.}
  - {target: \"$.paths['/ants'].get\", update: {summary: All}}
  - {target: \"$.paths['/cows']\", remove: true}
";
        let error = overlay(actions).apply(&document()).unwrap_err();
        assert_eq!(
            error,
            "`$.paths['/yaks'].get` (Yaks are old.) matches nothing; correct the target, or remove the action\n\
             `$.paths['/cows']` matches nothing; correct the target, or remove the action"
        );
        let text = overlay("  - {target: $.info.title, update: Farm}\n");
        let error = text.apply(&document()).unwrap_err();
        assert!(error.starts_with("`$.info.title`: "), "{error}");
    }

    #[test]
    fn unknown_keys_and_versions_are_rejected() {
        let unknown_keys = "action: []\nactions: [{target: $, update: {}, delete: true}]";
        for (wrong, why) in [
            (
                unknown_keys,
                "the overlay has an unknown key `action`\naction 1 has an unknown key `delete`",
            ),
            ("x-none: true", "actions"),
            ("actions: [{target: nowhere, update: {}}]", "JSONPath"),
            ("actions: [{target: $.info}]", "must specify one of"),
        ] {
            let error = Overlay::parse(&format!("{HEAD}{wrong}")).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let later = HEAD.replace("1.1.0", "2.0.0") + "actions: []";
        assert!(Overlay::parse(&later).unwrap_err().contains("2.0.0"));
    }

    #[test]
    fn own_actions_disappear_with_their_targets_but_edited_actions_stay() {
        let actions = ["/it's new", "/ants"].map(|it| {
            let target = format!("$.paths['{}'].get", it.replace('\'', "\\'"));
            Action::new(
                target,
                vec![("x-sdk-skip".to_owned(), Node::Text("Why.".to_owned()))],
            )
        });
        let empty = format!("{HEAD}# Ours.\nactions: []\n");
        let grown = Overlay::parse(&empty).unwrap().with(&actions).unwrap();
        let expected = r#"# Ours.
actions:
  - {target: "$.paths['/it\\'s new'].get", update: {"x-sdk-skip":"Why."}}
  - {target: "$.paths['/ants'].get", update: {"x-sdk-skip":"Why."}}
"#;
        assert_eq!(grown.text, format!("{HEAD}{expected}"));
        let without = Node::parse("paths: {}").unwrap();
        let (left, gone) = grown.fitted(&without).unwrap();
        assert_eq!((left.text, gone), (empty, actions.to_vec()));

        let edited = expected.replace("{\"x-sdk-skip\":\"Why.\"}", "{\"deprecated\":true}");
        let edited = overlay(edited.strip_prefix("# Ours.\nactions:\n").unwrap());
        let text = edited.text.clone();
        assert_eq!(edited.fitted(&without).unwrap().0.text, text);

        let error = Overlay::parse("overlay: 1.1.0\nactions: []\ninfo: {title: T, version: '1'}\n");
        let error = error.unwrap().with(&actions).unwrap_err();
        assert!(error.contains("must end with its `actions`"), "{error}");
    }
}
