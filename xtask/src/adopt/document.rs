//! The operations of a document as they are written.

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
}
