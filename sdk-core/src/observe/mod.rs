//! Spans and events of calls, for operators. Nothing here affects a call.

pub(crate) mod spans;
