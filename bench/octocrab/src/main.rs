//! The worker process for octocrab, which `suite-bench` starts.

mod client;

use suite_bench::clients::Failure;
use suite_bench::process::{Task, print};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let task = std::env::args().nth(2).ok_or("a task is needed")?;
    let Task::Load(job) = serde_json::from_str(&task)? else {
        return Err("octocrab has no other task than load".into());
    };
    print(&job.run::<client::Octo>().await?)
}
