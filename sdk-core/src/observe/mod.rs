//! What an operator sees of calls: spans and events. Nothing here decides anything.

pub(crate) mod spans;
