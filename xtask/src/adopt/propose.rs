//! Actions for the overlay: those that follow from the spec that was there before, and those that a person must choose.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::document::{Call, Document};
use crate::findings::{Finding, Findings, Weight};
use crate::node::Node;
use crate::{Result, at};

/// An action, ready to be pasted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Action {
    pub(crate) target: String,
    pub(crate) reason: String,
    pub(crate) update: Node,
}

/// What an operation is called in the client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) id: String,
    pub(crate) group: String,
    pub(crate) method: String,
}

/// Names by route.
pub(crate) type Names = BTreeMap<String, Name>;

/// A spec, and what its operations are called.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) root: &'a Node,
    pub(crate) names: &'a Names,
    /// By route, the assumptions of operations of which the next document says nothing.
    pub(crate) open: &'a BTreeMap<String, Vec<String>>,
}

/// The rules that our contract states of an operation.
const RULES: [&str; 2] = ["x-replay-status", "x-mutually-exclusive"];

/// What it says of the whole.
const STATUS: [&str; 3] = ["x-lifecycle", "x-runtime-status", "x-shows-envelope"];

/// What follows from the spec before, and nobody needs to be asked: names that callers know, rules that the contract
/// states, and that the reference server has no handler for what is new or changed on the wire.
pub(crate) fn derived(
    before: Option<Named<'_>>,
    after: Named<'_>,
    changed: &BTreeSet<String>,
) -> Vec<Action> {
    let new = Document { root: after.root };
    let Some(before) = before else {
        return new.calls().filter_map(|call| served(&call)).collect();
    };
    let old = Document { root: before.root };
    let mut actions = Vec::new();
    let (was, is) = (before.root.at("info"), after.root.at("info"));
    let mut status = kept(was, is, &STATUS);
    let metadata = was.text_at("x-metadata-operation").filter(|id| {
        let mut known = before.names.iter();
        known.any(|(route, name)| name.id == **id && after.names.contains_key(route))
    });
    if let Some(id) = metadata.filter(|_| is.get("x-metadata-operation").is_none()) {
        status.push(("x-metadata-operation".to_owned(), Node::Text(id.to_owned())));
    }
    if !status.is_empty() {
        let reason = "What the contract says of its status.";
        actions.push(Action::update("$.info".to_owned(), reason, status));
    }
    for call in new.calls() {
        let route = call.route();
        let Some(was) = old.call(&route) else {
            actions.extend(served(&call));
            continue;
        };
        let mut update = renamed(before.names.get(&route), after.names.get(&route));
        // What the overlay says already is a decision.
        update.extend(before.open.get(&route).map(|ids| resting(ids)));
        // Without its handler, the exchange would issue tokens that no application takes.
        let content = call.raw.at("requestBody").at("content");
        let is_exchange = content.get("application/x-www-form-urlencoded").is_some();
        let is_skipped = call.raw.get("x-sdk-skip").is_some();
        if changed.contains(&route) && !is_skipped && !is_exchange {
            update.push((SERVED.to_owned(), Node::Bool(true)));
        }
        update.retain(|(key, _)| key == "operationId" || call.raw.get(key).is_none());
        update.extend(rules(old, &was, new, &call));
        if !update.is_empty() {
            let reason = "Names that are in use, and rules that the contract states.";
            actions.push(Action::update(call.target(), reason, update));
        }
    }
    actions
}

/// Says that an operation has no handler in the reference server.
const SERVED: &str = "x-served-from-schema";

fn served(call: &Call<'_>) -> Option<Action> {
    if call.raw.get(SERVED).is_some() || call.raw.get("x-sdk-skip").is_some() {
        return None;
    }
    let update = vec![(SERVED.to_owned(), Node::Bool(true))];
    Some(Action::update(call.target(), "", update))
}

/// The names as they were, where they would become others. The id is never sent, but stands in stored commands.
fn renamed(before: Option<&Name>, after: Option<&Name>) -> Vec<(String, Node)> {
    let (Some(before), Some(after)) = (before, after) else {
        return Vec::new();
    };
    let id = before.id != after.id;
    let parts = [
        ("operationId", &before.id, id),
        ("x-sdk-group", &before.group, before.group != after.group),
        // A name may be derived from the id, so it is kept with it.
        (
            "x-sdk-method",
            &before.method,
            id || before.method != after.method,
        ),
    ];
    let changed = parts.into_iter().filter(|(_, _, changed)| *changed);
    changed
        .map(|(key, was, _)| (key.to_owned(), Node::Text(was.clone())))
        .collect()
}

/// A type that keeps its name.
pub(super) fn named((target, name): (String, String)) -> Action {
    let update = vec![("x-sdk-name".to_owned(), Node::Text(name))];
    Action::update(target, "", update)
}

