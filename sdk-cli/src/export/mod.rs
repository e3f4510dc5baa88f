//! `suite export` writes a list of the CRM to a file, or to standard output.
//!
//! The export can end at any time, by Ctrl-C, SIGTERM, `kill -9` or a power cut. `--resume` continues at the last checkpoint,
//! and the finished file equals that of an undisturbed run. `target.rs` describes how.

mod encode;
mod job;
mod target;

use std::ffi::OsStr;
use std::io::{IsTerminal as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use sdk_core::{Pages, Record};
use sdk_crm::{
    Client, GetPersonTimeline, ListIntakeSubmissions, ListOpportunities, ListOrganizations,
    ListPeople, ListTasks,
};

use crate::context::Context;
use crate::output::{self, Failure, note};
use crate::stop::Stop;
use encode::{Encoder, FileFormat};
use job::Job;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The list; `timeline:` is followed by the reference of a person
    #[arg(value_parser = ListParser)]
    list: List,
    /// The file to write, or - for standard output, which has no checkpoints [default: -]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The format of the rows [default: csv if FILE ends in .csv, otherwise jsonl]
    #[arg(long)]
    format: Option<FileFormat>,
    /// Continue an interrupted export to the same file
    #[arg(long, requires = "out", conflicts_with = "restart")]
    resume: bool,
    /// Discard an interrupted export to the same file
    #[arg(long, requires = "out")]
    restart: bool,
    /// The columns of CSV, separated by commas [default: the fields of the records on the first page]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// A query parameter by which the service selects records; may be repeated
    #[arg(long = "filter", value_name = "NAME=VALUE", value_parser = filter)]
    filters: Vec<(String, String)>,
    /// The number of records per page [default: 50, or 200 for a timeline]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// The number of pages from one checkpoint to the next
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    save_every: u32,
}

#[derive(Clone, Debug, ValueEnum)]
enum List {
    People,
    Organizations,
    Opportunities,
    Tasks,
    Intake,
    /// The timeline of this person
    #[value(skip)]
    Timeline(String),
}

/// Reads a list by name, and the timeline with its person.
#[derive(Clone)]
struct ListParser;

const TIMELINE: &str = "timeline:";

impl TypedValueParser for ListParser {
    type Value = List;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<List, clap::Error> {
        match value.to_str().and_then(|text| text.strip_prefix(TIMELINE)) {
            Some(person) => Ok(List::Timeline(person.to_owned())),
            None => EnumValueParser::new().parse_ref(command, argument, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let lists = List::value_variants().iter();
        let names = lists.filter_map(ValueEnum::to_possible_value);
        Some(Box::new(names.chain([PossibleValue::new(TIMELINE)])))
    }
}

fn filter(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("it must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Args {
    fn file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| *path != "-")
    }

    fn format(&self) -> FileFormat {
        let by_name = match self.file().and_then(Path::extension) {
            Some(extension) if extension.eq_ignore_ascii_case("csv") => FileFormat::Csv,
            _ => FileFormat::Jsonl,
        };
        self.format.unwrap_or(by_name)
    }

    fn pages(&self, crm: &Client) -> Pages<Record> {
        let (limit, filters) = (self.limit, self.filters.as_slice());
        // The largest pages there are.
        let (most, longest) = (limit.unwrap_or(50), limit.unwrap_or(200));
        match &self.list {
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
            List::Timeline(person) => {
                let list = crm.people().timeline(person.as_str()).limit(longest);
                filtered(list, filters, GetPersonTimeline::query).pages()
            }
        }
    }
}

/// A list with its filters. The lists have different types with the same methods.
fn filtered<'a, T>(
    list: T,
    filters: &'a [(String, String)],
    query: impl Fn(T, &'a str, &'a str) -> T,
) -> T {
    let each = filters.iter();
    each.fold(list, |list, (name, value)| query(list, name, value))
}

pub(crate) async fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    if args.columns.is_some() && args.format() != FileFormat::Csv {
        return Err(Failure::usage("--columns is for CSV only"));
    }
    let stop = Stop::listen()?;
    let crm = Client::new(&context.suite()?)?;
    // The next page is fetched while this one is written.
    let pages = args.pages(&crm).read_ahead();
    match args.file() {
        None => to_stdout(pages, &args, stop).await,
        Some(file) => Job::open(file, pages, &args)?.run(stop).await,
    }
}

/// Writes rows to standard output, without checkpoints: rows in a pipe cannot be taken back.
async fn to_stdout(
    mut pages: Pages<Record>,
    args: &Args,
    mut stop: Stop,
) -> Result<ExitCode, Failure> {
    let mut encoder = Encoder::new(args.format(), args.columns.clone());
    let is_terminal = stdout().is_terminal();
    while !output::is_lost() {
        let next = tokio::select! {
            biased;
            () = stop.heard() => {
                let records = pages.checkpoint().delivered();
                note(format_args!("Stopped after {records} records; the same command begins anew."));
                return Ok(stop.status());
            }
            next = pages.try_next() => next?,
        };
        let Some(page) = next else { break };
        let rows = encoder.encode(&page.into_inner().into_items()?)?;
        let rows = if is_terminal {
            encode::escaped(&rows)
        } else {
            rows
        };
        output::write(&rows);
    }
    encoder.note_left_out();
    Ok(ExitCode::SUCCESS)
}
