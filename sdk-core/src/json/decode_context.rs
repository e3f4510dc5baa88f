//! Passes data into and out of a decoding, besides its value. Deserializers carry no context, so it is thread-local.

use std::cell::{Cell, RefCell};

use bytestring::ByteString;

/// Smaller responses are copied, because they may be part of a buffer of many times their size.
const SMALLEST: usize = 4 * 1024;

struct DecodeContext {
    /// The response with which its parts may share memory. Empty if they are copied.
    response: RefCell<ByteString>,
    mismatches: RefCell<Mismatches>,
    /// Whether the fast decoder failed anywhere. If a type caught the error, only `serde_json` reads on correctly.
    failed: Cell<bool>,
    /// Address and length of the value that was passed as raw JSON, which proves that it is JSON.
    raw: Cell<(usize, usize)>,
}

thread_local! {
    static CONTEXT: DecodeContext = const {
        DecodeContext {
            response: RefCell::new(ByteString::new()),
            mismatches: RefCell::new(Mismatches { types: None, constant: None }),
            failed: Cell::new(false),
            raw: Cell::new((0, 0)),
        }
    };
}

/// The fields of an unexpected type in a decoded response: the first field and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeMismatch {
    pub(crate) object: &'static str,
    pub(crate) field: &'static str,
    pub(crate) count: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstantMismatch {
    pub(crate) object: &'static str,
    pub(crate) field: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) found: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mismatches {
    pub(crate) types: Option<TypeMismatch>,
    pub(crate) constant: Option<ConstantMismatch>,
}

/// Decodes a response and returns the mismatches, which no type can report. Parts of the value may become slices of it.
pub(crate) fn decode_response<T>(
    response: &ByteString,
    decode: impl FnOnce() -> T,
) -> (T, Mismatches) {
    /// Restores the previous context, even if a type panics.
    struct Outer(ByteString, Mismatches);

    impl Drop for Outer {
        fn drop(&mut self) {
            CONTEXT.with(|it| {
                it.response.replace(std::mem::take(&mut self.0));
                it.mismatches.replace(std::mem::take(&mut self.1));
            });
        }
    }

    let shared = Some(response).filter(|it| it.len() >= SMALLEST).cloned();
    let _outer = CONTEXT.with(|it| {
        Outer(
            it.response.replace(shared.unwrap_or_default()),
            it.mismatches.take(),
        )
    });
    let value = decode();
    (value, CONTEXT.with(|it| it.mismatches.take()))
}

/// A slice of the response that is being decoded, or a copy if the string isn't part of it.
pub(super) fn slice_or_copy(text: &str) -> ByteString {
    CONTEXT.with(|it| {
        let response = it.response.borrow();
        if response.as_bytes().as_ptr_range().contains(&text.as_ptr()) {
            response.slice_ref(text)
        } else {
            text.into()
        }
    })
}

pub(super) fn note_type(object: &'static str, field: &'static str) {
    let first = TypeMismatch {
        object,
        field,
        count: 0,
    };
    CONTEXT.with(|it| {
        let mut mismatches = it.mismatches.borrow_mut();
        let mismatch = mismatches.types.get_or_insert(first);
        mismatch.count = mismatch.count.saturating_add(1);
    });
}

/// Only the first mismatch counts.
pub(super) fn note_constant(mismatch: impl FnOnce() -> ConstantMismatch) {
    CONTEXT.with(|it| {
        let mut mismatches = it.mismatches.borrow_mut();
        mismatches.constant.get_or_insert_with(mismatch);
    });
}

pub(super) fn note_failure() {
    CONTEXT.with(|it| it.failed.set(true));
}

/// Decodes a value, and returns whether a failure was recorded while decoding.
pub(super) fn watch_failures<T>(decode: impl FnOnce() -> T) -> (T, bool) {
    let before = CONTEXT.with(|it| it.failed.replace(false));
    let value = decode();
    (value, CONTEXT.with(|it| it.failed.replace(before)))
}

pub(super) fn hand_over_raw(text: &str) {
    CONTEXT.with(|it| it.raw.set(location(text)));
}

/// Whether this is the value that was just passed as raw JSON.
pub(super) fn is_handed_over_raw(text: &str) -> bool {
    CONTEXT.with(|it| it.raw.take()) == location(text)
}

fn location(text: &str) -> (usize, usize) {
    (text.as_ptr().addr(), text.len())
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use bytestring::ByteString;

    use super::{CONTEXT, SMALLEST, decode_response, note_type, slice_or_copy};

    /// Whether a part of this response would now become a slice of it.
    fn slices(response: &ByteString) -> bool {
        slice_or_copy(&response[1..9]).as_ptr() == response[1..9].as_ptr()
    }

    #[test]
    fn a_response_is_released_after_its_decoding() {
        let response = || ByteString::from("x".repeat(SMALLEST));
        let (outer, inner) = (response(), response());
        let ((), seen) = decode_response(&outer, || {
            note_type("Outer", "a");
            assert!(slices(&outer));
            let ((), seen) = decode_response(&inner, || {
                note_type("Inner", "b");
                assert!(slices(&inner) && !slices(&outer));
            });
            assert_eq!(seen.types.unwrap().object, "Inner");
            assert!(slices(&outer) && !slices(&inner));
        });
        assert_eq!(
            seen.types.map(|it| (it.object, it.count)),
            Some(("Outer", 1))
        );
        assert!(!slices(&outer));
        let panics = || decode_response(&response(), || panic!("by a type of the caller's"));
        catch_unwind(panics).unwrap_err();
        assert!(CONTEXT.with(|it| it.response.borrow().is_empty()));
    }
}
