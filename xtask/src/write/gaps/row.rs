//! A row of the page about what is left open.

/// Where, what, and what the SDK does.
pub(super) type Row = [String; 3];

/// A row, if the text says that something is not shown.
pub(super) fn row(place: &str, text: &str, treatment: &str) -> Option<Row> {
    let gaps = gaps(text);
    (!gaps.is_empty()).then(|| [format!("`{place}`"), gaps, treatment.to_owned()])
}

/// The sentences that say that something is not shown.
pub(super) fn gaps(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentences = text.split_inclusive(". ").map(str::trim);
    let phrases = ["not shown", "not show ", "not stated"];
    let says_so = |sentence: &str| phrases.iter().any(|phrase| sentence.contains(phrase));
    let gaps = sentences.filter(|sentence| says_so(&sentence.to_lowercase()));
    gaps.collect::<Vec<_>>().join(" ")
}
