//! Responses of later versions of the contracts, as far as the specs leave room for them: the SDK decodes, preserves and
//! writes back all that it doesn't know, and names exactly the places that it can't read.

mod assumed;
mod replies;
mod requests;
mod schema;
