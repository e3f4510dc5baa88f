//! The command line.

use std::path::PathBuf;

use crate::lists::List;

pub(crate) const USAGE: &str = "\
usage: export LIST [options]

LIST is people, organizations, opportunities, tasks, intake, or timeline:PER-0123456789AB.

  --out FILE           where to; rows of CSV if it ends in .csv, otherwise lines of JSON. In CSV, text that
                       a spreadsheet would compute, such as =1+1, has an apostrophe in front.
                       `-` is standard output, without checkpoints   [LIST.ndjson]
  --columns a,b,c      the columns of a CSV file   [the members on the first page]
  --filter NAME=VALUE  only what the service selects by this parameter; may be repeated
  --limit N            records per page   [50, timeline 200]
  --save-every N       pages from one checkpoint to the next   [20]
  --restart            begin anew, whatever an interrupted export has left";

/// What is wanted.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) list: List,
    pub(crate) destination: Destination,
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) filters: Vec<(String, String)>,
    pub(crate) limit: u32,
    pub(crate) save_every: u32,
    pub(crate) restart: bool,
}

/// Where to.
#[derive(Debug)]
pub(crate) enum Destination {
    Stdout,
    File(PathBuf),
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let list = arguments.next().ok_or("which list?")?;
        let list = List::parse(&list).ok_or_else(|| format!("there is no list {list}"))?;
        let mut options = Self {
            // The largest pages there are.
            limit: if matches!(list, List::Timeline(_)) {
                200
            } else {
                50
            },
            destination: Destination::File(format!("{}.ndjson", list.name()).into()),
            list,
            columns: None,
            filters: Vec::new(),
            save_every: 20,
            restart: false,
        };
        while let Some(name) = arguments.next() {
            if name == "--restart" {
                options.restart = true;
                continue;
            }
            let value = arguments.next();
            let value = value.ok_or_else(|| format!("{name} needs a value, or is no option"))?;
            options.set(&name, value)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), String> {
        let number = |text: &str| {
            text.parse::<u32>()
                .map_err(|_| format!("{name} takes a number, not {text}"))
        };
        match name {
            "--out" if value == "-" => self.destination = Destination::Stdout,
            "--out" => self.destination = Destination::File(value.into()),
            "--columns" => {
                self.columns = Some(value.split(',').map(str::to_owned).collect());
            }
            "--filter" => {
                let (name, value) = value.split_once('=').ok_or("--filter takes NAME=VALUE")?;
                self.filters.push((name.to_owned(), value.to_owned()));
            }
            "--limit" => self.limit = number(&value)?,
            "--save-every" => self.save_every = number(&value)?,
            _ => return Err(format!("there is no option {name}")),
        }
        Ok(())
    }
}
