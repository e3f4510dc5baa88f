//! Memory that is wiped when its last reader is gone.

use secrecy::zeroize::Zeroizing;

/// Lends wiped-on-drop memory to [`Bytes`].
pub(crate) struct Wiped(pub(crate) Zeroizing<Vec<u8>>);

impl AsRef<[u8]> for Wiped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
