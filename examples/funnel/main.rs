//! Draws the pipeline funnel as a picture for a report.
//!
//! ```text
//! cargo run --example funnel                                   # funnel.svg
//! cargo run --example funnel -- --from 2026-01-01 --to 2026-02-01 --out january.svg
//! ```
// ci: args --out -
//!
//! SVG goes into documents and web pages as it is; `rsvg-convert january.svg > january.png` makes pixels of it. Without a
//! suite in the environment it starts the reference server inside this process.

mod labels;
mod outcomes;
mod pen;
mod picture;

#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use out::note;
use sdk_core::Date;
use sdk_crm::Timestamp;
use support::{line, out, private};

type Failure = Box<dyn std::error::Error>;

const USAGE: &str = "\
usage: funnel [options]

  --from WHEN  begin of the window, such as 2026-01-01 or 2026-01-01T09:00:00Z   [30 days before its end]
  --to WHEN    end of the window   [now]
  --out FILE   where to; `-` is standard output   [funnel.svg]";

/// What is wanted.
struct Options {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    out: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            note!("{message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    out::finish(draw(options).await.map(|()| ExitCode::SUCCESS))
}

async fn draw(options: Options) -> Result<(), Failure> {
    let server = support::server(|demo| demo.opportunities(400)).await;
    let suite = support::connect(server.as_ref(), "suite-funnel")?;
    let crm = sdk_crm::Client::new(&suite)?;

    let mut request = crm.funnel().get();
    if let Some(from) = options.from {
        request = request.from(from);
    }
    if let Some(to) = options.to {
        request = request.to(to);
    }
    let funnel = request.await?;

    let svg = picture::svg(&funnel)?;
    if options.out == "-" {
        out::write(&svg);
    } else {
        private::replace(options.out.as_ref(), svg.as_bytes())?;
        note!("{}: {} stages", options.out, funnel.stages.len());
    }
    Ok(())
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        from: None,
        to: None,
        out: "funnel.svg".to_owned(),
    };
    while let Some(name) = arguments.next() {
        let value = arguments.next();
        let value = value.ok_or_else(|| format!("{name} needs a value, or is no option"))?;
        match name.as_str() {
            "--from" => options.from = Some(instant(&value)?),
            "--to" => options.to = Some(instant(&value)?),
            "--out" => options.out = value,
            _ => return Err(format!("there is no option {name}")),
        }
    }
    Ok(options)
}

/// An instant, or a day, which begins at midnight UTC.
fn instant(text: &str) -> Result<Timestamp, String> {
    if let Ok(instant) = text.parse() {
        return Ok(instant);
    }
    let day: Result<Date, _> = text.parse();
    let day = day.map_err(|_| format!("{text} is neither a day nor an instant"))?;
    Ok(format!("{day}T00:00:00Z").into())
}
