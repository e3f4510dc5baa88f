//! The modules of `sdk-core` and of the generator import each other in one direction, file by file and folder by folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The code of each file by its module path, such as `call::run`: without its tests. The root of the crate and the re-exports
/// for generated code are left out.
fn files(package: &str) -> BTreeMap<String, String> {
    fn walk(folder: &Path, all: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                walk(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
            {
                all.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(package)
        .join("src");
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    let module = |path: &PathBuf| {
        let path = path.strip_prefix(&root).unwrap().with_extension("");
        let names: Vec<_> = path.iter().map(|name| name.to_str().unwrap()).collect();
        names.join("::").trim_end_matches("::mod").to_owned()
    };
    paths
        .iter()
        .map(|path| (module(path), fs::read_to_string(path).unwrap()))
        .filter(|(module, _)| !["lib", "main", "codegen"].contains(&module.as_str()))
        .map(|(module, text)| {
            let code = text.split("#[cfg(test)]").next().unwrap();
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            // Generated code uses the paths in macros through the re-exports.
            let code = lines.collect::<Vec<_>>().join("\n").replace("$crate::", "");
            let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
            let code = code.replace("super::", &format!("crate::{parent}::"));
            (module, code)
        })
        .collect()
}

/// Which file imports which.
fn imports(package: &str) -> Graph {
    let files = files(package);
    let file_of = |path: &str| {
        let mut path = path;
        while !files.contains_key(path) {
            path = path.rsplit_once("::")?.0;
        }
        Some(path.to_owned())
    };
    let mut graph = Graph::new();
    for (module, code) in &files {
        let mut targets = BTreeSet::new();
        for rest in code.split("crate::").skip(1) {
            let is_path = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
            let end = rest.find(|letter| !is_path(letter)).unwrap_or(rest.len());
            let (path, after) = rest.split_at(end);
            let group = after
                .strip_prefix('{')
                .and_then(|group| group.split('}').next());
            let names = group.unwrap_or_default().split(',').map(str::trim);
            let whole = names.map(|name| format!("{path}{}", name.split(' ').next().unwrap()));
            targets.extend(whole.filter_map(|path| file_of(path.trim_end_matches(':'))));
        }
        targets.remove(module);
        graph.insert(module.clone(), targets);
    }
    graph
}

/// The same between the top modules: folders, and files at the root.
fn between_modules(files: &Graph) -> Graph {
    let top = |module: &str| module.split("::").next().unwrap().to_owned();
    let mut modules = Graph::new();
    for (module, targets) in files {
        let from = top(module);
        let others = targets.iter().map(|target| top(target));
        let others: Vec<_> = others.filter(|other| *other != from).collect();
        modules.entry(from).or_default().extend(others);
    }
    modules
}

/// The modules that import each other in a cycle, and those that import them.
fn cycles(mut graph: Graph) -> Graph {
    loop {
        let names: BTreeSet<String> = graph.keys().cloned().collect();
        let before = names.len();
        graph.retain(|_, targets| targets.iter().any(|target| names.contains(target)));
        if graph.len() == before {
            return graph;
        }
    }
}

#[test]
fn files_and_modules_of_the_core_import_in_one_direction() {
    let files = imports("sdk-core");
    assert!(files["call::run"].contains("call::classify"));
    assert!(files["error"].contains("command::key"));
    let modules = between_modules(&files);
    assert!(modules["error"].contains("command"));

    assert_eq!(cycles(files), Graph::new());
    assert_eq!(cycles(modules), Graph::new());
}

#[test]
fn files_and_modules_of_the_generator_import_in_one_direction() {
    let files = imports("xtask");
    assert!(files["read::schema"].contains("read::reader"));
    let modules = between_modules(&files);
    assert!(modules["write"].contains("model"));
    assert!(!modules["model"].contains("read") && !modules["model"].contains("write"));
    assert!(
        !modules["write"].contains("node"),
        "a writer reads no document"
    );

    assert_eq!(cycles(files), Graph::new());
    assert_eq!(cycles(modules), Graph::new());
}

#[test]
fn a_cycle_is_found() {
    let graph = |arrows: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in arrows {
            graph
                .entry((*from).into())
                .or_default()
                .insert((*to).into());
            graph.entry((*to).into()).or_default();
        }
        graph
    };
    assert!(cycles(graph(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    let cycle = cycles(graph(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]));
    assert_eq!(cycle.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}