/// What an operation goes on resting on, since the document does not say.
fn resting(ids: &[String]) -> (String, Node) {
    let node = |id: &String| Node::Text(id.clone());
    let value = match ids {
        [id] => node(id),
        _ => Node::List(ids.iter().map(node).collect()),
    };
    ("x-assumption".to_owned(), value)
}

/// A rule about parameters holds as long as they are there.
fn rules(
    before: Document<'_>,
    old: &Call<'_>,
    after: Document<'_>,
    new: &Call<'_>,
) -> Vec<(String, Node)> {
    let mut rules = kept(old.raw, new.raw, &RULES);
    let is_gone = |name: &Node| {
        let name = name.plain();
        before.parameter(old, &name).is_some() && after.parameter(new, &name).is_none()
    };
    rules.retain(|(_, value)| !value.items().iter().flat_map(Node::items).any(is_gone));
    rules
}

fn kept(old: &Node, new: &Node, keys: &[&str]) -> Vec<(String, Node)> {
    let missing = keys.iter().filter(|key| new.get(key).is_none());
    missing
        .filter_map(|key| Some(((*key).to_owned(), old.get(key)?.clone())))
        .collect()
}

/// What a person must decide: a rule that refuses, wherever it does.
#[derive(Debug)]
pub(crate) struct Decision<'f> {
    /// The first of its findings speaks for all.
    pub(crate) findings: Vec<&'f Finding>,
    /// What settles it if nobody knows better. One action is enough for an operation, however much of it is refused.
    pub(crate) actions: Vec<Action>,
}

pub(crate) fn decisions<'f>(findings: &'f Findings, spec: &Node) -> Vec<Decision<'f>> {
    let document = Document { root: spec };
    let (mut decisions, mut settled) = (Vec::<Decision<'f>>::new(), BTreeSet::new());
    for finding in findings.of(Weight::Refused) {
        let unescaped = |step: &str| step.replace("~1", "/").replace("~0", "~");
        let steps: Vec<String> = finding.place.split('/').map(unescaped).collect();
        let call = match steps.as_slice() {
            [_, paths, path, method, ..] if paths == "paths" => document
                .calls()
                .find(|it| it.path == path && it.method == method),
            _ => None,
        };
        let target = call.map(|call| call.target());
        // What is wrong with an extension of ours is for a person to correct.
        let action = target
            .filter(|_| !finding.rule.contains("`x-"))
            .filter(|it| settled.insert(it.clone()))
            .map(|target| {
                let reason = Node::Text(sentence(&finding.rule));
                let update = vec![("x-sdk-skip".to_owned(), reason)];
                Action::update(target, &finding.remedy, update)
            });
        let same = |it: &&mut Decision<'_>| it.findings[0].rule == finding.rule;
        if let Some(decision) = decisions.iter_mut().find(same) {
            decision.findings.push(finding);
            decision.actions.extend(action);
        } else {
            decisions.push(Decision {
                findings: vec![finding],
                actions: action.into_iter().collect(),
            });
        }
    }
    decisions
}

fn sentence(rule: &str) -> String {
    let mut letters = rule.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

impl Action {
    fn lines(&self, flush: bool) -> String {
        let text = self.to_string();
        let lines = text.split_inclusive('\n');
        lines
            .map(|line| if flush { &line[2..] } else { line })
            .collect()
    }

    fn update(target: String, reason: &str, members: Vec<(String, Node)>) -> Self {
        Self {
            target,
            reason: reason.trim_end_matches("; ").to_owned(),
            update: Node::Object(members.into_iter().collect()),
        }
    }
}

/// As it stands in an overlay. JSON is YAML, and fits on a line.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |value: &Node| serde_json::to_string(value).unwrap_or_default();
        let (target, reason) = (
            Node::Text(self.target.clone()),
            Node::Text(self.reason.clone()),
        );
        let (target, update) = (json(&target), json(&self.update));
        if self.reason.is_empty() {
            return writeln!(f, "  - {{target: {target}, update: {update}}}");
        }
        writeln!(f, "  - target: {target}")?;
        writeln!(f, "    description: {}", json(&reason))?;
        writeln!(f, "    update: {update}")
    }
}

/// Items stand below `actions` with an indentation or without.
fn is_flush(overlay: &str) -> bool {
    overlay.lines().any(|line| line.starts_with("- "))
}

