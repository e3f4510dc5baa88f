//! Answers of servers, and of whoever stands between them and the suites.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode, header};
use serde_json::Value;
use suite_checker::Done;

use super::body::{Arriving, Ticket};
use super::fate::Fault;

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Answer {
    /// The answer of a gateway, some of which repeat the header that they were sent.
    pub(super) fn of_gateway(status: u16, seconds: Option<u32>, said: &str) -> Self {
        let mut headers = HeaderMap::new();
        if let Some(seconds) = seconds {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        let body = match status {
            401 => r#"{"error":"invalid_client"}"#.to_owned(),
            503 => format!(r#"{{"error":{{"code":"down","message":"try again {said}"}}}}"#),
            _ => format!("<html>try again {said}</html>"),
        };
        Self {
            status: StatusCode::from_u16(status).unwrap_or_default(),
            headers,
            body: body.into(),
        }
    }

    /// Makes a page name itself as the next, unless it is the last; returns whether it changed.
    pub(super) fn name_next(&mut self, cursor: String) -> bool {
        let mut page = json(&self.body);
        let is_one = page["nextCursor"].is_string();
        if is_one {
            page["nextCursor"] = cursor.into();
            self.body = page.to_string().into();
            self.headers.remove(header::CONTENT_LENGTH);
        }
        is_one
    }

    /// The effect of a command, by the documented fields of its result.
    pub(super) fn committed(&self) -> Done {
        let result = json(&self.body);
        let reference = reference(&result);
        let replayed = result["replayed"].as_bool();
        if replayed.unwrap_or(self.status == StatusCode::OK) {
            Done::Replayed { reference }
        } else {
            Done::Committed { reference }
        }
    }

    /// The response as it arrives under a fault.
    pub(super) fn into_response(
        mut self,
        fault: Option<Fault>,
        ticket: Ticket,
    ) -> Response<Arriving> {
        if fault == Some(Fault::Truncate) && self.body.len().is_multiple_of(2) {
            self.headers.remove(header::CONTENT_LENGTH);
        }
        // Only the head of a refusal counts, and that was read.
        let fault = fault.filter(|it| self.status.is_success() || matches!(it, Fault::Replace(_)));
        let mut response = Response::new(Arriving::new(self.body, fault, ticket));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

pub(super) fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}

/// The record that the result of a command names.
pub(super) fn reference(result: &Value) -> String {
    let fields = ["publicReference", "subjectReference"];
    let mut named = fields.iter().filter_map(|name| result[name].as_str());
    named.next().unwrap_or_default().to_owned()
}
