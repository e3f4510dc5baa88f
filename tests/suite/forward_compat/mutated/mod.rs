//! Responses of later contract versions, as far as the specs allow them. The SDK decodes, preserves and writes back all
//! unknown data, and names exactly the fields that it can't decode.

mod assumed;
mod replies;
mod requests;
mod schema;
