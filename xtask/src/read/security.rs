//! Reads the authentication and scopes of an operation.

use super::call::Call;
use super::reader::Reader;
use crate::findings::Weight;
use crate::model::Auth;
use crate::node::{Node, step};

impl Reader<'_> {
    /// The authentication of an operation, and its alternative scopes. An alternative that needs several scopes is one string,
    /// separated by spaces.
    pub(super) fn security(&mut self, call: &Call<'_>) -> (Auth, Vec<String>) {
        let root = self.root;
        let place = step(&call.place, "security");
        let alternatives = match call.raw.get("security").or_else(|| root.get("security")) {
            Some(alternatives) => alternatives.items(),
            None => return (Auth::Public, Vec::new()),
        };
        let (mut auth, mut scopes) = (Auth::Public, Vec::new());
        // Whether any token is sufficient.
        let mut open = false;
        let schemes = root.at("components").at("securitySchemes");
        for alternative in alternatives {
            let mut needed: Vec<String> = Vec::new();
            let mut kinds = Vec::new();
            for (name, required) in alternative.members() {
                let scheme = schemes.at(name);
                kinds.push(kind(name, scheme));
                needed.extend(required.texts());
            }
            let is_exchange = call.has_form() && kinds == [BASIC];
            let sent = |kind: &&String| **kind != "bearer" && !is_exchange;
            for other in kinds.iter().filter(sent) {
                self.findings.add(
                    Weight::Noted,
                    &place,
                    format!("the document authenticates with {other}"),
                    "the SDK sends the suite's bearer token",
                );
            }
            auth = match (auth, kinds.is_empty(), is_exchange) {
                (_, false, true) | (Auth::Client, ..) => Auth::Client,
                // `{}` next to others means that a token is optional. The SDK sends one.
                (Auth::Public, true, _) if alternatives.len() == 1 => Auth::Public,
                _ => Auth::Bearer,
            };
            open |= needed.is_empty() && !kinds.is_empty();
            if kinds.is_empty() && alternatives.len() > 1 {
                let rule = "it allows calls without a token";
                self.findings
                    .add(Weight::Noted, &place, rule, "the SDK sends a token");
            }
            if !needed.is_empty() {
                let needed = needed.join(" ");
                if !scopes.contains(&needed) {
                    scopes.push(needed);
                }
            }
        }
        if open {
            scopes.clear();
        }
        (auth, scopes)
    }
}

const BASIC: &str = "HTTP Basic";

/// The kind of a security scheme, in a word or a short phrase.
fn kind(name: &str, scheme: &Node) -> String {
    let text = |key| scheme.text_at(key).unwrap_or_default().to_lowercase();
    match (text("type").as_str(), text("scheme").as_str()) {
        ("oauth2" | "openidconnect", _) | ("http", "bearer") => "bearer".to_owned(),
        ("http", "basic") => BASIC.to_owned(),
        ("apikey", _) => format!(
            "an API key in the {} `{}`",
            text("in"),
            scheme.at("name").plain()
        ),
        ("mutualtls", _) => "client certificates".to_owned(),
        _ => format!("`{name}`"),
    }
}
