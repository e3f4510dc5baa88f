//! Whether two JSON texts say the same, by numbers that are cheap to compare and keep.

/// Deeper values count as equal: no command is nested like that, and a stack has an end.
const DEEPEST: usize = 64;

/// A number that two texts share when they are the same JSON: order of members, spacing and members that are null make
/// no difference. (The contract compares *parsed* commands.)
///
/// It takes one pass and no memory. Texts that differ share it by accident once in 2^64. It is for text that is JSON;
/// any other gives some number.
pub(crate) fn fingerprint(json: &[u8], seed: u64) -> u64 {
    Scanner { rest: json, seed }.value(0)
}

struct Scanner<'a> {
    rest: &'a [u8],
    seed: u64,
}

impl<'a> Scanner<'a> {
    fn value(&mut self, depth: usize) -> u64 {
        match self.peek() {
            Some(b'{') if depth < DEEPEST => self.object(depth),
            Some(b'[') if depth < DEEPEST => self.array(depth),
            Some(b'{' | b'[') => self.skip_container(),
            Some(b'"') => self.string(),
            _ => {
                let token = self.scalar();
                self.hash(token, 1)
            }
        }
    }

    /// A sum over the members, so that their order does not matter.
    fn object(&mut self, depth: usize) -> u64 {
        self.advance();
        let mut sum = 2_u64;
        while let Some(next) = self.peek() {
            match next {
                b'"' => {
                    let name = self.string();
                    if self.peek() == Some(b':') {
                        self.advance();
                    }
                    if self.peek() == Some(b'n') {
                        self.scalar();
                    } else {
                        sum = sum.wrapping_add(fold(name, self.value(depth + 1)));
                    }
                }
                b'}' => {
                    self.advance();
                    break;
                }
                _ => self.advance(),
            }
        }
        fold(sum, self.seed)
    }

    fn array(&mut self, depth: usize) -> u64 {
        self.advance();
        let mut chain = 3_u64;
        while let Some(next) = self.peek() {
            match next {
                b']' => {
                    self.advance();
                    break;
                }
                // The last two only in a text that is no JSON.
                b',' | b'}' | b':' => self.advance(),
                _ => chain = fold(chain, self.value(depth + 1)).wrapping_add(1),
            }
        }
        fold(chain, self.seed)
    }

    fn skip_container(&mut self) -> u64 {
        let mut open = 0_usize;
        while let Some(next) = self.peek() {
            match next {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.advance();
            if open == 0 {
                break;
            }
        }
        4
    }

    /// The text of a string, found and hashed in one go: eight bytes at a time, up to the quote that ends it.
    fn string(&mut self) -> u64 {
        self.advance();
        let mut text = Hash::new(self.seed, 5);
        while let Some((word, after)) = self.rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            let (quotes, escapes) = (bytes_that_are(b'"', word), bytes_that_are(b'\\', word));
            if quotes | escapes == 0 {
                text.word(word);
                self.rest = after;
                continue;
            }
            let bits = (quotes | escapes).trailing_zeros() & !7;
            if escapes >> bits & 0xFF != 0 {
                break;
            }
            let length = bits as usize / 8;
            self.rest = &self.rest[length + 1..];
            return text.end(word & !(u64::MAX << bits), length);
        }
        self.rest_of_string(text)
    }

    /// The same byte by byte, for what has an escape in it or ends the text.
    fn rest_of_string(&mut self, text: Hash) -> u64 {
        let mut end = 0;
        while let Some(&byte) = self.rest.get(end) {
            match byte {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        let (last, rest) = self.rest.split_at(end.min(self.rest.len()));
        self.rest = rest.get(1..).unwrap_or_default();
        text.all(last)
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self) -> &'a [u8] {
        let ends = |byte: &u8| {
            matches!(byte, b',' | b'}' | b']' | b':' | b'"') || byte.is_ascii_whitespace()
        };
        let end = self.rest.iter().position(ends).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        token
    }

    /// The next byte that is not spacing.
    fn peek(&mut self) -> Option<u8> {
        while let [byte, rest @ ..] = self.rest {
            if !byte.is_ascii_whitespace() {
                return Some(*byte);
            }
            self.rest = rest;
        }
        None
    }

    fn advance(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn hash(&self, bytes: &[u8], kind: u64) -> u64 {
        Hash::new(self.seed, kind).all(bytes)
    }
}

/// A number for a text that nobody can tell in advance who does not know the seed.
pub(crate) fn text_print(text: &[u8], seed: u64) -> u64 {
    Hash::new(seed, 6).all(text)
}

/// A hash of bytes, eight at a time.
struct Hash {
    seed: u64,
    state: u64,
    length: u64,
}

impl Hash {
    fn new(seed: u64, kind: u64) -> Self {
        Self {
            seed,
            state: fold(seed ^ kind, 0x9E37_79B9_7F4A_7C15),
            length: 0,
        }
    }

    fn word(&mut self, word: u64) {
        self.state = fold(self.state, word ^ self.seed);
        self.length += 8;
    }

    /// All of these bytes, which are the last.
    fn all(mut self, last: &[u8]) -> u64 {
        let (words, tail) = last.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let word = tail
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte));
        self.end(word, tail.len())
    }

