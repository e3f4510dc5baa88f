//! Bodies whose schema the contract does not show.

use serde_json::Value;

use crate::json::raw::RawJson;
use crate::json::record::Record;

/// The body of a request whose schema the contract does not show.
///
/// It is made of JSON, and not of text, which would be sent as a JSON string. Parse text that holds JSON
/// (`text.parse::<RawJson>()?`), and encode types of your own with [`RawJson::encode`].
///
/// ```compile_fail,E0277
/// # fn submit(_: impl Into<sdk_core::JsonBody>) {}
/// submit(r#"{"type": "person.create"}"#);
/// ```
#[derive(Clone, Debug)]
pub struct JsonBody(RawJson);

impl JsonBody {
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl From<RawJson> for JsonBody {
    fn from(json: RawJson) -> Self {
        Self(json)
    }
}

impl From<Record> for JsonBody {
    fn from(json: Record) -> Self {
        Self(json.into_raw())
    }
}

impl From<Value> for JsonBody {
    fn from(json: Value) -> Self {
        Self(json.into())
    }
}

impl From<&RawJson> for JsonBody {
    fn from(json: &RawJson) -> Self {
        Self(json.clone())
    }
}

impl From<&Value> for JsonBody {
    fn from(json: &Value) -> Self {
        json.clone().into()
    }
}
