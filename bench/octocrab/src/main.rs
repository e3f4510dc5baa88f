//! The process that `suite-bench` starts to put octocrab under load.

mod client;

use suite_bench::clients::Failure;
use suite_bench::load::Job;

fn main() -> Result<(), Failure> {
    let job = std::env::args().nth(2).ok_or("a job is needed")?;
    let job: Job = serde_json::from_str(&job)?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(job.run::<client::Octo>())
}