/// The overlay with more actions at its end; comments and layout stay.
pub(crate) fn appended(overlay: &str, actions: &[Action]) -> Result<String> {
    if actions.is_empty() {
        return Ok(overlay.to_owned());
    }
    let mut text = overlay.trim_end().to_owned() + "\n";
    if let Some(head) = text.strip_suffix("actions: []\n") {
        text = format!("{head}actions:\n");
    }
    let flush = is_flush(&text);
    text.extend(actions.iter().map(|it| it.lines(flush)));
    let count = |text: &str| Ok::<_, String>(Node::parse(text)?.at("actions").items().len());
    let grown = count(&text).map_err(at("the overlay"))?;
    if grown == count(overlay)? + actions.len() {
        Ok(text)
    } else {
        Err(
            "the overlay must end with its `actions`, one below the other, so that more can follow"
                .to_owned(),
        )
    }
}

/// By index, the actions of an overlay that were written here and never touched, with their lines.
pub(crate) fn written(overlay: &str) -> Result<BTreeMap<usize, (Action, String)>> {
    let flush = is_flush(overlay);
    let overlay_node = Node::parse(overlay)?;
    let actions = overlay_node.at("actions").items().iter().enumerate();
    let written = actions.filter_map(|(index, node)| {
        let update = node.get("update")?;
        let action = Action {
            target: node.text_at("target")?.to_owned(),
            reason: node.text_at("description").unwrap_or_default().to_owned(),
            update: update.clone(),
        };
        let is_ours = |key: &String| key.starts_with("x-") || key == "operationId";
        let lines = action.lines(flush);
        let is_written = update.members().all(|it| is_ours(it.0)) && overlay.contains(&lines);
        is_written.then_some((index, (action, lines)))
    });
    Ok(written.collect())
}

