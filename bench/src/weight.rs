//! What it costs to depend on something: crates, and processor time of a clean debug build.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::clients::Failure;

/// The packages, their dependency as a manifest has it, and what they are called. The first is what others are
/// compared with; the second is ours.
const PACKAGES: [(&str, &str); 6] = [
    (
        "reqwest, default and `json`",
        r#"reqwest = { version = "0.13", features = ["json"] }"#,
    ),
    (
        "**sdk-crm**",
        concat!(
            r#"sdk-crm = { path = ""#,
            env!("CARGO_MANIFEST_DIR"),
            r#"/../sdk-crm" }"#
        ),
    ),
    (
        "all four clients",
        concat!(
            r#"sdk-crm = { path = ""#,
            env!("CARGO_MANIFEST_DIR"),
            r#"/../sdk-crm" }"#,
            "\n",
            r#"sdk-calendar = { path = ""#,
            env!("CARGO_MANIFEST_DIR"),
            r#"/../sdk-calendar" }"#,
            "\n",
            r#"sdk-accounting = { path = ""#,
            env!("CARGO_MANIFEST_DIR"),
            r#"/../sdk-accounting" }"#,
            "\n",
            r#"sdk-platform = { path = ""#,
            env!("CARGO_MANIFEST_DIR"),
            r#"/../sdk-platform" }"#,
        ),
    ),
    ("octocrab", r#"octocrab = "0.54""#),
    ("aws-sdk-s3", r#"aws-sdk-s3 = "1""#),
    ("azure_identity", r#"azure_identity = "1""#),
];

struct Weight {
    crates: usize,
    seconds: f64,
}

/// Weighs all of them, each in a package of its own that is thrown away.
pub async fn run() -> Result<String, Failure> {
    let folder = std::env::temp_dir().join(format!("suite-weight-{}", std::process::id()));
    let mut weights = Vec::new();
    for (name, dependency) in PACKAGES {
        eprintln!("{name}");
        std::fs::create_dir_all(folder.join("src"))?;
        let weighed = weigh(&folder, dependency).await;
        std::fs::remove_dir_all(&folder)?;
        match weighed {
            Ok(weight) => weights.push((name, Some(weight))),
            Err(error) => {
                eprintln!("{name}: {error}");
                weights.push((name, None));
            }
        }
    }
    render(&weights)
}

async fn weigh(folder: &Path, dependency: &str) -> Result<Weight, Failure> {
    let manifest = format!(
        "[package]\nname = \"weighed\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependency}\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    std::fs::write(folder.join("src/lib.rs"), "")?;
    cargo(folder, &["fetch"]).await?;
    let tree = cargo(folder, &["tree", "-e", "normal", "--prefix", "none"]).await?;
    let crates: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    let before = children();
    cargo(folder, &["build"]).await?;
    Ok(Weight {
        // Without the package that was made for this.
        crates: crates.len() - 1,
        seconds: children() - before,
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
fn children() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    fields
        .skip(13)
        .take(2)
        .filter_map(|text| text.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

fn render(weights: &[(&str, Option<Weight>)]) -> Result<String, Failure> {
    let mut text = format!(
        "Measured on {}.\n\n| package | crates | clean debug build, processor seconds | against reqwest |\n|---|---|---|---|\n",
        jiff::Timestamp::now().strftime("%Y-%m-%d")
    );
    let (base, own) = match weights {
        [(_, Some(base)), (_, Some(own)), ..] => (base, own),
        _ => return Err("reqwest or sdk-crm could not be built".into()),
    };
    for (name, weight) in weights {
        match weight {
            Some(Weight { crates, seconds }) => {
                let ratio = seconds / base.seconds;
                writeln!(text, "| {name} | {crates} | {seconds:.0} | {ratio:.2} |")?;
            }
            None => writeln!(text, "| {name} | does not build here | | |")?,
        }
    }
    let says = |holds| if holds { "yes" } else { "**no**" };
    let (more, ratio) = (
        own.crates.cast_signed() - base.crates.cast_signed(),
        own.seconds / base.seconds,
    );
    text.push_str("\n| goal | bound | figure | reached |\n|---|---|---|---|\n");
    writeln!(
        text,
        "| crates of sdk-crm beyond those of reqwest | <= 10 | {more} | {} |",
        says(more <= 10)
    )?;
    writeln!(
        text,
        "| its clean debug build against that of reqwest | <= 1.25 | {ratio:.2} | {} |",
        says(ratio <= 1.25)
    )?;
    Ok(text)
}
