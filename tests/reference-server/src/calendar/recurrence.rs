//! Exceptions from a series. They modify an occurrence, or cancel it if the body's `operation` is `cancel`.

use super::change as change_event;
use crate::call::{Answer, Call};

pub(crate) fn change(call: &Call<'_>) -> Answer {
    change_event(call, |body| match body["operation"].as_str() {
        Some("cancel") => "recurrence.exception.cancel",
        _ => "recurrence.exception.modify",
    })
}
