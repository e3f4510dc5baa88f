//! What a document says of a value, whatever it is composed of: enough to hold two documents against each other.

use std::collections::BTreeSet;

use crate::node::Node;

pub(super) const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// A document whose references are followed.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    pub(super) root: &'a Node,
}

/// An operation where it stands.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) path: &'a str,
    pub(super) method: &'a str,
    pub(super) item: &'a Node,
    pub(super) raw: &'a Node,
}

impl Call<'_> {
    pub(super) fn route(&self) -> String {
        route(self.method, self.path)
    }

    /// A `JSONPath` that selects it.
    pub(super) fn target(&self) -> String {
        format!("$.paths[{}].{}", quoted(self.path), self.method)
    }
}

/// A route, whatever the parameters in its path are called.
pub(super) fn route(method: &str, path: &str) -> String {
    let steps = path.split('/');
    let steps = steps.map(|step| if step.starts_with('{') { "{}" } else { step });
    let path = steps.collect::<Vec<_>>().join("/");
    format!("{} {path}", method.to_uppercase())
}

/// A name in a `JSONPath`.
pub(super) fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

impl<'a> Document<'a> {
    pub(super) fn calls(self) -> impl Iterator<Item = Call<'a>> {
        let paths = self.root.at("paths").members();
        paths.flat_map(|(path, item)| {
            METHODS.iter().filter_map(move |method| {
                let raw = item.get(method)?;
                Some(Call {
                    path,
                    method,
                    item,
                    raw,
                })
            })
        })
    }

    pub(super) fn call(self, route: &str) -> Option<Call<'a>> {
        self.calls().find(|call| call.route() == route)
    }

    /// The parameters of an operation, those of its path included.
    pub(super) fn parameters(self, call: &Call<'a>) -> impl Iterator<Item = &'a Node> {
        let own = call.raw.at("parameters").items().iter();
        let shared = call.item.at("parameters").items().iter();
        own.chain(shared).map(move |node| self.followed(node))
    }

    pub(super) fn parameter(self, call: &Call<'a>, name: &str) -> Option<&'a Node> {
        let mut parameters = self.parameters(call);
        parameters.find(|it| {
            it.text_at("name")
                .is_some_and(|it| it.eq_ignore_ascii_case(name))
        })
    }

    /// The schema of what an operation takes as JSON.
    pub(super) fn body(self, call: &Call<'a>) -> Option<&'a Node> {
        Self::json(self.followed(call.raw.at("requestBody")))
    }

    /// The schema of what it returns: that of the first 2xx with one.
    pub(super) fn reply(self, call: &Call<'a>) -> Option<&'a Node> {
        self.responses(call, '2')
            .find_map(|(_, raw)| Self::json(raw))
    }

    pub(super) fn responses(
        self,
        call: &Call<'a>,
        class: char,
    ) -> impl Iterator<Item = (&'a String, &'a Node)> {
        let all = call.raw.at("responses").members();
        all.filter(move |(status, _)| status.starts_with(class))
            .map(move |(status, raw)| (status, self.followed(raw)))
    }

    pub(super) fn json(node: &'a Node) -> Option<&'a Node> {
        let mut contents = node.at("content").members();
        contents
            .find(|(media, _)| media.contains("json"))?
            .1
            .get("schema")
    }

    /// What a node refers to, or itself.
    pub(super) fn followed(self, node: &'a Node) -> &'a Node {
        let mut node = node;
        // A circle of references ends somewhere.
        for _ in 0..32 {
            let target = node.text_at("$ref").and_then(|it| it.strip_prefix('#'));
            let Some(target) = target.and_then(|it| self.root.pointer(it)) else {
                break;
            };
            node = target;
        }
        node
    }

    /// The schemas that a value satisfies all at once: its own, what it refers to and merges, and the one that is not
    /// null of a choice between two.
    fn parts(self, schema: &'a Node) -> Vec<&'a Node> {
        let (mut found, mut next) = (Vec::<&Node>::new(), vec![schema]);
        while let Some(node) = next.pop() {
            if found.iter().any(|known| std::ptr::eq(*known, node)) {
                continue;
            }
            found.push(node);
            let target = self.followed(node);
            next.extend((!std::ptr::eq(target, node)).then_some(target));
            next.extend(node.at("allOf").items());
            for choice in ["oneOf", "anyOf"] {
                let mut real = node.at(choice).items().iter().filter(|it| !is_null(it));
                if let (Some(only), None) = (real.next(), real.next()) {
                    next.push(only);
                }
            }
        }
        found
    }

    /// All members.
    fn members(self, schema: &'a Node) -> impl Iterator<Item = (&'a String, &'a Node)> {
        let parts = self.parts(schema).into_iter();
        parts.flat_map(|part| part.at("properties").members())
    }

    /// The value of a keyword in any part.
    fn keyword(self, schema: &'a Node, key: &str) -> Option<&'a Node> {
        self.parts(schema).iter().find_map(|part| part.get(key))
    }

    /// Its types without null; none if it may be anything.
    fn types(self, schema: &'a Node) -> BTreeSet<String> {
        let mut types = BTreeSet::new();
        for part in self.parts(schema) {
            types.extend(part.at("type").texts());
            let value = part
                .get("const")
                .or_else(|| part.at("enum").items().first());
            types.extend(value.map(|it| type_of(it).to_owned()));
            let composed = part.get("properties").is_some() || part.get("discriminator").is_some();
            types.extend(composed.then(|| "object".to_owned()));
        }
        types.remove("null");
        types
    }

    /// Whether anything is said about a value at all.
    pub(super) fn says(self, schema: &'a Node) -> bool {
        let types = self.types(schema);
        let bare = types.iter().all(|it| it == "object");
        let bare = bare && self.members(schema).next().is_none();
        let kept = ["additionalProperties", "oneOf", "anyOf"];
        let mut kept = kept.iter().filter_map(|key| self.keyword(schema, key));
        !bare
            || kept.any(|it| it.object().is_some_and(|it| !it.is_empty()) || !it.items().is_empty())
    }
}

fn is_null(node: &Node) -> bool {
    node.text_at("type") == Some("null")
}

fn type_of(value: &Node) -> &'static str {
    match value {
        Node::Null => "null",
        Node::Bool(_) => "boolean",
        Node::Number(number) if number.is_f64() => "number",
        Node::Number(_) => "integer",
        Node::Text(_) => "string",
        Node::List(_) => "array",
        Node::Object(_) => "object",
    }
}
