//! Types and imports of the generated code as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use syn::{GenericArgument, PathArguments, Type};

use super::Result;
use super::schema::Shape;

/// Where the names come from that generated code uses without a path.
const IMPORTS: &[(&str, &str)] = &[
    ("Date", "sdk_core"),
    ("Error", "sdk_core"),
    ("Items", "sdk_core"),
    ("Members", "sdk_core"),
    ("Page", "sdk_core"),
    ("Pages", "sdk_core"),
    ("PreparedCommand", "sdk_core"),
    ("JsonBody", "sdk_core"),
    ("RawJson", "sdk_core"),
    ("Receipt", "sdk_core"),
    ("Record", "sdk_core"),
    ("Response", "sdk_core"),
    ("Secret", "sdk_core"),
    ("Timestamp", "sdk_core"),
    ("ApiClient", "sdk_core::codegen"),
    ("Body", "sdk_core::codegen"),
    ("Bytes", "sdk_core::codegen"),
    ("Call", "sdk_core::codegen"),
    ("Check", "sdk_core::codegen"),
    ("Draft", "sdk_core::codegen"),
    ("Endpoint", "sdk_core::codegen"),
    ("Pattern", "sdk_core::codegen"),
    ("Piece", "sdk_core::codegen"),
    ("FromReply", "sdk_core::codegen"),
    ("Validate", "sdk_core::codegen"),
    ("encode_segment", "sdk_core::codegen"),
    ("Number", "sdk_core"),
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
    "JsonBody",
    "Members",
    "Method",
    "MissingScopes",
    "Number",
    "Observer",
    "Operation",
    "Page",
    "PageItems",
    "Pages",
    "ParkReason",
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
    "StoredRule",
    "StoredStep",
    "Suite",
    "SuiteBuilder",
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

/// Imports for the names that the code uses, and for the given names from elsewhere in the crate.
pub(crate) fn imports<'a>(code: &str, own: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let words = words(code);
    let mut modules = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (name, module) in IMPORTS.iter().copied().chain(own) {
        if words.contains(name) {
            modules.entry(module).or_default().insert(name);
        }
    }
    let mut text = String::new();
    for (module, names) in modules {
        let names: Vec<&str> = names.into_iter().collect();
        let _ = writeln!(text, "use {module}::{{{}}};", names.join(", "));
    }
    text
}

/// The identifiers in code that need an import: those that do not follow a `::`.
fn words(code: &str) -> BTreeSet<&str> {
    let mut words = BTreeSet::new();
    for line in code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        let mut rest = line;
        while let Some(start) = rest.find(|c: char| c == '_' || c.is_ascii_alphabetic()) {
            let word = &rest[start..];
            let end = word
                .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                .unwrap_or(word.len());
            if !rest[..start].ends_with("::") {
                words.insert(&word[..end]);
            }
            rest = &word[end..];
        }
    }
    words
}

/// The names that generated code or its crate has already, which nothing of a spec may have.
pub(crate) fn is_taken(name: &str) -> bool {
    IMPORTS.iter().any(|(taken, _)| *taken == name)
        || SHARED.contains(&name)
        || [
            "Box", "Client", "Option", "Result", "Self", "Send", "Some", "None", "String", "Vec",
        ]
        .contains(&name)
}

/// A type of progenitor's output, without paths and lifetimes.
pub(crate) fn render(ty: &Type) -> Result<String> {
    match ty {
        Type::Reference(reference) => {
            let inner = render(&reference.elem)?;
            Ok(if inner == "String" {
                "&str".into()
            } else {
                format!("&{inner}")
            })
        }
        Type::Path(path) => {
            let last = path.path.segments.last().ok_or("a type without a name")?;
            let arguments = match &last.arguments {
                PathArguments::None if last.ident == "Page" => "<Record>".to_owned(),
                PathArguments::None => String::new(),
                PathArguments::AngleBracketed(arguments) => {
                    let types = arguments.args.iter().filter_map(|argument| match argument {
                        GenericArgument::Type(ty) => Some(render(ty)),
                        _ => None,
                    });
                    format!("<{}>", types.collect::<Result<Vec<String>>>()?.join(", "))
                }
                PathArguments::Parenthesized(_) => return Err("a function type".into()),
            };
            Ok(last.ident.to_string() + &arguments)
        }
        _ => Err("a type that is neither a path nor a reference".into()),
    }
}

/// A value that a caller hands in: the type of the argument, and the expression that makes the field of it.
pub(crate) struct Argument {
    pub(crate) ty: String,
    pub(crate) value: String,
}

/// How a caller hands in a value of a type: whatever turns into it, where that helps.
pub(crate) fn argument(
    shape: &Shape,
    is_reference: &dyn Fn(&Shape) -> bool,
    ty: &str,
    name: &str,
) -> Argument {
    let converts = |shape: &Shape| {
        matches!(
            shape,
            Shape::Text { .. } | Shape::Value | Shape::Record | Shape::Timestamp | Shape::Date
        ) || is_reference(shape)
    };
    match shape {
        Shape::Array { items, .. } => {
            let item = ty
                .strip_prefix("Vec<")
                .and_then(|rest| rest.strip_suffix('>'))
                .unwrap_or(ty);
            // Of an empty array of any JSON nobody could say what turns into it.
            if converts(items) && **items != Shape::Value {
                Argument {
                    ty: format!("impl IntoIterator<Item = impl Into<{item}>>"),
                    value: format!("{name}.into_iter().map(Into::into).collect()"),
                }
            } else {
                Argument {
                    ty: format!("impl IntoIterator<Item = {item}>"),
                    value: format!("{name}.into_iter().collect()"),
                }
            }
        }
        shape if converts(shape) => Argument {
            ty: format!("impl Into<{ty}>"),
            value: format!("{name}.into()"),
        },
        _ => Argument {
            ty: ty.to_owned(),
            value: name.to_owned(),
        },
    }
}
