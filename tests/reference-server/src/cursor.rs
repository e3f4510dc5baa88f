//! Opaque, signed cursors: a position, bound to an operation and its filters.

use crate::keys::{self, Key};
use crate::refusal::Refusal;

const POSITION: usize = 8;
const BINDING: usize = 8;
const SIGNATURE: usize = 16;

/// The query that a cursor belongs to. The server rejects the cursor for any other query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding([u8; BINDING]);

impl Binding {
    /// The page size is not part of the binding.
    pub(crate) fn new(operation: &str, filters: &[Option<&str>]) -> Binding {
        let mut text = operation.to_owned();
        for filter in filters {
            text.push('\n');
            text.push_str(filter.unwrap_or_default());
        }
        let digest = keys::digest(text.as_bytes());
        let mut binding = [0; BINDING];
        binding.copy_from_slice(&digest[..BINDING]);
        Binding(binding)
    }
}

pub(crate) fn issue(key: &Key, binding: Binding, position: u64) -> String {
    let mut bytes = Vec::with_capacity(POSITION + BINDING + SIGNATURE);
    bytes.extend_from_slice(&position.to_be_bytes());
    bytes.extend_from_slice(&binding.0);
    let signature = key.sign(&bytes);
    bytes.extend_from_slice(&signature[..SIGNATURE]);
    keys::encode(&bytes)
}

/// Returns the position of a cursor that this server issued for this operation and these filters.
pub(crate) fn open(key: &Key, binding: Binding, cursor: &str) -> Result<u64, Refusal> {
    let unusable = |why| Refusal::unusable("cursor", why);
    let bytes = keys::decode(cursor)
        .filter(|bytes| bytes.len() == POSITION + BINDING + SIGNATURE)
        .ok_or_else(|| unusable("not issued by this service"))?;
    let (signed, signature) = bytes.split_at(POSITION + BINDING);
    if !key.verify(signed, signature) {
        return Err(unusable("invalid signature"));
    }
    let (position, bound_to) = signed.split_at(POSITION);
    if bound_to != binding.0 {
        return Err(unusable("issued for a different query"));
    }
    let mut number = [0; POSITION];
    number.copy_from_slice(position);
    Ok(u64::from_be_bytes(number))
}
