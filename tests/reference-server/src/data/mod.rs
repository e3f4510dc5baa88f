//! The demo data. Rows are computed from a seed and an index, so a million people take no memory. An overlay stores
//! the rows that commands changed or created.

pub(crate) mod actors;
pub(crate) mod counterparties;
pub(crate) mod intake;
mod names;
pub(crate) mod noise;
pub(crate) mod opportunities;
pub(crate) mod organizations;
pub(crate) mod people;
pub(crate) mod reference;
mod store;
mod table;
pub(crate) mod tasks;
pub(crate) mod timeline;

pub(crate) use store::{Brief, Change, Sizes, Store};
pub(crate) use table::{Record, Table};

use std::borrow::Cow;

/// A string that is borrowed from a table of names until a command changes it.
pub(crate) type Text = Cow<'static, str>;
