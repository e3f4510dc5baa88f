//! The modules of `sdk-core`, of the generator and of the `suite` program import each other in one direction, between
//! files and between folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::successors;
use std::path::Path;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Reads the source files of a folder by module path, such as `call::run`. Skips tests, the crate root and the
/// re-exports for generated code.
fn read(folder: &Path, parent: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let module = match (parent, path.file_stem().unwrap().to_str().unwrap()) {
            (_, "tests") | ("", "lib" | "main" | "codegen") => continue,
            ("", name) => name.to_owned(),
            (parent, "mod") => parent.to_owned(),
            (parent, name) => format!("{parent}::{name}"),
        };
        if path.is_dir() {
            read(&path, &module, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let code = fs::read_to_string(&path).unwrap();
            let lines = code.split("#[cfg(test)]").next().unwrap().lines();
            let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
            // Macros of generated code use these paths through the re-exports.
            let code = lines.collect::<Vec<_>>().join("\n").replace("$crate::", "");
            let above = module.rsplit_once("::").map_or("", |(above, _)| above);
            let code = code.replace("super::", &format!("crate::{above}::"));
            files.insert(module, code);
        }
    }
}

fn imports(package: &str) -> Graph {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
    let mut files = BTreeMap::new();
    read(&source.join("src"), "", &mut files);
    let mut graph = Graph::new();
    for (module, code) in &files {
        let targets = graph.entry(module.clone()).or_default();
        for rest in code.split("crate::").skip(1) {
            let is_path = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
            let end = rest.find(|letter| !is_path(letter)).unwrap_or(rest.len());
            let group = rest[end..].strip_prefix('{').unwrap_or_default();
            for name in group.split('}').next().unwrap_or_default().split(',') {
                let name = name.split_whitespace().next().unwrap_or_default();
                let path = format!("{}{name}", &rest[..end]);
                // The longest prefix of the path that is a file.
                let mut paths = successors(Some(&*path), |path| Some(path.rsplit_once("::")?.0));
                let target = paths.find(|path| files.contains_key(*path));
                targets.extend(target.filter(|it| it != module).map(str::to_owned));
            }
        }
    }
    graph
}

/// Returns the imports between top modules, which are the folders and files at the root.
fn between_modules(files: &Graph) -> Graph {
    let top = |module: &String| module.split("::").next().unwrap().to_owned();
    let mut modules = Graph::new();
    for (module, targets) in files {
        let (module, targets) = (top(module), targets.iter().map(top));
        let others = targets
            .filter(|target| *target != module)
            .collect::<Vec<_>>();
        modules.entry(module).or_default().extend(others);
    }
    modules
}

/// Returns the modules in a cycle and the modules that import them.
fn cycles(mut graph: Graph) -> Vec<String> {
    loop {
        let names: BTreeSet<String> = graph.keys().cloned().collect();
        graph.retain(|_, targets| targets.iter().any(|target| names.contains(target)));
        if graph.len() == names.len() {
            return names.into_iter().collect();
        }
    }
}

#[test]
fn files_and_modules_import_in_one_direction() {
    let [core, generator, program] = ["sdk-core", "xtask", "sdk-cli"].map(imports);
    assert!(core["call::run"].contains("call::classify"));
    assert!(generator["read::schema"].contains("read::reader"));
    let modules = between_modules(&generator);
    assert!(modules["write"].contains("model"));
    // Writers must not read documents.
    assert!(!modules["write"].contains("node"));
    assert!(!modules["model"].contains("read") && !modules["model"].contains("write"));
    assert!(program["export::job"].contains("export::target"));
    for graph in [between_modules(&core), core, modules, generator, program] {
        assert_eq!(cycles(graph), [""; 0]);
    }

    let graph = |arrows: &str| {
        let mut graph = Graph::new();
        for (from, to) in arrows.split(' ').filter_map(|arrow| arrow.split_once('>')) {
            graph.entry(from.into()).or_default().insert(to.into());
        }
        graph
    };
    assert_eq!(cycles(graph("a>b b>c a>c")), [""; 0]);
    assert_eq!(cycles(graph("a>b b>c c>b c>d")), ["a", "b", "c"]);
}