/// The overlay without those of these actions that were written here, and what they were.
pub(crate) fn without(overlay: &str, dead: &[usize]) -> Result<(String, Vec<Action>)> {
    let (mut text, mut gone) = (overlay.to_owned(), Vec::new());
    for (index, (action, lines)) in written(overlay)? {
        if dead.contains(&index) {
            text = text.replacen(&lines, "", 1);
            gone.push(action);
        }
    }
    if Node::parse(&text)?.at("actions").is_null() {
        text = text.replacen("\nactions:\n", "\nactions: []\n", 1);
    }
    Ok((text, gone))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{Name, Named, Names, appended, decisions, derived, without};
    use crate::adopt::overlay::Overlay;
    use crate::findings::Findings;
    use crate::node::Node;

    const BEFORE: &str = "
info: {x-lifecycle: preview, x-metadata-operation: getMeta}
paths:
  /meta: {get: {}}
  /pets:
    get:
      x-mutually-exclusive: [[a, b]]
      parameters: [{name: a}, {name: b}]
    post:
      x-replay-status: 200
      x-mutually-exclusive: [[from, to]]
      parameters: [{name: from}, {name: to}]
";

    const AFTER: &str = "
info: {title: T}
paths:
  /meta: {get: {}}
  /pets:
    parameters: [{name: a}, {name: b}]
    get: {}
    post: {parameters: [{name: from}]}
    delete: {}
  /it's new: {put: {}}
  /left: {put: {x-sdk-skip: old}}
";

    fn parsed(text: &str) -> Node {
        Node::parse(text).unwrap()
    }

    fn names(all: &[(&str, &str, &str, &str)]) -> Names {
        let name = |(route, id, group, method): &(&str, &str, &str, &str)| {
            let [id, group, method] = [id, group, method].map(|it| (*it).to_owned());
            ((*route).to_owned(), Name { id, group, method })
        };
        all.iter().map(name).collect()
    }

    fn before() -> Known {
        let names = names(&[
            ("GET /meta", "getMeta", "service", "meta"),
            ("GET /pets", "listPets", "pets", "list"),
        ]);
        let open = [(
            "GET /meta".to_owned(),
            vec!["A01".to_owned(), "A12".to_owned()],
        )];
        (parsed(BEFORE), names, open.into())
    }

    fn after(id: &str, group: &str) -> Known {
        let names = names(&[
            ("GET /meta", id, group, "meta"),
            ("GET /pets", "listPets", "pets", "list"),
        ]);
        (parsed(AFTER), names, BTreeMap::new())
    }

    type Known = (Node, Names, BTreeMap<String, Vec<String>>);

    fn spec((root, names, open): &Known) -> Named<'_> {
        Named { root, names, open }
    }

    fn changed() -> BTreeSet<String> {
        BTreeSet::from(["POST /pets".to_owned()])
    }

    #[test]
    fn names_and_rules_are_kept_and_what_is_new_is_served_from_its_schema() {
        let (before, after) = (before(), after("meta", "api"));
        let actions = derived(Some(spec(&before)), spec(&after), &changed());
        let json = |node| serde_json::to_string(node).unwrap();
        let shown = actions
            .iter()
            .map(|it| format!("{} {}", it.target, json(&it.update)));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                r#"$.info {"x-lifecycle":"preview","x-metadata-operation":"getMeta"}"#,
                r#"$.paths['/meta'].get {"operationId":"getMeta","x-sdk-group":"service","x-sdk-method":"meta","x-assumption":["A01","A12"]}"#,
                r#"$.paths['/pets'].get {"x-mutually-exclusive":[["a","b"]]}"#,
                // `to` is gone, and with it what was said of it.
                r#"$.paths['/pets'].post {"x-served-from-schema":true,"x-replay-status":200}"#,
                r#"$.paths['/pets'].delete {"x-served-from-schema":true}"#,
                r#"$.paths['/it\'s new'].put {"x-served-from-schema":true}"#,
            ]
        );
        assert_eq!(derived(None, spec(&after), &changed()).len(), 5);
    }

    #[test]
    fn what_was_derived_once_is_not_derived_again() {
        let overlay = "overlay: 1.1.0\ninfo: {title: T, version: '1'}\n# Ours.\nactions: []\n";
        let (before, document) = (before(), after("meta", "api"));
        let actions = derived(Some(spec(&before)), spec(&document), &changed());
        let overlay = appended(overlay, &actions).unwrap();
        assert!(
            overlay.contains("# Ours.\nactions:\n  - target: "),
            "{overlay}"
        );
        let laid = Overlay::parse(&overlay)
            .unwrap()
            .apply(&document.0)
            .unwrap();
        let laid = (laid, after("getMeta", "service").1, BTreeMap::new());
        assert_eq!(derived(Some(spec(&before)), spec(&laid), &changed()), []);
    }

    #[test]
    fn what_was_derived_goes_when_its_target_does_and_what_a_person_wrote_stays() {
        let empty = "overlay: 1.1.0\nactions: []\n";
        let after = after("meta", "api");
        let actions = derived(Some(spec(&before())), spec(&after), &changed());
        let overlay = appended(empty, &actions).unwrap();
        let all: Vec<usize> = (0..actions.len()).collect();
        assert_eq!(
            without(&overlay, &all).unwrap(),
            (empty.to_owned(), actions.clone())
        );
        let edited = overlay.replace("Names that are in use, and", "The");
        let edited = edited.replacen("{\"x-served", "{\"deprecated\":true,\"x-served", 1);
        let (left, gone) = without(&edited, &all).unwrap();
        assert_eq!(gone.len(), actions.len() - 1);
        assert!(left.contains("deprecated"), "{left}");
    }

    #[test]
    fn actions_follow_those_that_a_person_wrote() {
        let flush = "overlay: 1.1.0\nactions:\n- target: $\n  update: {}\n";
        let document = (
            parsed("paths: {/a: {get: {}}}"),
            Names::new(),
            BTreeMap::new(),
        );
        let action = derived(None, spec(&document), &changed());
        assert_eq!(
            appended(flush, &action).unwrap(),
            format!(
                "{flush}- {{target: \"$.paths['/a'].get\", update: {{\"x-served-from-schema\":true}}}}\n"
            )
        );
        let error = appended("actions: [{target: $}]\ninfo: {}\n", &action).unwrap_err();
        assert!(error.contains("the overlay"), "{error}");
    }

    #[test]
    fn a_refusal_in_an_operation_can_be_settled_by_leaving_it_out() {
        let mut findings = Findings::default();
        findings.refuse(
            "/paths/~1pets/get/requestBody/content",
            "a body is JSON",
            "leave it out",
        );
        findings.refuse("/paths/~1pets/get", "a GET takes no body", "leave it out");
        findings.refuse("/components/schemas/Pet", "refers to nothing", "correct it");
        findings.refuse("/paths/~1pets/post", "`x-sdk-nam` is none", "correct it");
        findings.refuse(
            "/paths/~1pets/delete/requestBody/content",
            "a body is JSON",
            "leave it out",
        );
        let after = parsed(AFTER);
        let decisions = decisions(&findings, &after);
        let actions = decisions.iter().flat_map(|it| &it.actions);
        let actions: String = actions.map(ToString::to_string).collect();
        assert_eq!(
            actions,
            "  - target: \"$.paths['/pets'].get\"\n    description: \"leave it out\"\n    \
             update: {\"x-sdk-skip\":\"A body is JSON.\"}\n  \
             - target: \"$.paths['/pets'].delete\"\n    description: \"leave it out\"\n    \
             update: {\"x-sdk-skip\":\"A body is JSON.\"}\n",
            "one action settles an operation"
        );
        let places = decisions.iter().map(|it| it.findings.len());
        assert_eq!(
            places.collect::<Vec<_>>(),
            [2, 1, 1, 1],
            "one decision settles a rule"
        );
    }
}
