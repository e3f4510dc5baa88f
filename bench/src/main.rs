//! `suite-bench` measures everything and prints the tables; `observer` says what observers add to a call, `guard` compares with what was recorded, `growth` measures many of a kind in one process.

use std::process::ExitCode;

use suite_bench::clients::Failure;
use suite_bench::process::Bench;
use suite_bench::{growth::Growth, guard, observer::Observers, worker};

const USAGE: &str = "suite-bench [--quick] [--write] | observer | guard [--record] | growth";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(&arguments)),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[&str]) -> Result<(), Failure> {
    if worker::run(arguments).await? {
        return Ok(());
    }
    match arguments {
        ["guard"] => guard::run(false).await,
        ["guard", "--record"] => guard::run(true).await,
        ["growth" | "observer"] => {
            let mut bench = Bench::start().await?;
            // Those of a build without optimisation say nothing.
            bench.valgrind &= !cfg!(debug_assertions);
            let text = match arguments {
                ["growth"] => Growth::measure(&bench).await.map(|it| it.render()),
                _ => Observers::measure(&bench).await.map(|it| it.render()),
            };
            bench.end().await?;
            println!("{}", text?);
            Ok(())
        }
        #[cfg(feature = "peers")]
        _ if options(arguments, &["--quick", "--write"]) => {
            use suite_bench::report::{self, Effort};
            let quick = arguments.contains(&"--quick");
            let effort = if quick { Effort::QUICK } else { Effort::FULL };
            finish(&report::run(effort).await?, arguments)
        }
        _ => Err(USAGE.into()),
    }
}

#[cfg(feature = "peers")]
fn options(arguments: &[&str], known: &[&str]) -> bool {
    arguments.iter().all(|argument| known.contains(argument))
}

#[cfg(feature = "peers")]
fn finish(text: &str, options: &[&str]) -> Result<(), Failure> {
    println!("{text}");
    if options.contains(&"--write") {
        suite_bench::report::document::write(text)?;
    }
    Ok(())
}
