//! `suite-bench` measures everything and prints the tables. `observer` measures only observers, `growth` measures many
//! items of a kind in one process, and `guard` compares with the recorded costs.

use suite_bench::clients::Failure;
use suite_bench::process::Task;
use suite_bench::{guard, report};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Err(error) = run(&arguments).await {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

async fn run(arguments: &[&str]) -> Result<(), Failure> {
    match arguments {
        // A worker process that the other commands start.
        ["work", task] => serde_json::from_str::<Task>(task)?.run().await,
        ["guard"] => guard::run(false).await,
        ["guard", "--record"] => guard::run(true).await,
        [name @ ("growth" | "observer")] => report::alone(name).await,
        #[cfg(feature = "peers")]
        options if options.iter().all(|it| ["--quick", "--write"].contains(it)) => {
            report::run(options.contains(&"--quick"), options.contains(&"--write")).await
        }
        _ => Err("suite-bench [--quick] [--write] | observer | growth | guard [--record]".into()),
    }
}
