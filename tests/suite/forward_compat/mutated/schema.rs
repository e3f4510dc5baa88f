//! The schemas of the replies, read from the specs on their own and not as the generator reads them.

use std::sync::LazyLock;

use sdk_reference_server::Operation;
use serde_yaml_ng::Value;

/// The specs by application.
static SPECS: LazyLock<[(&str, Value); 4]> = LazyLock::new(|| {
    [
        ("crm", include_str!("../../../../specs/crm.yaml")),
        ("calendar", include_str!("../../../../specs/calendar.yaml")),
        (
            "accounting",
            include_str!("../../../../specs/accounting.yaml"),
        ),
        ("platform", include_str!("../../../../specs/platform.yaml")),
    ]
    .map(|(name, text)| (name, serde_yaml_ng::from_str(text).unwrap()))
});

/// A schema of a spec, its references followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema {
    spec: &'static Value,
    node: &'static Value,
    /// Whether the type is one that the contract does not show.
    assumed: bool,
}

/// What a schema allows, by what a later version might do about it.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Any JSON value.
    Open,
    /// Members by name, of which some are required.
    Object(Vec<Member>),
    /// An object of any members.
    OpenObject,
    /// Items, and how many of them are more than the contract allows, or than it leads one to expect.
    Array(Schema, usize),
    /// Text: free, of an enumeration, or of a form.
    Text,
    /// Text that says what the reply is. Another one is another reply, and has its own tests.
    Constant,
    Instant,
    Integer,
    Number,
    Boolean,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) required: bool,
    pub(super) schema: Schema,
}

impl Schema {
    /// The schema of an operation's reply.
    pub(super) fn of_reply(operation: Operation) -> Schema {
        let of_app = |(name, _): &&(&str, Value)| *name == operation.app().id();
        let (_, spec) = SPECS.iter().find(of_app).unwrap();
        let method = operation.method().to_lowercase();
        let responses = &spec["paths"][operation.path()][method.as_str()]["responses"];
        let response = [&responses["200"], &responses["201"]]
            .into_iter()
            .find(|response| response.is_mapping());
        let content = &response.unwrap()["content"]["application/json"];
        Schema::at(spec, &content["schema"])
    }

    fn at(spec: &'static Value, mut node: &'static Value) -> Schema {
        let mut assumed = false;
        loop {
            assumed |= node.get("x-type-assumption").is_some();
            if let Some(inner) = node["allOf"].as_sequence() {
                node = &inner[0];
            } else if let Some(target) = node["$ref"].as_str() {
                node = target
                    .trim_start_matches("#/")
                    .split('/')
                    .fold(spec, |node, step| &node[step]);
            } else {
                return Schema {
                    spec,
                    node,
                    assumed,
                };
            }
        }
    }

    pub(super) fn kind(self) -> Kind {
        let format = self.node["format"].as_str();
        match self.node["type"].as_str() {
            None => Kind::Open,
            Some("object") => self.members().map_or(Kind::OpenObject, Kind::Object),
            Some("array") => {
                let most = self.node["maxItems"].as_u64().unwrap_or(4);
                let many = usize::try_from(most + 1).unwrap();
                Kind::Array(Schema::at(self.spec, &self.node["items"]), many)
            }
            Some("string") if format == Some("date-time") => Kind::Instant,
            Some("string") if self.node.get("x-const").is_some() => Kind::Constant,
            Some("string") => Kind::Text,
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            other => panic!("a type that these tests do not know: {other:?}"),
        }
    }

    /// Whether the type is one that the contract does not show, so that any other may come.
    pub(super) fn is_assumed(self) -> bool {
        self.assumed
    }

    fn members(self) -> Option<Vec<Member>> {
        let properties = self.node["properties"].as_mapping()?;
        let required = self.node["required"].as_sequence();
        let member = |(name, node): (&'static Value, &'static Value)| Member {
            name: name.as_str().unwrap(),
            required: required.is_some_and(|names| names.contains(name)),
            schema: Schema::at(self.spec, node),
        };
        Some(properties.iter().map(member).collect())
    }
}
