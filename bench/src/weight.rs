//! What it costs to depend on something: crates, and processor time of debug builds.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::clients::Failure;
use crate::measure::{median, table};
use crate::system;

/// The packages and their dependencies as a manifest has them; a name alone is a client of ours.
/// The first is what others are compared with; the second is ours.
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

/// The programs whose incremental builds are compared: the same call with either.
const PROGRAMS: [(&str, &str); 2] = [
    (
        PACKAGES[0].0,
        r#"
#[derive(serde::Deserialize, Debug)]
struct Person {
    #[serde(rename = "displayName")]
    _name: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = "https://crm.example.com/api/crm/v1/people/PER-0123456789AB";
    let request = reqwest::Client::new().get(url).bearer_auth("token");
    let person: Person = request.send().await?.error_for_status()?.json().await?;
"#,
    ),
    (
        PACKAGES[1].0,
        r#"
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let crm = sdk_crm::Client::new(&sdk_crm::Suite::from_env()?)?;
    let person = crm.people().get("PER-0123456789AB").await?;
"#,
    ),
];

/// How often such a program is edited and built again.
const EDITS: usize = 5;

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
    /// Of a build after an edit of a program that makes a call, in the middle.
    edited: Option<f64>,
}

/// Weighs all of them, each in a package of its own that is thrown away.
pub async fn run() -> Result<String, Failure> {
    let folder = std::env::temp_dir().join(format!("suite-weight-{}", std::process::id()));
    let mut weights = Vec::new();
    for (name, dependencies) in PACKAGES {
        eprintln!("{name}");
        std::fs::create_dir_all(folder.join("src"))?;
        let program = PROGRAMS.iter().find(|(of, _)| *of == name);
        let weighed = weigh(&folder, dependencies, program.map(|(_, text)| *text)).await;
        std::fs::remove_dir_all(&folder)?;
        let weight = weighed.inspect_err(|error| eprintln!("{name}: {error}"));
        weights.push((name, weight.ok()));
    }
    render(&weights)
}

async fn weigh(
    folder: &Path,
    dependencies: &[&str],
    program: Option<&str>,
) -> Result<Weight, Failure> {
    let lines: Vec<String> = dependencies.iter().map(|name| line(name)).collect();
    let manifest = format!(
        "[package]\nname = \"weighed\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{}\n",
        lines.join("\n")
    );
    let path = folder.join("Cargo.toml");
    std::fs::write(&path, &manifest)?;
    std::fs::write(folder.join("src/lib.rs"), "")?;
    cargo(folder, &["fetch"]).await?;
    let tree = cargo(folder, &["tree", "-e", "normal", "--prefix", "none"]).await?;
    let crates: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    let before = processor();
    cargo(folder, &["build", "--config", "build.incremental=false"]).await?;
    let seconds = processor() - before;
    let mut edited = None;
    if let Some(program) = program {
        let serde = r#"serde = { version = "1", features = ["derive"] }"#;
        let tokio = r#"tokio = { version = "1", features = ["macros", "rt"] }"#;
        std::fs::write(&path, format!("{manifest}{serde}\n{tokio}\n"))?;
        edited = Some(edit(folder, program).await?);
    }
    Ok(Weight {
        // Without the package that was made for this.
        crates: crates.len() - 1,
        seconds,
        edited,
    })
}

/// Processor seconds of an incremental build.
async fn edit(folder: &Path, program: &str) -> Result<f64, Failure> {
    let mut seconds = Vec::new();
    for edit in 0..=EDITS {
        let text = format!("{program}    println!(\"{edit}: {{person:?}}\");\n    Ok(())\n}}\n");
        std::fs::write(folder.join("src/main.rs"), text)?;
        let before = processor();
        cargo(folder, &["build", "--config", "build.incremental=true"]).await?;
        seconds.push(processor() - before);
    }
    // The first one builds what is new in the manifest.
    median(seconds.split_off(1)).ok_or_else(|| "nothing was edited".into())
}

async fn cargo(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new(env!("CARGO"))
        .arg("--quiet")
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("CARGO_INCREMENTAL")
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
        Some(Weight {
            crates,
            seconds,
            edited,
        }) => {
            let ratio = seconds / base.seconds;
            let edited = edited.map_or_else(String::new, |edited| format!("{edited:.2}"));
            format!("{name} | {crates} | {seconds:.0} | {ratio:.2} | {edited}")
        }
        None => format!("{name} | does not build here | | |"),
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
            "its clean debug build against that of reqwest | <= 1.12 (0.1.0: 1.25) | {ratio:.2} | {}",
            says(ratio <= 1.12)
        ),
    ];
    Ok(format!(
        "Measured on {}.\n\n{}\n{}",
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
        table(
            "package | crates | clean debug build, processor seconds | against reqwest | after an edit of a program that makes a call",
            packages
        ),
        table("goal | bound | figure | reached", goals)
    ))
}
