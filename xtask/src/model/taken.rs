//! Names that generated code already uses. The reader renames parts of a document that would clash with them.

/// Names that generated code imports from the hidden part of `sdk-core`.
const HIDDEN: &[&str] = &[
    "ApiClient",
    "Body",
    "Bytes",
    "Call",
    "Check",
    "Draft",
    "FromResponse",
    "ListStyle",
    "Pattern",
    "Piece",
    "Received",
    "Unreadable",
    "Validate",
    "encode_segment",
];

/// Names that generated code imports from `sdk-core`. Every client re-exports them, so a program depends only on its client.
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

/// Other names that every client re-exports. `testing` needs a feature.
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
    "IntoCredentials",
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

/// The names that generated code uses without a path, with their modules.
pub(crate) fn imports<'a>() -> impl Iterator<Item = (&'a str, &'a str)> {
    let used = USED.iter().map(|it| (*it, "sdk_core"));
    let hidden = HIDDEN.iter().map(|it| (*it, "sdk_core::codegen"));
    used.chain(hidden).chain([("BTreeMap", "std::collections")])
}

/// The type names that schemas, groups and operations must not use.
pub(crate) fn taken_types() -> impl Iterator<Item = &'static str> {
    let others = ["Client", "IntoFuture", "IntoIterator"];
    let imports = imports().map(|it| it.0);
    let shared = SHARED.iter().chain(PRELUDE).copied();
    imports.chain(shared).chain(others)
}

/// Whether the client already has a method with this name, so that no group may have it.
pub(crate) fn is_taken_group(name: &str) -> bool {
    CLIENT.contains(&name)
}

/// Whether a group already has a method with this name, so that no operation may have it.
pub(crate) fn is_taken_method(name: &str) -> bool {
    // A method of `Into` takes precedence over a method that borrows its receiver.
    ["clone", "into", "try_into"].contains(&name)
}

/// Whether a builder already has a field or method with this name, so that no parameter may have it.
pub(crate) fn is_taken_setter(name: &str) -> bool {
    BUILDER.contains(&name)
}

/// Whether a struct already has a field or method with this name, so that no field may have it.
pub(crate) fn is_taken_field(name: &str) -> bool {
    ["clone", "default", "extra", "member", "new", "validate"].contains(&name)
}
