//! The options of an export, and the list that they select.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use sdk_core::{Pages, Record};
use sdk_crm::{
    Client, GetPersonTimeline, ListIntakeSubmissions, ListOpportunities, ListOrganizations,
    ListPeople, ListTasks,
};

use super::encode::FileFormat;
use crate::catalog::{self, Parameter};
use crate::output::Failure;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The list to export
    list: List,
    /// The reference of the person, for a timeline
    #[arg(long, value_name = "REFERENCE", required_if_eq("list", "timeline"))]
    person: Option<String>,
    /// The file to write. Without a file, or with -, the export goes to standard output and can't be resumed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The format of the rows [default: csv if FILE ends in .csv, otherwise jsonl]
    #[arg(long)]
    format: Option<FileFormat>,
    /// Continue an interrupted export to the same file
    #[arg(long, requires = "out", conflicts_with = "restart")]
    pub(crate) resume: bool,
    /// Discard an interrupted export to the same file
    #[arg(long, requires = "out")]
    pub(crate) restart: bool,
    /// The CSV columns, separated by commas [default: the fields of the records on the first page]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = column)]
    pub(crate) columns: Option<Vec<String>>,
    /// A query parameter that selects records; repeatable. Without owner=all, only the client's own tasks are listed
    #[arg(long = "filter", value_name = "NAME=VALUE", value_parser = filter)]
    filters: Vec<(String, String)>,
    /// The number of records per page [default: 50, or 200 for a timeline]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// The number of pages between checkpoints
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) save_every: u32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum List {
    People,
    Organizations,
    Opportunities,
    Tasks,
    Intake,
    Timeline,
}

fn column(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    if name.is_empty() {
        return Err("a column must have a name");
    }
    Ok(name.to_owned())
}

fn filter(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("it must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Args {
    /// Validates the options, and the filters by the contract, because the service may ignore a misspelled name.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.columns.is_some() && self.format() != FileFormat::Csv {
            return Err(Failure::usage("--columns is for CSV only"));
        }
        if self.person.is_some() && !matches!(self.list, List::Timeline) {
            return Err(Failure::usage("--person is for the timeline list only"));
        }
        let columns = self.columns.iter().flatten();
        let mut names = HashSet::new();
        for name in columns {
            if !names.insert(name) {
                return Err(Failure::usage(format!("--columns names {name} twice")));
            }
        }
        if self.file().is_none() && (self.resume || self.restart) {
            let message = "--resume and --restart need a file; standard output has no checkpoints";
            return Err(Failure::usage(message));
        }
        let name = match self.list {
            List::People => "people.list",
            List::Organizations => "organizations.list",
            List::Opportunities => "opportunities.list",
            List::Tasks => "tasks.list",
            List::Intake => "intake.list",
            List::Timeline => "people.timeline",
        };
        let Some(entry) = catalog::all().find(|it| it.name() == name) else {
            return Ok(());
        };
        let is_filter = |it: &Parameter| !it.in_path && !matches!(it.name, "limit" | "cursor");
        let mut values = Vec::new();
        for (name, value) in &self.filters {
            let mut known = entry.parameters().filter(is_filter);
            let Some(parameter) = known.find(|it| it.name == name) else {
                let known: Vec<_> = entry
                    .parameters()
                    .filter(is_filter)
                    .map(|it| it.name)
                    .collect();
                let known = known.join(", ");
                return Err(Failure::usage(format!(
                    "--filter {name}: the filters are {known}"
                )));
            };
            values.push((parameter, value.clone()));
        }
        entry.check(&values)
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| *path != "-")
    }

    pub(crate) fn format(&self) -> FileFormat {
        let by_name = match self.file().and_then(Path::extension) {
            Some(extension) if extension.eq_ignore_ascii_case("csv") => FileFormat::Csv,
            _ => FileFormat::Jsonl,
        };
        self.format.unwrap_or(by_name)
    }

    pub(crate) fn pages(&self, crm: &Client) -> Pages<Record> {
        let (limit, filters) = (self.limit, self.filters.as_slice());
        // By default, pages have the documented maximum size.
        let (most, longest) = (limit.unwrap_or(50), limit.unwrap_or(200));
        match self.list {
            List::People => {
                let list = crm.people().list().limit(most);
                filtered(list, filters, ListPeople::query).pages()
            }
            List::Organizations => {
                let list = crm.organizations().list().limit(most);
                filtered(list, filters, ListOrganizations::query).pages()
            }
            List::Opportunities => {
                let list = crm.opportunities().list().limit(most);
                filtered(list, filters, ListOpportunities::query).pages()
            }
            List::Tasks => {
                let list = crm.tasks().list().limit(most);
                filtered(list, filters, ListTasks::query).pages()
            }
            List::Intake => {
                let list = crm.intake().list().limit(most);
                filtered(list, filters, ListIntakeSubmissions::query).pages()
            }
            List::Timeline => {
                let person = self.person.as_deref().unwrap_or_default();
                let list = crm.people().timeline(person).limit(longest);
                filtered(list, filters, GetPersonTimeline::query).pages()
            }
        }
    }
}

/// Adds the filters to a list. The lists have different types with the same methods.
fn filtered<'a, T>(
    list: T,
    filters: &'a [(String, String)],
    query: impl Fn(T, &'a str, &'a str) -> T,
) -> T {
    let each = filters.iter();
    each.fold(list, |list, (name, value)| query(list, name, value))
}
