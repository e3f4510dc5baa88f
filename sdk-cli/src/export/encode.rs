//! Records as lines of JSON or rows of CSV.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use sdk_core::{Error, Members, RawJson, Record};

use crate::Failure;
use crate::cell::{cell, plain};
use crate::line::{is_hidden, line};

/// Up to how many members without a column are named at the end.
const NAMED: usize = 20;

/// Turns the records of a page into bytes.
pub(crate) enum Encoder {
    /// A line per record, each number with the digits that came.
    Ndjson,
    /// A row per record. The contract does not show what records hold, and CSV needs columns before its first row: they
    /// are those that the caller names, or all members that the records of the first page have.
    Csv(Table),
}

/// A table whose columns may not be known yet.
#[derive(Default)]
pub(crate) struct Table {
    columns: Option<Vec<String>>,
    header_written: bool,
    left_out: BTreeSet<String>,
}

impl Encoder {
    /// What the name of a file asks for. `saved` are the columns of an interrupted export.
    pub(crate) fn for_file(
        file: &Path,
        named: Option<&[String]>,
        saved: Option<Vec<String>>,
    ) -> Result<Self, Failure> {
        let csv = file.extension().is_some_and(|extension| extension == "csv");
        if !csv && named.is_some() {
            return Err("--columns is for files that end in .csv".into());
        }
        if let (Some(named), Some(saved)) = (named, &saved)
            && named != saved.as_slice()
        {
            let columns = line(saved.join(","));
            return Err(format!(
                "the interrupted export has the columns {columns}; --restart begins anew"
            )
            .into());
        }
        Ok(if csv {
            Self::Csv(Table {
                header_written: saved.is_some(),
                columns: saved.or_else(|| named.map(<[String]>::to_vec)),
                left_out: BTreeSet::new(),
            })
        } else {
            Self::Ndjson
        })
    }

    pub(crate) fn encode(&mut self, records: &[Record]) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Ndjson => Ok(lines(records)),
            Self::Csv(table) => table.rows(records),
        }
    }

    /// The columns, once the header is written.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        match self {
            Self::Csv(table) if table.header_written => table.columns.clone(),
            _ => None,
        }
    }

    /// The members that had no column, if there were any since the program was started.
    pub(crate) fn left_out(&self) -> Option<String> {
        match self {
            Self::Csv(table) if !table.left_out.is_empty() => {
                let names: Vec<&str> = table.left_out.iter().map(String::as_str).collect();
                let more = if names.len() < NAMED { "" } else { " …" };
                Some(line(names.join(", ")) + more)
            }
            _ => None,
        }
    }
}

fn lines(records: &[Record]) -> Vec<u8> {
    let mut lines = Vec::new();
    for record in records {
        // A record is kept as it came. JSON has line breaks only between its tokens, where a blank does as well.
        let json = record.raw().as_str().bytes();
        lines.extend(json.map(|byte| match byte {
            b'\n' | b'\r' => b' ',
            other => other,
        }));
        lines.push(b'\n');
    }
    lines
}

/// The same JSON without characters that a terminal would obey or not show.
pub(crate) fn escaped(lines: &str) -> String {
    let mut escaped = String::with_capacity(lines.len());
    for letter in lines.chars() {
        // Blanks stand between tokens, where nothing can be escaped.
        if is_hidden(letter) && !letter.is_ascii_whitespace() {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

impl Table {
    fn rows(&mut self, records: &[Record]) -> Result<Vec<u8>, Failure> {
        let members: Vec<Members> = records
            .iter()
            .map(Record::members)
            .collect::<Result<_, Error>>()?;
        if self.columns.is_none() && !members.is_empty() {
            self.columns = Some(columns_of(&members));
        }
        // A first page may be empty, and another one follow.
        let Some(columns) = &self.columns else {
            return Ok(Vec::new());
        };
        let known: HashSet<&str> = columns.iter().map(String::as_str).collect();
        let mut rows = csv::Writer::from_writer(Vec::new());
        if !std::mem::replace(&mut self.header_written, true) {
            rows.write_record(columns.iter().map(|name| plain(name).into_owned()))?;
        }
        for record in &members {
            // One look at each member, however many there are. Of several with one name the first counts.
            let mut values: HashMap<&str, &RawJson> = HashMap::new();
            for (name, value) in record {
                values.entry(name).or_insert(value);
                if self.left_out.len() < NAMED && !known.contains(name) {
                    self.left_out.insert(name.to_owned());
                }
            }
            for column in columns {
                let value = values.get(column.as_str());
                let cell = value.map(|value| cell(value)).transpose()?;
                rows.write_field(cell.unwrap_or_default())?;
            }
            rows.write_record(None::<&[u8]>)?;
        }
        Ok(rows.into_inner().map_err(csv::IntoInnerError::into_error)?)
    }
}

/// All members of these records, in the order in which they are first met.
fn columns_of(records: &[Members]) -> Vec<String> {
    let mut met = HashSet::new();
    let names = records.iter().flat_map(Members::iter).map(|(name, _)| name);
    names
        .filter(|name| met.insert(*name))
        .map(str::to_owned)
        .collect()
}
