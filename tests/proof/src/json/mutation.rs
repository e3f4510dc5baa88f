//! The generator of random JSON, and the mutator of values within a schema and of bytes.

use fastrand::Rng;

use super::Json;

/// Numbers that exceed a float or 64 bits, and numbers that are easily changed by rounding.
pub const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1.10",
    "1E+2",
    "1e400",
    "18446744073709551616",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
];

/// Strings in JSON notation.
pub const TEXTS: &[&str] = &[
    r#""""#,
    r#""from_the_future""#,
    r#""12""#,
    r#""null""#,
    r#""PER-not a reference""#,
    r#""\"quoted\" \\ \u0000\n\u007f""#,
    r#""Ünïcödé ☃ 🦀 \u202e""#,
    r#""a string that is longer than any other of its kind has been so far, by a wide margin, and then some""#,
];

const NAMES: &[&str] = &[
    "fromTheFuture",
    "fromTheFuture",
    "extra",
    "",
    "Title",
    "with \"quotes\"",
    "nächste",
];

/// The values that a schema allows.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Any value.
    Any,
    /// One of these JSON values. If the list is empty, the value stays unchanged.
    OneOf(&'static [&'static str]),
    /// An array, and a number of items greater than a reader expects.
    Array(Box<Shape>, usize),
    /// An object with these fields and any other fields.
    Object(Vec<Field>),
}

/// A field that a schema documents.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: String,
    /// Whether the field is always present and never null.
    pub required: bool,
    /// The documented values.
    pub shape: Shape,
    /// Undocumented values, which a reader must preserve too.
    pub beyond: Shape,
}

fn percent(rng: &mut Rng, chance: u8) -> bool {
    rng.u8(..100) < chance
}

fn literal(values: &[&str], rng: &mut Rng) -> Json {
    Json::read(values[rng.usize(..values.len())]).expect("a valid literal")
}

fn new_field(rng: &mut Rng) -> (String, Json) {
    let name = NAMES[rng.usize(..NAMES.len())];
    (name.to_owned(), Json::draw(rng))
}

impl Json {
    /// Returns a random value of limited depth.
    pub fn draw(rng: &mut Rng) -> Self {
        match rng.u8(..8) {
            0 => Self::Array((0..rng.usize(..3)).map(|_| Self::draw(rng)).collect()),
            1 => Self::Object((0..rng.usize(..3)).map(|_| new_field(rng)).collect()),
            2 => literal(&["null", "true", "false"], rng),
            3 | 4 => literal(NUMBERS, rng),
            _ => literal(TEXTS, rng),
        }
    }

    /// Returns the value as a later version of its schema might send it.
    #[must_use]
    pub fn mutated(&self, shape: &Shape, rng: &mut Rng) -> Self {
        let often = if matches!(shape, Shape::Any) { 15 } else { 40 };
        if percent(rng, often)
            && let Some(other) = shape.draw(rng)
        {
            return other;
        }
        match (shape, self) {
            (Shape::Any, Self::Array(items)) => array(items, shape, 0, rng),
            (Shape::Array(shape, many), Self::Array(items)) => array(items, shape, *many, rng),
            (Shape::Any, Self::Object(fields)) => object(fields, &[], rng),
            (Shape::Object(known), Self::Object(fields)) => object(fields, known, rng),
            _ => self.clone(),
        }
    }
}

impl Shape {
    /// Returns a random value, if the shape allows one that does not depend on an existing value.
    fn draw(&self, rng: &mut Rng) -> Option<Json> {
        match self {
            Self::Any => Some(Json::draw(rng)),
            Self::OneOf(values) if !values.is_empty() => Some(literal(values, rng)),
            _ => None,
        }
    }
}

fn array(items: &[Json], shape: &Shape, many: usize, rng: &mut Rng) -> Json {
    let count = match rng.u8(..10) {
        0 => 0,
        1 | 2 => many.max(items.len() + 1),
        _ => items.len(),
    };
    let items = items.iter().cycle().take(count);
    let mut mutated: Vec<Json> = items.map(|it| it.mutated(shape, rng)).collect();
    if percent(rng, 20) {
        rng.shuffle(&mut mutated);
    }
    Json::Array(mutated)
}

fn object(fields: &[(String, Json)], known: &[Field], rng: &mut Rng) -> Json {
    let mut mutated = Vec::new();
    for (name, value) in fields {
        let value = match known.iter().find(|field| field.name == *name) {
            None => value.mutated(&Shape::Any, rng),
            Some(field) => match rng.u8(..10) {
                0 if !field.required => continue,
                1 if !field.required => Json::Plain("null".to_owned()),
                2 | 3 => match field.beyond.draw(rng) {
                    Some(other) => other,
                    None => value.mutated(&field.shape, rng),
                },
                _ => value.mutated(&field.shape, rng),
            },
        };
        mutated.push((name.clone(), value));
    }
    while percent(rng, 40) {
        let (name, value) = new_field(rng);
        if known.iter().all(|field| field.name != name) {
            mutated.push((name, value));
        }
    }
    if percent(rng, 50) {
        rng.shuffle(&mut mutated);
    }
    Json::Object(mutated)
}

/// Returns an input of the corpus after a few random changes of its bytes, its words and its JSON part.
pub fn mutate(rng: &mut Rng, corpus: &[Vec<u8>], words: &[String]) -> Vec<u8> {
    let mut input = rng.choice(corpus).cloned().unwrap_or_default();
    for _ in 0..rng.usize(1..5) {
        let (from, to) = (rng.usize(..=input.len()), rng.usize(..=input.len()));
        let (from, to) = (from.min(to), from.max(to));
        let word = words[rng.usize(..words.len())].as_bytes();
        match rng.u8(..10) {
            0 if from < input.len() => input[from] ^= 1 << rng.u8(..8),
            1 => input.truncate(to),
            2 => drop(input.drain(from..to)),
            3 => input = [&input[..to], &input[from..]].concat(),
            4 => drop(input.splice(from..to, rng.choice(corpus).cloned().unwrap_or_default())),
            5 => drop(input.splice(from..from, word.repeat(rng.usize(1..40)))),
            // Repeats a piece often enough to reveal growing cost.
            6 if rng.u8(..20) == 0 => {
                let piece = input[from..to].to_vec();
                let times = rng.usize(..=100_000) / (piece.len() + 1);
                drop(input.splice(from..from, piece.repeat(times)));
            }
            7 | 8 => {
                let start = input.iter().position(|byte| b"{[".contains(byte));
                let start = start.unwrap_or_default();
                let json = str::from_utf8(&input[start..]).ok().and_then(Json::read);
                if let Some(json) = json {
                    let mutated = json.mutated(&Shape::Any, rng).to_string();
                    drop(input.splice(start.., mutated.into_bytes()));
                }
            }
            _ => drop(input.splice(from..to, word.iter().copied())),
        }
    }
    input
}
