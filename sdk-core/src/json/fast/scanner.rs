//! Scans JSON value by value.

use std::borrow::Cow;

use serde::de::IgnoredAny;

const DEEPEST: u8 = 100;

/// A position in JSON. `None` from its methods means that `serde_json` has to read the JSON or report the error.
#[derive(Clone, Debug)]
pub(in crate::json) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: u8,
}

impl<'a> Scanner<'a> {
    pub(in crate::json) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// The next byte after any white space.
    #[inline]
    pub(in crate::json) fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.as_bytes().get(self.at)? {
                byte if byte > b' ' => return Some(byte),
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                _control => return None,
            }
        }
    }

    /// Consumes a byte that must come next.
    #[inline]
    pub(in crate::json) fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    pub(in crate::json) fn open(&mut self, bracket: u8) -> Option<()> {
        self.expect(bracket)?;
        self.depth = self
            .depth
            .checked_add(1)
            .filter(|depth| *depth <= DEEPEST)?;
        Some(())
    }

    /// Whether another element or field follows. If not, leaves the container.
    #[inline]
    pub(in crate::json) fn more(&mut self, is_first: bool, close: u8) -> Option<bool> {
        match self.peek()? {
            byte if byte == close => {
                self.at += 1;
                self.depth -= 1;
                Some(false)
            }
            b',' if !is_first => {
                self.at += 1;
                Some(true)
            }
            _ => is_first.then_some(true),
        }
    }

    /// Checks that only white space is left.
    pub(in crate::json) fn end(&mut self) -> Option<()> {
        (self.peek().is_none() && self.at == self.text.len()).then_some(())
    }

    /// The content of the next string, if it has no escapes. Otherwise, the position doesn't change.
    #[inline]
    pub(in crate::json) fn plain_string(&mut self) -> Option<&'a str> {
        if self.peek()? != b'"' {
            return None;
        }
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let end = special(bytes, start);
        if bytes.get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a function call costs as much as a short string"
    )]
    fn skip_string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        let bytes = self.text.as_bytes();
        let mut end = special(bytes, self.at);
        if bytes.get(end) != Some(&b'"') {
            end = string_end(bytes, end)?;
        }
        self.at = end + 1;
        Some(())
    }

    #[inline]
    pub(in crate::json) fn value(&mut self) -> Option<&'a str> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        Some(&self.text[start..self.at])
    }

    /// The JSON of the next value, if it isn't nested too deeply for the scanner.
    #[inline]
    pub(in crate::json) fn shallow_value(&mut self) -> Option<&'a str> {
        self.peek()?;
        let start = self.at;
        self.skip_shallow()?;
        self.text.get(start..self.at)
    }

    /// Skips the next value, at any depth.
    pub(in crate::json) fn skip(&mut self) -> Option<()> {
        let before = self.clone();
        self.skip_shallow().or_else(|| {
            *self = before;
            let rest = serde_json::Deserializer::from_str(self.text.get(self.at..)?);
            let mut values = rest.into_iter::<IgnoredAny>();
            values.next()?.ok()?;
            self.at += values.byte_offset();
            Some(())
        })
    }

    fn skip_shallow(&mut self) -> Option<()> {
        let outside = self.depth;
        // A bit for each open container, which is set if the container is an object.
        let mut objects = 0_u128;
        loop {
            let mut is_first = false;
            match self.peek()? {
                b'"' => self.skip_string()?,
                open @ (b'{' | b'[') => {
                    self.open(open)?;
                    objects = objects << 1 | u128::from(open == b'{');
                    is_first = true;
                }
                b'n' => self.literal("null")?,
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                _ => self.number()?,
            }
            loop {
                if self.depth == outside {
                    return Some(());
                }
                let is_object = objects & 1 == 1;
                if self.more(is_first, if is_object { b'}' } else { b']' })? {
                    if is_object {
                        self.skip_string()?;
                        self.expect(b':')?;
                    }
                    break;
                }
                objects >>= 1;
                is_first = false;
            }
        }
    }

    /// Consumes a literal that must come next.
    pub(in crate::json) fn literal(&mut self, word: &str) -> Option<()> {
        self.peek()?;
        let bytes = self.text.as_bytes().get(self.at..)?;
        bytes
            .starts_with(word.as_bytes())
            .then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.next_is(|byte| byte == b'-'));
        let integer = self.digits()?;
        if integer.len() > 1 && integer.starts_with('0') {
            return None;
        }
        if self.next_is(|byte| byte == b'.') {
            self.at += 1;
            self.digits()?;
        }
        if self.next_is(|byte| matches!(byte, b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(self.next_is(|byte| matches!(byte, b'+' | b'-')));
            self.digits()?;
        }
        Some(())
    }

    /// Consumes at least one digit.
    fn digits(&mut self) -> Option<&'a str> {
        let start = self.at;
        while self.next_is(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then(|| &self.text[start..self.at])
    }

    fn next_is(&self, is_it: impl Fn(u8) -> bool) -> bool {
        self.text
            .as_bytes()
            .get(self.at)
            .copied()
            .is_some_and(is_it)
    }
}

