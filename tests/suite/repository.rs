//! What the files of this repository say about what is installed to check it. `fault_NN_…` as in `faults/`.

use std::path::Path;

use serde_json::Value;

fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Whether a text is one version and not a range.
fn is_exact(version: &str) -> bool {
    let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    version.starts_with(|first: char| first.is_ascii_digit()) && version.chars().all(part)
}

/// The commands of a script that have this in them, each on one line.
fn commands(script: &str, words: &str) -> Vec<String> {
    let lines = file(script).replace("\\\n", " ");
    let found = lines.lines().filter(|line| line.contains(words));
    let found: Vec<_> = found.map(str::to_owned).collect();
    assert!(!found.is_empty(), "{script}: {words}");
    found
}

/// The lines of a requirements file that are anything but a name, one version and digests.
fn without_digest(requirements: &str) -> Vec<String> {
    let lines = requirements.replace("\\\n", " ");
    let pins = lines.lines().filter(|line| !line.starts_with('#'));
    let is_digest = |word: &&str| {
        let digest = word.strip_prefix("--hash=sha256:").unwrap_or_default();
        digest.len() == 64 && digest.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    let holds = |line: &&str| {
        let mut words = line.split_whitespace();
        let pin = words.next().and_then(|pin| pin.split_once("=="));
        let digests: Vec<&str> = words.collect();
        pin.is_some_and(|(_, version)| is_exact(version))
            && !digests.is_empty()
            && digests.iter().all(is_digest)
    };
    pins.filter(|line| !holds(line))
        .map(str::to_owned)
        .collect()
}

#[test]
fn fault_88_every_python_package_has_its_digests() {
    let requirements = file("specs/lint/requirements.txt");
    assert_eq!(without_digest(&requirements), [""; 0]);
    assert!(requirements.matches("==").count() > 10);
    let spoilt = "a==1.0\nb>=1.0 --hash=sha256:0\n--index-url x\nc @ https://x";
    assert_eq!(without_digest(spoilt).len(), 4);

    for install in commands("specs/lint/run", "pip install") {
        // What is built from source fetches what builds it, and that without a digest.
        for needed in ["--require-hashes", "--only-binary :all:"] {
            assert!(install.contains(needed), "{install}");
        }
    }
}

#[test]
fn fault_88_every_npm_package_has_its_digest() {
    let lock: Value = serde_json::from_str(&file("specs/lint/package-lock.json")).unwrap();
    let packages = lock["packages"].as_object().unwrap();
    assert!(packages.len() > 10);
    for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
        let digest = package["integrity"].as_str().unwrap_or_default();
        assert!(digest.starts_with("sha512-"), "{name}");
        // Where it is fetched from is for whoever fetches it to say.
        assert!(package.get("resolved").is_none(), "{name}");
    }
    let manifest: Value = serde_json::from_str(&file("specs/lint/package.json")).unwrap();
    for (name, version) in manifest["devDependencies"].as_object().unwrap() {
        assert!(is_exact(version.as_str().unwrap()), "{name}: {version}");
    }
    let run = file("specs/lint/run");
    assert!(run.contains("npm ci ") && !run.contains("npm install"));
}

#[test]
fn fault_88_the_tool_that_checks_the_crates_has_one_version() {
    for version in commands(".ci/run", "deny_version=") {
        assert!(is_exact(&version["deny_version=".len()..]), "{version}");
    }
    for install in commands(".ci/run", "cargo install") {
        let is_pinned = install.contains("--version \"$deny_version\"");
        assert!(install.contains("--locked") && is_pinned, "{install}");
    }
}

/// jiff takes long to build, and its version is below 1.
#[test]
fn all_crates_of_users_have_the_same_defaults_and_jiff_only_by_name() {
    for name in ["core", "crm", "calendar", "accounting", "platform"] {
        let manifest = file(&format!("sdk-{name}/Cargo.toml"));
        let defaults = r#"default = ["rustls", "http2", "reqwest-013"]"#;
        assert!(manifest.contains(&format!("\n{defaults}\n")), "{name}");
        assert_eq!(manifest.matches("jiff-02 = [").count(), 1, "{name}");
    }
}
