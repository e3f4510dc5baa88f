//! A spec as the generators see it: read, resolved, and held to the conventions of this workspace.

use std::collections::BTreeSet;

use serde_yaml_ng::Value;

use super::document::Document;
use super::operation::Reader;
use super::schema::{Schemas, Use};
use super::{App, Result, resolve};
use crate::{assumptions, at};

/// One spec.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) app: &'static App,
    pub(crate) title: String,
    pub(crate) version: String,
    /// What its service may say of its status: the lifecycle of the contract, or the runtime status.
    pub(crate) statuses: Vec<String>,
    /// The id of the operation that reports the metadata of its service.
    pub(crate) metadata: Option<String>,
    /// Whether the contract shows the envelope of its errors.
    pub(crate) shows_envelope: bool,
    /// Groups that have operations, in the order of `tags`.
    pub(crate) groups: Vec<Group>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) schemas: Schemas,
    /// Every `x-assumption` of the spec.
    pub(crate) assumptions: BTreeSet<String>,
}

/// A group of operations, which is a tag.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// The methods that occur; what a repetition of another one means is not documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
}

impl Method {
    /// The method as it stands on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }

    /// The method as the spec writes it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}

/// How an operation is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    Public,
    Bearer,
    /// By the client credential itself: the token exchange.
    Client,
}

/// How the reply to a command says that it is a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    NotShown,
    /// `x-replay-status`.
    Status(u16),
    /// A required boolean member `replayed` of the result.
    Member,
}

/// One operation.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    /// Where the contract speaks of it.
    pub(crate) source: String,
    pub(crate) auth: Auth,
    pub(crate) scopes: Vec<String>,
    pub(crate) name_only: bool,
    pub(crate) assumptions: BTreeSet<String>,
    pub(crate) parameters: Vec<Parameter>,
    /// Whether it takes an `Idempotency-Key`.
    pub(crate) keyed: bool,
    pub(crate) replay: Replay,
    pub(crate) body: Option<Body>,
    pub(crate) reply: Use,
    pub(crate) schema_version: Option<String>,
    /// `x-served-from-schema`: the reference server has no handler for it.
    pub(crate) from_schema: bool,
    pub(crate) statuses: Statuses,
    pub(crate) exclusive: Vec<(String, String)>,
    pub(crate) ordered: Vec<(String, String)>,
}

/// What the statuses of an operation mean.
#[derive(Debug, Default)]
pub(crate) struct Statuses {
    pub(crate) documented: Vec<(u16, String)>,
    pub(crate) otherwise: Option<String>,
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

impl Place {
    /// The place as the spec calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
        }
    }
}

/// A parameter in the path, the query or a header.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) field: String,
    pub(crate) place: Place,
    pub(crate) required: bool,
    pub(crate) description: String,
    pub(crate) value: Use,
}

/// A request body.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) description: String,
    pub(crate) form: bool,
    pub(crate) value: Use,
}

impl Operation {
    /// Whether it lists pages linked by a cursor.
    pub(crate) fn is_list(&self) -> bool {
        self.parameter("cursor").is_some()
    }

    /// The parameter of that name.
    pub(crate) fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
    }

    /// The fields of what a caller must hand in.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let required = self.parameters.iter().filter(|it| it.required);
        let fields = required.map(|parameter| &*parameter.field);
        fields
            .chain(self.body.is_some().then_some("body"))
            .collect()
    }

    /// Method and path.
    pub(crate) fn route(&self) -> String {
        format!("{} {}", self.method.name(), self.path)
    }

    /// How much of it the contract shows.
    pub(crate) fn provenance(&self) -> &'static str {
        if self.name_only {
            "name only"
        } else {
            "documented"
        }
    }

    /// Whether it is a command: it may change something, and its reply is a receipt.
    pub(crate) fn is_command(&self) -> bool {
        self.method == Method::Post && self.auth != Auth::Client
    }
}

impl Spec {
    /// Reads the text of a spec; an error is one line that names operation or schema, and rule.
    pub(crate) fn read(app: &'static App, text: &str) -> Result<Self> {
        let document: Document =
            serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
        let tree: Value = serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
        if !document.openapi.starts_with("3.0.") {
            return Err(format!(
                "OpenAPI {} is not understood; write 3.0.3",
                document.openapi
            ));
        }
        let schemas = resolve::components(&document.components.schemas)?;
        let mut operations = Vec::new();
        for (path, item) in &document.paths {
            for (method, raw) in [(Method::Get, &item.get), (Method::Post, &item.post)] {
                let Some(raw) = raw else { continue };
                let reader = Reader {
                    document: &document,
                    tree: &tree,
                    schemas: &schemas,
                    method,
                    path,
                    raw,
                };
                let place = format!("operation `{}`", raw.operation_id);
                operations.push(reader.read().map_err(at(place))?);
            }
        }
        let groups: Vec<Group> = document
            .tags
            .iter()
            .filter(|tag| operations.iter().any(|it| it.group == tag.name))
            .map(|tag| Group {
                name: tag.name.clone(),
                description: tag.description.trim().to_owned(),
            })
            .collect();
        let spec = Self {
            app,
            title: document.info.title.trim_end_matches(" API").to_owned(),
            version: document.info.version.clone(),
            statuses: [&document.info.lifecycle, &document.info.runtime_status]
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            metadata: document.info.metadata_operation.clone(),
            shows_envelope: document.info.shows_envelope,
            groups,
            operations,
            schemas,
            assumptions: assumptions::of(&tree),
        };
        spec.check_names()?;
        Ok(spec)
    }

    /// The path of the spec.
    pub(crate) fn file(&self) -> String {
        format!("specs/{}.yaml", self.app.name)
    }

    /// The operation that reports the metadata of its service.
    pub(crate) fn metadata_operation(&self) -> Option<&Operation> {
        let id = self.metadata.as_deref()?;
        self.operations.iter().find(|operation| operation.id == id)
    }

    fn check_names(&self) -> Result<()> {
        if let Some(id) = &self.metadata
            && self.metadata_operation().is_none_or(Operation::is_command)
        {
            return Err(format!(
                "`x-metadata-operation`: `{id}` is no operation that reads"
            ));
        }
        let (mut ids, mut methods) = (BTreeSet::new(), BTreeSet::new());
        for operation in &self.operations {
            let Operation {
                id, group, name, ..
            } = operation;
            let wrong = if !ids.insert(id) {
                "its id is taken".to_owned()
            } else if !methods.insert((group, name)) {
                format!("`{group}.{name}` is taken; give it another `x-sdk-method`")
            } else if !self.groups.iter().any(|known| known.name == *group) {
                format!("its tag `{group}` is not among the `tags` of the spec")
            } else {
                continue;
            };
            return Err(format!("operation `{id}`: {wrong}"));
        }
        Ok(())
    }
}

/// All operations of all specs.
pub(crate) fn all(specs: &[Spec]) -> impl Iterator<Item = (&Spec, &Operation)> {
    let of = |spec| move |operation| (spec, operation);
    specs
        .iter()
        .flat_map(move |spec| spec.operations.iter().map(of(spec)))
}
