//! The rooms of `sdk-core` and of the generator: what they import of each other runs one way, between files and between
//! rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The text of each file by its module path, such as `call::send`: without its tests, the root of the crate, and the door
/// for generated code.
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
            // What a macro names, generated code takes from the door.
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

/// The same between rooms: folders, and files at the root.
fn between_rooms(files: &Graph) -> Graph {
    let room = |module: &str| module.split("::").next().unwrap().to_owned();
    let mut rooms = Graph::new();
    for (module, targets) in files {
        let from = room(module);
        let others = targets.iter().map(|target| room(target));
        let others: Vec<_> = others.filter(|other| *other != from).collect();
        rooms.entry(from).or_default().extend(others);
    }
    rooms
}

/// What is left when everything that stands on nothing has been taken away, again and again.
fn circles(mut graph: Graph) -> Graph {
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
fn no_file_and_no_room_of_the_core_imports_in_a_circle() {
    let files = imports("sdk-core");
    assert!(files["call::run"].contains("call::classify"));
    assert!(files["error"].contains("command::key"));
    let rooms = between_rooms(&files);
    assert!(rooms["error"].contains("command"));

    assert_eq!(circles(files), Graph::new());
    assert_eq!(circles(rooms), Graph::new());
}

#[test]
fn no_file_and_no_room_of_the_generator_imports_in_a_circle() {
    let files = imports("xtask");
    assert!(files["read::schema"].contains("read::reader"));
    let rooms = between_rooms(&files);
    assert!(rooms["write"].contains("model"));
    assert!(!rooms["model"].contains("read") && !rooms["model"].contains("write"));
    assert!(
        !rooms["write"].contains("node"),
        "a writer reads no document"
    );

    assert_eq!(circles(files), Graph::new());
    assert_eq!(circles(rooms), Graph::new());
}

#[test]
fn a_circle_is_seen() {
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
    assert!(circles(graph(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    let circle = circles(graph(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]));
    assert_eq!(circle.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}
