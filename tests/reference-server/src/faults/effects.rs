//! What a fault does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;

use crate::message::Ending;

/// The effects of one fault; those that are not set do nothing.
#[derive(Clone, Debug, Default)]
// Each of them is one independent thing to do.
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Effects {
    pub(super) delay: Duration,
    /// Answered with this status, without serving the request.
    pub(super) status: Option<u16>,
    /// Served, and then answered with this status.
    pub(super) status_after: Option<u16>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<(Bytes, String)>,
    /// Closed without serving the request.
    pub(super) closed: bool,
    /// Served, and then ended like this.
    pub(super) ending: Ending,
    pub(super) truncated: bool,
    pub(super) revokes_token: bool,
    pub(super) unknown_enum: bool,
    pub(super) unknown_member: bool,
    pub(super) schema_suffix: Option<String>,
    pub(super) cursor_loop: Option<Arc<Mutex<CursorLoop>>>,
}

impl Effects {
    pub(super) fn is_empty(&self) -> bool {
        self.delay.is_zero()
            && self.status.is_none()
            && self.status_after.is_none()
            && self.headers.is_empty()
            && self.body.is_none()
            && !self.closed
            && self.ending == Ending::Delivered
            && !self.truncated
            && !self.revokes_token
            && !self.unknown_enum
            && !self.unknown_member
            && self.schema_suffix.is_none()
            && self.cursor_loop.is_none()
    }
}

/// Cursors that go round: the first few that were given, again and again.
#[derive(Debug)]
pub(super) struct CursorLoop {
    length: usize,
    seen: Vec<String>,
    next: usize,
}

impl CursorLoop {
    pub(super) fn new(length: usize) -> CursorLoop {
        CursorLoop {
            length: length.max(1),
            seen: Vec::new(),
            next: 0,
        }
    }

    /// What to give instead of the true cursor of a page.
    pub(super) fn turn(&mut self, cursor: Option<&str>) -> Option<String> {
        match cursor {
            Some(cursor) if self.seen.len() < self.length => {
                self.seen.push(cursor.to_owned());
                Some(cursor.to_owned())
            }
            _ if self.seen.is_empty() => None,
            _ => {
                let again = self.seen[self.next % self.seen.len()].clone();
                self.next += 1;
                Some(again)
            }
        }
    }
}
