//! Cells of CSV, which spreadsheets compute if they are let.
//!
//! Text that begins with `=`, `+`, `-` or `@` is a formula to them, and whoever can put a name into the CRM would have
//! it run by whoever opens the export. Such text gets an apostrophe in front, so that it is text. It does so after quotes
//! and blanks too, which some of them drop, and where a cell begins for those that are set to semicolons or tabs. Numbers
//! stay numbers, `-5` too.

use std::borrow::Cow;

use sdk_core::{Error, RawJson};

use crate::line::is_hidden;

/// Text as it is, null as nothing, everything else as its JSON; nothing of it is a formula.
pub(crate) fn cell(value: &RawJson) -> Result<String, Error> {
    Ok(match value.as_str() {
        "null" => String::new(),
        text if text.starts_with('"') => plain(&value.decode::<String>()?).into_owned(),
        json if json.starts_with(['{', '[']) => plain(json).into_owned(),
        number => number.to_owned(),
    })
}

/// Text without formulas.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let separators = [';', '\t', '\r', '\n'];
    let mut plain = String::new();
    for (at, piece) in text.split_inclusive(separators).enumerate() {
        let bare = piece.trim_start_matches(|letter: char| {
            letter.is_whitespace() || is_hidden(letter) || "\"'`“”„‘’‚«»".contains(letter)
        });
        let is_formula = bare.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
        // Some drop a blank of these kinds along with what tells them that this is text. A first line `sep=` says where
        // cells begin from there on.
        let is_order = piece.starts_with(['\t', '\r', '\n']) || piece.starts_with("sep=");
        if is_formula || at == 0 && is_order {
            plain.push('\'');
        }
        plain.push_str(piece);
    }
    plain.into()
}
