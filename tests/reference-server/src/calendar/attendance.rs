//! Responses to invitations.

use super::change;
use crate::call::{Answer, Call};

pub(crate) fn respond(call: &Call<'_>) -> Answer {
    change(call, |_| "attendance.respond")
}
