//! JSON text byte by byte, where a parser would do more than is asked.

/// How deep `serde_json` goes.
const DEEPEST: usize = 128;

/// The bytes outside of strings, each of which still shows its opening quote.
pub(crate) fn outside_strings(text: &str) -> impl Iterator<Item = u8> {
    let (mut in_string, mut escaped) = (false, false);
    text.bytes().filter(move |&byte| {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            return false;
        }
        in_string = byte == b'"';
        true
    })
}

/// Whether JSON is nested deeper than `serde_json` goes. Whoever decodes a part by itself has to ask, because the parser
/// counts anew in each part.
pub(crate) fn is_too_deep(text: &str) -> bool {
    let opens = |byte: &u8| matches!(byte, b'{' | b'[');
    if text.as_bytes().iter().filter(|byte| opens(byte)).count() <= DEEPEST {
        return false;
    }
    let mut depth = 0_usize;
    outside_strings(text).any(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, is_too_deep};

    #[test]
    fn depth_counts_what_is_open_at_once() {
        let nested = |depth: usize| format!("{}\"[{{\"{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!is_too_deep(&nested(DEEPEST)));
        assert!(is_too_deep(&nested(DEEPEST + 1)));
        assert!(!is_too_deep(&format!("[{}0]", "[],".repeat(1_000))));
        assert!(!is_too_deep(&format!("[\"\\\"{}\"]", "[".repeat(1_000))));
    }
}
