//! Replies of later versions of the contracts, as far as the specs leave room for them: what the SDK does not know is
//! decoded, kept and written back, and what it cannot read is said exactly.

mod arbitrary;
mod assumed;
mod json;
mod mutation;
mod replies;
mod requests;
mod schema;
