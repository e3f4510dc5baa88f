//! Each bound, pattern, enumeration and exclusion, on both sides.

mod enumerations;
mod headers;
mod imports;
mod invoices;
mod keys;
mod page_size;
mod path_segments;
mod query;
mod references;
mod search_text;
mod window;
