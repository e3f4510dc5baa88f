//! What it costs to depend on something: crates, and processor time of a clean debug build.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::clients::Failure;
use crate::measure::table;
use crate::system;

/// The packages and their dependencies as a manifest has them; a name alone is a client of ours. The first is what
/// others are compared with; the second is ours.
const PACKAGES: [(&str, &[&str]); 6] = [
    (
        "reqwest, default and `json`",
        &[r#"reqwest = { version = "0.13", features = ["json"] }"#],
    ),
    ("**sdk-crm**", &["crm"]),
    (
        "all four clients",
        &["crm", "calendar", "accounting", "platform"],
    ),
    ("octocrab", &[r#"octocrab = "0.54""#]),
    ("aws-sdk-s3", &[r#"aws-sdk-s3 = "1""#]),
    ("azure_identity", &[r#"azure_identity = "1""#]),
];

/// A line of a manifest.
fn line(dependency: &str) -> String {
    if dependency.contains('=') {
        return dependency.to_owned();
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    format!(r#"sdk-{dependency} = {{ path = "{folder}/sdk-{dependency}" }}"#)
}

struct Weight {
    crates: usize,
    seconds: f64,
}

/// Weighs all of them, each in a package of its own that is thrown away.
pub async fn run() -> Result<String, Failure> {
    let folder = std::env::temp_dir().join(format!("suite-weight-{}", std::process::id()));
    let mut weights = Vec::new();
    for (name, dependencies) in PACKAGES {
        eprintln!("{name}");
        std::fs::create_dir_all(folder.join("src"))?;
        let weighed = weigh(&folder, dependencies).await;
        std::fs::remove_dir_all(&folder)?;
        let weight = weighed.inspect_err(|error| eprintln!("{name}: {error}"));
        weights.push((name, weight.ok()));
    }
    render(&weights)
}

async fn weigh(folder: &Path, dependencies: &[&str]) -> Result<Weight, Failure> {
    let lines: Vec<String> = dependencies.iter().map(|name| line(name)).collect();
    let manifest = format!(
        "[package]\nname = \"weighed\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{}\n",
        lines.join("\n")
    );
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    std::fs::write(folder.join("src/lib.rs"), "")?;
    cargo(folder, &["fetch"]).await?;
    let tree = cargo(folder, &["tree", "-e", "normal", "--prefix", "none"]).await?;
    let crates: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    let before = processor();
    cargo(folder, &["build"]).await?;
    Ok(Weight {
        // Without the package that was made for this.
        crates: crates.len() - 1,
        seconds: processor() - before,
    })
}

async fn cargo(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new(env!("CARGO"))
        .arg("--quiet")
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await?;
    if !output.status.success() {
        return Err(format!("cargo {arguments:?}: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Processor seconds of all children that have ended, and of theirs.
fn processor() -> f64 {
    let [.., user, kernel] = system::seconds();
    user + kernel
}

fn render(weights: &[(&str, Option<Weight>)]) -> Result<String, Failure> {
    let (base, own) = match weights {
        [(_, Some(base)), (_, Some(own)), ..] => (base, own),
        _ => return Err("reqwest or sdk-crm could not be built".into()),
    };
    let packages = weights.iter().map(|(name, weight)| match weight {
        Some(Weight { crates, seconds }) => {
            let ratio = seconds / base.seconds;
            format!("{name} | {crates} | {seconds:.0} | {ratio:.2}")
        }
        None => format!("{name} | does not build here | |"),
    });
    let says = |holds| if holds { "yes" } else { "**no**" };
    let more = own.crates.cast_signed() - base.crates.cast_signed();
    let ratio = own.seconds / base.seconds;
    let goals = [
        format!(
            "crates of sdk-crm beyond those of reqwest | <= 10 | {more} | {}",
            says(more <= 10)
        ),
        format!(
            "its clean debug build against that of reqwest | <= 1.25 | {ratio:.2} | {}",
            says(ratio <= 1.25)
        ),
    ];
    Ok(format!(
        "Measured on {}.\n\n{}\n{}",
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
        table(
            "package | crates | clean debug build, processor seconds | against reqwest",
            packages
        ),
        table("goal | bound | figure | reached", goals)
    ))
}
