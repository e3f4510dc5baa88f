//! A raw operation of a document.

use super::reader::annotations;
use crate::model::Method;
use crate::node::Node;

/// The header that the runtime adds to keyed commands.
pub(super) const KEY_HEADER: &str = "Idempotency-Key";

pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) raw: &'a Node,
    pub(super) item: &'a Node,
    pub(super) root: &'a Node,
    pub(super) place: String,
    pub(super) item_place: String,
}

impl Call<'_> {
    pub(super) fn has_form(&self) -> bool {
        let content = self.raw.at("requestBody").at("content");
        content.get(FORM).is_some()
    }
}

pub(super) struct Names {
    pub(super) id: String,
    pub(super) group: String,
    pub(super) method: String,
}

pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// A media type without its parameters.
pub(super) fn plain(media: &str) -> &str {
    media.split(';').next().unwrap_or_default().trim()
}

pub(super) fn is_json(media: &str) -> bool {
    let media = plain(media).to_ascii_lowercase();
    matches!(
        media.as_str(),
        "application/json" | "text/json" | "*/*" | "application/*"
    ) || media.ends_with("+json")
}

pub(super) fn description(node: &Node) -> String {
    annotations(node).description
}