    /// The bytes after the last whole word. The length keeps a text from equalling one with zeroes after it.
    fn end(self, word: u64, length: usize) -> u64 {
        fold(self.state ^ (self.length + length as u64), word ^ self.seed)
    }
}

/// The high bits of those bytes of a word that are this one, and perhaps of bytes above the first of them.
fn bytes_that_are(byte: u8, word: u64) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let zero_where_equal = word ^ (LOW * u64::from(byte));
    zero_where_equal.wrapping_sub(LOW) & !zero_where_equal & HIGH
}

/// Both halves of a product over both inputs, mixed.
fn fold(left: u64, right: u64) -> u64 {
    let left = left ^ 0x2D35_8DCC_AA6C_78A5;
    let right = right ^ 0x8BB8_4B93_962E_ACC9;
    let product = u128::from(left) * u128::from(right);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves are what is wanted"
    )]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use serde_json::{Value, json};

    use super::fingerprint;

    fn print(text: &str) -> u64 {
        fingerprint(text.as_bytes(), 7)
    }

    #[test]
    fn the_same_json_has_the_same_number_however_it_is_written() {
        let one = print(r#"{"a":1,"b":{"c":["x",{"d":true}],"e":"\"}"}}"#);
        for same in [
            r#"{"b":{"e":"\"}","c":["x",{"d":true}]},"a":1}"#,
            " { \"a\" : 1 ,\n\t\"b\" : { \"c\" : [ \"x\" , { \"d\" : true } ] , \"e\" : \"\\\"}\" } } ",
            r#"{"a":1,"z":null,"b":{"y":null,"c":["x",{"d":true}],"e":"\"}"}}"#,
        ] {
            assert_eq!(print(same), one, "{same}");
        }
    }

    #[test]
    fn another_value_name_order_of_items_or_place_gives_another_number() {
        let texts = [
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":1,"b":"2"}"#,
            r#"{"a":1,"c":2}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
            r#"{"a":[1],"b":[2]}"#,
            r#"{"a":[[1],2]}"#,
            r#"{"a":{"a":1},"b":{"b":2}}"#,
            r#"{"a":{"b":2},"b":{"a":1}}"#,
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            r#"{"a":""}"#,
            r#"{"a":[null]}"#,
            r#"{"a":123456789012345678901234567890}"#,
            r#"{"a":123456789012345678901234567891}"#,
            "{}",
            "[]",
        ];
        let mut prints: Vec<u64> = texts.iter().map(|text| print(text)).collect();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), texts.len());
    }

    #[test]
    fn strings_of_any_length_end_where_they_end() {
        let mut prints = Vec::new();
        for length in 0..40 {
            let text = "x".repeat(length);
            for escape in ["", "\\\\", "\\\"", "\\u0041"] {
                let whole = print(&format!(r#"{{"a":"{text}{escape}","b":1}}"#));
                let spaced = format!(r#"{{ "b" : 1 , "a" : "{text}{escape}" }}"#);
                assert_eq!(whole, print(&spaced), "{spaced}");
                prints.push(whole);
            }
        }
        let all = prints.len();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), all);
    }

    #[test]
    fn text_that_is_no_json_ends_too() {
        for odd in [
            "", "{", "[", "\"", "\"\\", "}", "]", "[}", "{:", "{\"a\"", "[:,]", "nul", "{]",
            "\u{fffd}",
        ] {
            print(odd);
        }
        let deep = "[".repeat(100_000);
        print(&deep);
        print(&format!("{deep}{}", "]".repeat(100_000)));
    }

    #[test]
    fn members_in_any_order_and_changed_values_at_random() {
        let mut dice = Dice(11);
        for _ in 0..2_000 {
            let value = any(&mut dice, 3);
            let shuffled = write(&mut dice, &value);
            assert_eq!(print(&value.to_string()), print(&shuffled), "{shuffled}");
            let other = json!({"was": value, "is": dice.roll(u64::MAX)});
            assert_ne!(print(&shuffled), print(&other.to_string()));
        }
    }

    /// Numbers that are the same in every run.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 16) % sides
        }
    }

    fn any(dice: &mut Dice, depth: u32) -> Value {
        match dice.roll(if depth == 0 { 4 } else { 6 }) {
            0 => json!(dice.roll(u64::MAX)),
            1 => json!(dice.roll(2) == 1),
            2 => json!(-1.5e-3),
            3 => json!("\\\"{}[],: x".repeat(dice.roll(3) as usize)),
            4 => (0..dice.roll(5)).map(|_| any(dice, depth - 1)).collect(),
            _ => (0..dice.roll(5))
                .map(|at| (format!("m{at}"), any(dice, depth - 1)))
                .collect(),
        }
    }

    /// The value with spacing, and its members beginning with any of them.
    fn write(dice: &mut Dice, value: &Value) -> String {
        match value {
            Value::Object(members) => {
                let mut members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!(" \n{} :\t{}", json!(name), write(dice, value)))
                    .collect();
                if !members.is_empty() {
                    let first = dice.roll(members.len() as u64) as usize;
                    members.rotate_left(first);
                }
                format!("{{{}}} ", members.join(","))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| write(dice, item)).collect();
                format!("[{}]", items.join(" ,"))
            }
            plain => plain.to_string(),
        }
    }
}
