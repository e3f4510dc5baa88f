//! Prints responses as tables, as JSON, or as one JSON value per line.

use std::fmt::Write as _;

use sdk_core::{Members, RawJson, Record, Response, one_line};
use serde_json::Value;

use crate::output::{Format, escaped, put, shown};

/// The widest cell, and the widest table, in characters.
const CELL: usize = 40;
const WIDTH: usize = 120;

/// Prints the body of a response. On a terminal, control characters are escaped.
pub(crate) fn print(response: &Response<RawJson>, format: Format) {
    let bytes = response.bytes();
    match std::str::from_utf8(bytes) {
        // Some successes have no JSON, such as a health check's.
        Ok(text) if response.is_null() && !text.trim().is_empty() => put(escaped(text)),
        _ if response.is_null() && format == Format::Table => {
            put(format_args!("status {}", response.http_status()));
        }
        _ => print_value(response, format),
    }
}

pub(crate) fn print_value(value: &RawJson, format: Format) {
    match (format, page(value)) {
        (Format::Json, _) => put(shown(value.as_str())),
        (Format::Jsonl, Some(items)) => {
            for item in &items {
                put(line(&shown(item.as_str())));
            }
        }
        (Format::Jsonl, None) => put(line(&shown(value.as_str()))),
        (Format::Table, _) => match fields(value) {
            Some(fields) => print_record(&fields),
            None => put(escaped(value.as_str())),
        },
    }
}

/// Prints the fields of a record, then a table for each list of records in it.
fn print_record(fields: &Members) {
    let (lists, plain): (Vec<_>, Vec<_>) = fields
        .iter()
        .map(|(name, value)| (name, value, records(value)))
        .partition(|(_, _, records)| records.is_some());
    let widest = plain.iter().map(|(name, ..)| name.chars().count()).max();
    let widest = widest.unwrap_or(0);
    for (name, value, _) in plain {
        put(format_args!(
            "{:<widest$}  {}",
            one_line(name),
            plain_text(value)
        ));
    }
    for (name, _, records) in lists {
        put(format_args!("\n{}", one_line(name)));
        print_table(&records.unwrap_or_default(), None);
    }
}

/// Prints rows. A table has only these columns.
pub(crate) fn print_rows(rows: &[Value], columns: &[&str], format: Format) {
    let rows: Vec<RawJson> = rows.iter().cloned().map(RawJson::from).collect();
    match format {
        Format::Table => print_table(&rows, Some(columns)),
        Format::Json => {
            let all: Vec<_> = rows.iter().map(RawJson::as_str).collect();
            put(format_args!("[{}]", all.join(",\n")));
        }
        Format::Jsonl => rows.iter().for_each(|it| put(it.as_str())),
    }
}

/// Returns the records of a page (assumption A07).
fn page(value: &RawJson) -> Option<Vec<RawJson>> {
    records(fields(value)?.get("items")?)
}

/// Returns the items of a list, if all of them are objects.
fn records(value: &RawJson) -> Option<Vec<RawJson>> {
    let is_list = value.as_str().starts_with('[');
    let items: Vec<RawJson> = is_list.then(|| value.decode().ok())??;
    let are_objects = items.iter().all(|it| it.as_str().starts_with('{'));
    are_objects.then_some(items)
}

fn fields(value: &RawJson) -> Option<Members> {
    let is_object = value.as_str().trim_start().starts_with('{');
    is_object.then(|| Record::from(value.clone()).members().ok())?
}

/// Puts JSON into one line. JSON has line breaks only between tokens.
fn line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

/// Returns a string without its quotes, and any other value as JSON, in one line.
fn plain_text(value: &RawJson) -> String {
    if value.is_null() {
        return String::new();
    }
    let text = value.decode::<String>();
    one_line(&text.unwrap_or_else(|_| value.as_str().to_owned()))
}

fn cell(value: &RawJson) -> String {
    let text = plain_text(value);
    if text.chars().count() <= CELL {
        return text;
    }
    text.chars().take(CELL - 1).chain(['…']).collect()
}

/// Prints rows with as many columns as fit. The columns are `named`, or the fields of the first record.
fn print_table(rows: &[RawJson], named: Option<&[&str]>) {
    let rows: Vec<Members> = rows.iter().filter_map(fields).collect();
    let Some(first) = rows.first() else {
        return put("no records");
    };
    let columns: Vec<String> = if let Some(named) = named {
        named.iter().map(|it| (*it).to_owned()).collect()
    } else {
        // Nested values come last, because they are long and unclear in a cell.
        let (nested, plain): (Vec<_>, Vec<_>) = first
            .iter()
            .partition(|(_, value)| value.as_str().starts_with(['{', '[']));
        let all = plain.into_iter().chain(nested);
        all.map(|(name, _)| name.to_owned()).collect()
    };
    let mut lines: Vec<String> = vec![String::new(); rows.len() + 1];
    let mut width = 0;
    let mut left_out = Vec::new();
    for column in &columns {
        let cells = rows
            .iter()
            .map(|row| row.get(column).map_or(String::new(), cell));
        let cells: Vec<String> = std::iter::once(one_line(column)).chain(cells).collect();
        let widest = cells.iter().map(|it| it.chars().count()).max().unwrap_or(0);
        if width > 0 && width + 2 + widest > WIDTH {
            left_out.push(one_line(column));
            continue;
        }
        width += widest + 2;
        for (line, cell) in lines.iter_mut().zip(cells) {
            let _ = write!(line, "{cell:<widest$}  ");
        }
    }
    for line in &lines {
        put(line.trim_end());
    }
    if !left_out.is_empty() {
        put(format_args!(
            "(--output json also has {})",
            left_out.join(", ")
        ));
    }
}
