//! Encodes records as lines of JSON or rows of CSV.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use clap::ValueEnum;
use sdk_core::{Error, Members, RawJson, Record, one_line};
use serde::{Deserialize, Serialize};

use crate::output::{Failure, is_hidden, note};

/// The maximum number of fields without a column that the final message names.
const NAMED: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileFormat {
    /// CSV rows; a value that a spreadsheet would run as a formula, such as =1+1, gets a leading apostrophe
    Csv,
    /// One JSON record per line, as received
    Jsonl,
}

/// Encodes the records of a page as rows. Checkpoints contain its state.
#[derive(Serialize, Deserialize)]
pub(crate) struct Encoder {
    pub(crate) format: FileFormat,
    /// The CSV columns. By default, they are all fields of the records on the first page, because the contract doesn't
    /// document the fields, and CSV needs the columns before the first row.
    pub(crate) columns: Option<Vec<String>>,
    has_header: bool,
    /// Fields for which this process found no column.
    #[serde(skip)]
    left_out: BTreeSet<String>,
    /// Columns for which this process found a field.
    #[serde(skip)]
    filled: BTreeSet<String>,
}

impl Encoder {
    pub(crate) fn new(format: FileFormat, columns: Option<Vec<String>>) -> Self {
        Self {
            format,
            columns,
            has_header: false,
            left_out: BTreeSet::new(),
            filled: BTreeSet::new(),
        }
    }

    pub(crate) fn encode(&mut self, records: &[Record]) -> Result<String, Failure> {
        match self.format {
            FileFormat::Jsonl => Ok(lines(records)),
            FileFormat::Csv => self.rows(records),
        }
    }

    pub(crate) fn note_left_out(&self) {
        if !self.left_out.is_empty() {
            let names: Vec<&str> = self.left_out.iter().map(String::as_str).collect();
            let more = if names.len() < NAMED { "" } else { " …" };
            let names = one_line(&names.join(", "));
            note(format_args!("Fields without a column: {names}{more}"));
        }
        let columns = self.columns.iter().flatten();
        let empty: Vec<&str> = columns
            .filter(|it| self.has_header && !self.filled.contains(*it))
            .map(String::as_str)
            .collect();
        if !empty.is_empty() {
            let names = one_line(&empty.join(", "));
            note(format_args!(
                "Columns without a field in these records: {names}"
            ));
        }
    }

    fn rows(&mut self, records: &[Record]) -> Result<String, Failure> {
        let records: Vec<Members> = records
            .iter()
            .map(Record::members)
            .collect::<Result<_, Error>>()?;
        if self.columns.is_none() && !records.is_empty() {
            self.columns = Some(columns_of(&records));
        }
        // The first page may be empty and still have a cursor.
        let Some(columns) = &self.columns else {
            return Ok(String::new());
        };
        let known: HashSet<&str> = columns.iter().map(String::as_str).collect();
        let mut rows = csv::Writer::from_writer(Vec::new());
        if !std::mem::replace(&mut self.has_header, true) {
            let names = columns.iter().map(|name| defused(name).into_owned());
            rows.write_record(names).map_err(io::Error::from)?;
        }
        for record in &records {
            // A map makes the time linear in the number of fields. Of several fields with one name, the first counts.
            let mut values: HashMap<&str, &RawJson> = HashMap::new();
            for (name, value) in record {
                values.entry(name).or_insert(value);
                if self.left_out.len() < NAMED && !known.contains(name) {
                    self.left_out.insert(name.to_owned());
                }
            }
            for name in columns.iter().filter(|it| values.contains_key(it.as_str())) {
                if !self.filled.contains(name) {
                    self.filled.insert(name.clone());
                }
            }
            let values = columns.iter().map(|name| values.get(name.as_str()));
            let cells: Vec<String> = values
                .map(|value| value.map_or(Ok(String::new()), |value| cell(value)))
                .collect::<Result<_, Error>>()?;
            rows.write_record(cells).map_err(io::Error::from)?;
        }
        let rows = rows.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(String::from_utf8(rows).map_err(io::Error::other)?)
    }
}

fn lines(records: &[Record]) -> String {
    let mut lines = String::new();
    for record in records {
        // JSON has line breaks only between tokens, where a space is equivalent.
        lines += &record.raw().as_str().replace(['\n', '\r'], " ");
        lines.push('\n');
    }
    lines
}

fn columns_of(records: &[Members]) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = records.iter().flat_map(Members::iter).map(|(name, _)| name);
    names
        .filter(|name| seen.insert(*name))
        .map(str::to_owned)
        .collect()
}

/// Returns the content of a string, an empty cell for null, and the JSON of any other value.
fn cell(value: &RawJson) -> Result<String, Error> {
    Ok(match value.as_str() {
        "null" => String::new(),
        text if text.starts_with('"') => defused(&value.decode::<String>()?).into_owned(),
        json if json.starts_with(['{', '[']) => defused(json).into_owned(),
        // A number such as -5 is not a formula.
        number => number.to_owned(),
    })
}

/// Puts an apostrophe before each formula.
///
/// Spreadsheets compute cells that begin with `=`, `+`, `-` or `@`. Without the apostrophe, a person who can enter a
/// name into the CRM could run a formula on the computer of a person who opens the export. Some spreadsheets ignore
/// quotes and spaces before a formula. Others split cells at semicolons or tabs, so a formula may begin in the middle
/// of a value.
fn defused(text: &str) -> Cow<'_, str> {
    let separators = [';', '\t', '\r', '\n'];
    let mut defused = String::new();
    for (at, piece) in text.split_inclusive(separators).enumerate() {
        let bare = piece.trim_start_matches(|letter: char| {
            letter.is_whitespace() || is_hidden(letter) || "\"'`“”„‘’‚«»".contains(letter)
        });
        let is_formula = bare.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
        // Some spreadsheets ignore this leading white space. A first line `sep=` changes the separator.
        let is_order = piece.starts_with(['\t', '\r', '\n']) || piece.starts_with("sep=");
        if is_formula || at == 0 && is_order {
            defused.push('\'');
        }
        defused.push_str(piece);
    }
    defused.into()
}
