//! Names that generated code has already, which nothing of a document may get. The reader renames what would clash.

/// Where the names come from that generated code uses without a path.
pub(crate) const IMPORTS: &[(&str, &str)] = &[
    ("CallOptions", "sdk_core"),
    ("Date", "sdk_core"),
    ("Error", "sdk_core"),
    ("ExactReplay", "sdk_core"),
    ("IntoKey", "sdk_core"),
    ("Items", "sdk_core"),
    ("JsonBody", "sdk_core"),
    ("Members", "sdk_core"),
    ("Number", "sdk_core"),
    ("Page", "sdk_core"),
    ("Pages", "sdk_core"),
    ("PreparedCommand", "sdk_core"),
    ("RawJson", "sdk_core"),
    ("Receipt", "sdk_core"),
    ("Record", "sdk_core"),
    ("Response", "sdk_core"),
    ("RetryPolicy", "sdk_core"),
    ("SchemaPolicy", "sdk_core"),
    ("Secret", "sdk_core"),
    ("Timestamp", "sdk_core"),
    ("ApiClient", "sdk_core::codegen"),
    ("Body", "sdk_core::codegen"),
    ("Bytes", "sdk_core::codegen"),
    ("Call", "sdk_core::codegen"),
    ("Check", "sdk_core::codegen"),
    ("Draft", "sdk_core::codegen"),
    ("FromReply", "sdk_core::codegen"),
    ("ListStyle", "sdk_core::codegen"),
    ("Pattern", "sdk_core::codegen"),
    ("Piece", "sdk_core::codegen"),
    ("Received", "sdk_core::codegen"),
    ("Unreadable", "sdk_core::codegen"),
    ("Validate", "sdk_core::codegen"),
    ("encode_segment", "sdk_core::codegen"),
    ("BTreeMap", "std::collections"),
];

/// What every client crate passes on from `sdk-core`, so that a program depends on its client alone. `testing` comes with a
/// feature.
pub(crate) const SHARED: &[&str] = &[
    "AccessToken",
    "App",
    "AttemptRecord",
    "Backoff",
    "CallOptions",
    "Checkpoint",
    "ClientAuthentication",
    "ClientCredentials",
    "CredentialSource",
    "CredentialsFuture",
    "ContractMatch",
    "ContractReport",
    "Date",
    "Effect",
    "Error",
    "ErrorKind",
    "ExactReplay",
    "IdempotencyKey",
    "Items",
    "IntoKey",
    "JsonBody",
    "Members",
    "Method",
    "MissingScopes",
    "Number",
    "Observer",
    "Operation",
    "Page",
    "Pages",
    "PreparedCommand",
    "Provenance",
    "RawCall",
    "RawJson",
    "RawTarget",
    "Receipt",
    "Record",
    "Replay",
    "Response",
    "RetryPolicy",
    "Safety",
    "SchemaPolicy",
    "ScopePolicy",
    "Secret",
    "SendPrepared",
    "Stats",
    "Suite",
    "SuiteBuilder",
    "Text",
    "Timestamp",
    "TokenError",
    "TokenErrorKind",
    "TokenFuture",
    "TokenPolicy",
    "TokenRequest",
    "TokenSource",
    "UnknownApp",
    "ZonedTime",
    "least_scopes",
    "one_line",
    "observe",
    "transport",
];

/// What the prelude of Rust has, and what nothing can be called.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Display",
    "Drop",
    "Eq",
    "Err",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

/// Handwritten methods of every client.
const CLIENT: &[&str] = &[
    "api",
    "check_contract",
    "clone",
    "into",
    "missing_scopes",
    "new",
    "operations",
    "origin",
    "prewarm",
    "raw_call",
    "send_prepared",
    "try_into",
    "with_defaults",
];

/// Fields and methods that every request builder has.
const BUILDER: &[&str] = &[
    "body",
    "call",
    "clone",
    "deadline",
    "endpoint",
    "exact_replay",
    "header",
    "headers",
    "idempotency_key",
    "into_future",
    "items",
    "pages",
    "prepare",
    "query",
    "request",
    "retry",
    "schema_policy",
    "send",
    "sending",
    "timeout",
    "with",
    "without_token",
];

/// The names that no schema, group or operation may become a type of.
pub(crate) fn taken_types() -> impl Iterator<Item = &'static str> {
    let imports = IMPORTS.iter().map(|(name, _)| *name);
    let shared = SHARED.iter().chain(PRELUDE).copied();
    imports.chain(shared).chain(["Client"])
}

/// Whether no group may become a method of this name of the client.
pub(crate) fn is_taken_group(name: &str) -> bool {
    CLIENT.contains(&name)
}

/// Whether no operation may become a method of this name of its group.
pub(crate) fn is_taken_method(name: &str) -> bool {
    // What every value turns itself into comes before a method that borrows it.
    ["clone", "into", "try_into"].contains(&name)
}

/// Whether no parameter may become a field and a setter of this name of a builder.
pub(crate) fn is_taken_setter(name: &str) -> bool {
    BUILDER.contains(&name)
}

/// Whether no member may become a field and a setter of this name.
pub(crate) fn is_taken_field(name: &str) -> bool {
    ["clone", "default", "extra", "member", "new", "validate"].contains(&name)
}
