//! Names that generated code already uses. The reader renames parts of a document that would clash with them.

/// Names that generated code imports from the hidden part of `sdk-core`.
const HIDDEN: &[&str] = &[
    "ApiClient",
    "Body",
    "Bytes",
    "Call",
    "Check",
    "Draft",
    "FromReply",
    "ListStyle",
    "Pattern",
    "Piece",
    "Received",
    "Unreadable",
    "Validate",
    "encode_segment",
];

/// Names that generated code imports from `sdk-core`. Every client re-exports them, so a program depends on its client
/// alone.
const USED: &[&str] = &[
    "CallOptions",
    "Date",
    "Error",
    "ExactReplay",
    "IntoKey",
    "Items",
    "JsonBody",
    "Members",
    "Number",
    "Page",
    "Pages",
    "PreparedCommand",
    "RawJson",
    "Receipt",
    "Record",
    "Response",
    "RetryPolicy",
    "SchemaPolicy",
    "Secret",
    "Timestamp",
];

/// Further names that every client re-exports. `testing` needs a feature.
const SHARED: &[&str] = &[
    "AccessToken",
    "App",
    "AttemptRecord",
    "Backoff",
    "Checkpoint",
    "ClientAuthentication",
    "ClientCredentials",
    "CredentialSource",
    "CredentialsFuture",
    "ContractMatch",
    "ContractReport",
    "Effect",
    "ErrorKind",
    "IdempotencyKey",
    "Method",
    "MissingScopes",
    "Observer",
    "Operation",
    "PreparedSender",
    "Provenance",
    "RawCall",
    "RawTarget",
    "Replay",
    "Safety",
    "ScopePolicy",
    "SendPrepared",
    "Stats",
    "Suite",
    "SuiteBuilder",
    "Text",
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

/// Names of Rust's prelude, and `Self`.
const PRELUDE: &[&str] = &[
    "AsMut", "AsRef", "Box", "Clone", "Copy", "Debug", "Default", "Display", "Drop", "Eq", "Err",
    "Fn", "FnMut", "FnOnce", "From", "Future", "Hash", "Into", "Iterator", "None", "Ok", "Option",
    "Ord", "Result", "Self", "Send", "Sized", "Some", "String", "Sync", "ToOwned", "ToString",
    "TryFrom", "TryInto", "Unpin", "Vec",
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

/// The names of `sdk-core` that every client re-exports.
pub(crate) fn shared() -> impl Iterator<Item = &'static str> {
    USED.iter().chain(SHARED).copied()
}

/// The names that generated code uses without a path, and where they come from.
pub(crate) fn imports<'a>() -> impl Iterator<Item = (&'a str, &'a str)> {
    let used = USED.iter().map(|it| (*it, "sdk_core"));
    let hidden = HIDDEN.iter().map(|it| (*it, "sdk_core::codegen"));
    used.chain(hidden).chain([("BTreeMap", "std::collections")])
}

/// The names that no schema, group or operation may become a type of.
pub(crate) fn taken_types() -> impl Iterator<Item = &'static str> {
    let others = ["Client", "IntoFuture", "IntoIterator"];
    let imports = imports().map(|it| it.0);
    let shared = SHARED.iter().chain(PRELUDE).copied();
    imports.chain(shared).chain(others)
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