/// The fields of an object in order, each with its name and its JSON value. A name may occur twice. The iterator ends
/// at a syntax error, and is empty if the JSON isn't an object.
pub(crate) fn members(object: &str) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
    let mut object = Scanner::new(object);
    let is_object = object.open(b'{').is_some();
    let mut is_first = true;
    let next = move || {
        if !is_object || !object.more(is_first, b'}')? {
            return None;
        }
        is_first = false;
        let name = if let Some(name) = object.plain_string() {
            Cow::Borrowed(name)
        } else {
            let name = object.value()?;
            // A name that isn't valid Unicode, such as half of a surrogate pair, stays escaped.
            serde_json::from_str(name).map_or(Cow::Borrowed(name), Cow::Owned)
        };
        object.expect(b':')?;
        Some((name, object.value()?))
    };
    std::iter::from_fn(next).fuse()
}

/// The JSON values of an object's fields with this name. There are several if the name occurs several times.
pub(crate) fn values<'a>(object: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    members(object).filter_map(move |(own, value)| (own == name).then_some(value))
}

/// The position of the next quote, backslash or control character, or of the end.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn special(bytes: &[u8], at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    while let Some((&word, after)) = rest.split_first_chunk() {
        let marks = marks(u64::from_le_bytes(word));
        if marks != 0 {
            return bytes.len() - rest.len() + (marks.trailing_zeros() / 8) as usize;
        }
        rest = after;
    }
    let is_special = |&byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    let place = rest.iter().position(is_special).unwrap_or(rest.len());
    bytes.len() - rest.len() + place
}

/// Sets the highest bit of each byte that is a quote, a backslash or a control character. Only the lowest mark is
/// exact, because the subtraction's borrow may set marks above it.
#[inline]
fn marks(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // With this bit flipped, the quote is the lowest byte after the control characters, instead of the space.
    let low = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
    (low | backslash) & !word & (ONES << 7)
}

/// Finds the closing quote of a string, starting at an escape.
#[cold]
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at = special(bytes, at + escape(bytes.get(at + 1..)?)?),
            _control => return None,
        }
    }
}

/// The length of an escape, from the bytes after its backslash.
fn escape(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => {
            let digits = rest.get(1..5)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(6)
        }
        _ => None,
    }
}

const SERDE_JSON_DEEPEST: usize = 128;

/// The bytes outside of strings. The opening quote of each string is included.
fn outside_strings(text: &str) -> impl Iterator<Item = u8> {
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

pub(crate) fn has_more_elements(text: &str, most: usize) -> bool {
    // Each element takes at least a digit and a comma.
    if text.len() / 2 <= most {
        return false;
    }
    // Counts every comma, and the first element of every container that isn't empty.
    let (mut count, mut opened) = (0, false);
    for byte in outside_strings(text).filter(|byte| !byte.is_ascii_whitespace()) {
        let is_first = opened && !matches!(byte, b']' | b'}');
        count += usize::from(is_first || byte == b',');
        opened = matches!(byte, b'[' | b'{');
    }
    count > most
}

/// Whether JSON is nested deeper than `serde_json` supports. Code that decodes a part separately must check this,
/// because the parser counts the depth from zero for each part.
pub(crate) fn is_too_deep(text: &str) -> bool {
    let opens = |byte: &u8| matches!(byte, b'{' | b'[');
    let is_short = text.len() <= SERDE_JSON_DEEPEST;
    if is_short || text.bytes().filter(opens).count() <= SERDE_JSON_DEEPEST {
        return false;
    }
    let mut depth = 0_usize;
    outside_strings(text).any(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > SERDE_JSON_DEEPEST
    })
}

#[cfg(test)]
mod tests {
    use super::{SERDE_JSON_DEEPEST, has_more_elements, is_too_deep};

    #[test]
    fn the_depth_is_the_number_of_open_containers() {
        let nested = |depth: usize| format!("{}\"[{{\"{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!is_too_deep(&nested(SERDE_JSON_DEEPEST)));
        assert!(is_too_deep(&nested(SERDE_JSON_DEEPEST + 1)));
        assert!(!is_too_deep(&format!("[{}0]", "[],".repeat(1_000))));
        assert!(!is_too_deep(&format!("[\"\\\"{}\"]", "[".repeat(1_000))));
    }

    #[test]
    fn elements_are_counted_outside_of_strings() {
        let text = r#"[{"a,b":"\"[,{"}, 1, [], [ { } ]]"#;
        assert!(!has_more_elements(text, 6));
        assert!(has_more_elements(text, 5));
        assert!(!has_more_elements("[1,2,3]", 3));
        assert!(has_more_elements("[1,2,3]", 2));
    }
}
