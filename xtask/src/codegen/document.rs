//! A spec as its YAML is written. Keywords that the generator does not understand are refused, because a
//! misspelt or unsupported one would be ignored in silence otherwise.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_yaml_ng::Value;

/// Members in the order in which the YAML has them.
pub(crate) type Map<T> = IndexMap<String, T>;

/// A whole spec.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) openapi: String,
    pub(crate) info: Info,
    #[serde(rename = "servers")]
    _servers: Option<Value>,
    #[serde(default)]
    pub(crate) tags: Vec<Tag>,
    pub(crate) paths: Map<PathItem>,
    #[serde(default)]
    pub(crate) components: Components,
}

/// What the spec says about itself.
#[derive(Debug, Deserialize)]
pub(crate) struct Info {
    pub(crate) title: String,
    pub(crate) version: String,
    /// How far the contract has come.
    #[serde(rename = "x-lifecycle")]
    pub(crate) lifecycle: Option<String>,
    /// Who the service is open to.
    #[serde(rename = "x-runtime-status")]
    pub(crate) runtime_status: Option<String>,
    /// The operation that reports the metadata of the service.
    #[serde(rename = "x-metadata-operation")]
    pub(crate) metadata_operation: Option<String>,
    /// Whether the contract shows the envelope of the service's errors.
    #[serde(default, rename = "x-shows-envelope")]
    pub(crate) shows_envelope: bool,
}

/// A group of operations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tag {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
}

/// The operations of one path.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathItem {
    pub(crate) get: Option<RawOperation>,
    pub(crate) post: Option<RawOperation>,
}

/// An operation as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RawOperation {
    pub(crate) operation_id: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) summary: String,
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) security: Option<Vec<Map<Vec<String>>>>,
    #[serde(default)]
    pub(crate) parameters: Vec<RawParameter>,
    pub(crate) request_body: Option<RawBody>,
    pub(crate) responses: Map<RawResponse>,
    #[serde(rename = "x-assumption")]
    _assumption: Option<Value>,
    #[serde(rename = "x-provenance")]
    pub(crate) provenance: Option<String>,
    #[serde(rename = "x-sdk-method")]
    pub(crate) sdk_method: Option<String>,
    #[serde(rename = "x-replay-status")]
    pub(crate) replay_status: Option<u16>,
    #[serde(rename = "x-served-from-schema", default)]
    pub(crate) from_schema: bool,
    #[serde(rename = "x-mutually-exclusive", default)]
    pub(crate) exclusive: Vec<(String, String)>,
    #[serde(rename = "x-ordered", default)]
    pub(crate) ordered: Vec<(String, String)>,
}

/// A parameter, or a reference to one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawParameter {
    #[serde(rename = "$ref")]
    pub(crate) reference: Option<String>,
    pub(crate) name: String,
    #[serde(rename = "in")]
    pub(crate) place: String,
    pub(crate) required: bool,
    pub(crate) description: String,
    pub(crate) schema: RawSchema,
    #[serde(rename = "x-assumption")]
    _assumption: Option<Value>,
}

/// A request body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawBody {
    #[serde(default)]
    pub(crate) required: bool,
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) content: Map<RawContent>,
    #[serde(rename = "x-assumption")]
    _assumption: Option<Value>,
}

/// A response, or a reference to one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawResponse {
    #[serde(rename = "$ref")]
    pub(crate) reference: Option<String>,
    pub(crate) description: String,
    #[serde(rename = "headers")]
    _headers: Option<Value>,
    pub(crate) content: Map<RawContent>,
    #[serde(rename = "x-assumption")]
    _assumption: Option<Value>,
}

/// A body of one media type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawContent {
    pub(crate) schema: RawSchema,
    #[serde(rename = "example")]
    _example: Option<Value>,
    #[serde(rename = "examples")]
    _examples: Option<Value>,
}

/// A schema, or a reference to one.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each one is a keyword that stands in the YAML or does not"
)]
pub(crate) struct RawSchema {
    #[serde(rename = "$ref")]
    pub(crate) reference: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) description: String,
    pub(crate) format: Option<String>,
    pub(crate) nullable: bool,
    #[serde(rename = "enum")]
    pub(crate) values: Vec<String>,
    pub(crate) default: Option<Value>,
    #[serde(rename = "example")]
    _example: Option<Value>,
    pub(crate) pattern: Option<String>,
    pub(crate) min_length: Option<u32>,
    pub(crate) max_length: Option<u32>,
    pub(crate) minimum: Option<i64>,
    pub(crate) maximum: Option<i64>,
    pub(crate) items: Option<Box<RawSchema>>,
    pub(crate) min_items: Option<u32>,
    pub(crate) max_items: Option<u32>,
    pub(crate) required: Vec<String>,
    pub(crate) properties: Map<RawSchema>,
    pub(crate) additional_properties: Option<Value>,
    /// Several schemas at once: accepted with a single `$ref`, to which it adds a description or `nullable`.
    pub(crate) all_of: Vec<RawSchema>,
    #[serde(rename = "x-assumption")]
    pub(crate) assumption: Option<Value>,
    /// The assumption that a received value has this type at all.
    #[serde(rename = "x-type-assumption")]
    pub(crate) type_assumption: Option<Value>,
    #[serde(rename = "x-provenance")]
    pub(crate) provenance: Option<String>,
    #[serde(rename = "x-open-enum")]
    pub(crate) open_enum: bool,
    #[serde(rename = "x-known-values")]
    pub(crate) known_values: Vec<String>,
    #[serde(rename = "x-const")]
    pub(crate) constant: bool,
    #[serde(rename = "x-reference")]
    pub(crate) is_reference: bool,
    #[serde(rename = "x-page")]
    pub(crate) page: bool,
}

/// What the operations share.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct Components {
    #[serde(rename = "securitySchemes")]
    _security_schemes: Option<Value>,
    pub(crate) parameters: Map<RawParameter>,
    pub(crate) responses: Map<RawResponse>,
    pub(crate) schemas: Map<RawSchema>,
}
