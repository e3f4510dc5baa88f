//! `suite funnel` draws the pipeline funnel as an SVG picture for documents and web pages.

mod picture;

use std::path::PathBuf;
use std::process::ExitCode;

use sdk_core::Date;
use sdk_crm::{Client, Timestamp};

use crate::context::Context;
use crate::output::{self, Failure, note};
use crate::private;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The start of the window, as a day or a time such as 2026-01-01T09:00:00Z [default: 30 days before its end]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    from: Option<Timestamp>,
    /// The end of the window [default: now]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    to: Option<Timestamp>,
    /// The file to write, or - for standard output [default: -]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Parses a time, or a day, which begins at midnight UTC.
fn instant(text: &str) -> Result<Timestamp, &'static str> {
    if let Ok(instant) = text.parse() {
        return Ok(instant);
    }
    let day: Result<Date, _> = text.parse();
    let day = day.map_err(|_| "it is neither a day nor a time")?;
    Ok(format!("{day}T00:00:00Z").into())
}

pub(crate) async fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let crm = Client::new(&context.suite()?)?;
    let mut request = crm.funnel().get();
    if let Some(from) = args.from {
        request = request.from(from);
    }
    if let Some(to) = args.to {
        request = request.to(to);
    }
    let funnel = request.await?;
    let svg = picture::svg(&funnel);
    match args.out.filter(|path| path != "-") {
        None => output::write(&svg),
        Some(file) => {
            private::replace(&file, svg.as_bytes())?;
            let stages = funnel.stages.len();
            note(format_args!("{}: {stages} stages", file.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}
