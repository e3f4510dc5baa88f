use std::fs;
use std::path::{Path, PathBuf};

use super::{Plan, model, plan, read};
use crate::findings::Weight;
use crate::model::{App, Operation};
use crate::node::Node;

/// A folder with the files of adoptions, which is removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("adopt-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        super::files::write(&self.0.join(name), text).unwrap();
        self
    }

    fn file(&self, name: &str) -> String {
        read(&self.0.join(name)).unwrap()
    }

    fn overlay(&self) -> String {
        self.file("specs/overlays/crm.yaml")
    }

    fn plan(&self, document: &str, rest: &[&str]) -> crate::Result<Plan> {
        self.write("document", document);
        let (file, root) = (self.0.join("document"), self.0.to_string_lossy());
        let file = file.to_string_lossy();
        let arguments = [&["crm", &file, "--root", &root], rest].concat();
        plan(&workspace(), &arguments)
    }

    fn adopt(&self, document: &str, rest: &[&str]) -> crate::Result<()> {
        self.plan(document, rest)?.write()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn ours() -> String {
    read(&workspace().join("specs/crm.yaml")).unwrap()
}

fn parsed(text: &str) -> Node {
    Node::parse(text).unwrap()
}

fn document(paths: &str) -> String {
    format!("# As it came.\nopenapi: 3.1.0\ninfo: {{title: T, version: '1'}}\npaths:\n{paths}")
}

const DONE: &str = "responses: {'204': {description: Done.}}";

#[test]
fn the_sample_needs_one_decision_and_a_second_run_changes_nothing() {
    let folder = Folder::new("sample");
    let sample = read(&workspace().join("tests/adopted/specs/vendor/crm.json")).unwrap();
    folder.write("specs/crm.yaml", &ours());
    let open = folder.adopt(&sample, &[]).unwrap_err();
    assert!(open.starts_with("open decisions: 1; "), "{open}");
    assert_eq!(folder.file("specs/crm.yaml"), ours());
    assert!(folder.overlay().contains(r#""operationId":"listPeople""#));

    folder.adopt(&sample, &["--accept"]).unwrap();
    let (overlay, spec) = (folder.overlay(), folder.file("specs/crm.yaml"));
    assert!(overlay.contains("x-sdk-skip"), "{overlay}");
    assert_eq!(folder.file("specs/vendor/crm.json"), sample);
    assert_eq!(super::check(&folder.0), Ok(()));
    folder.adopt(&sample, &[]).unwrap();
    assert_eq!(
        (folder.overlay(), folder.file("specs/crm.yaml")),
        (overlay, spec.clone())
    );

    let app = App::named("crm").unwrap();
    let [old, new] = [&ours(), &spec].map(|it| model(app, &parsed(it)).unwrap());
    assert_eq!(new.1.of(Weight::Rejected).count(), 0);
    let known = super::by_route(&new.0);
    for old in &old.0.operations {
        let new = known[&super::route(&old.route())];
        let names = |it: &Operation| [&it.id, &it.group, &it.name].map(Clone::clone);
        assert_eq!(names(new), names(old));
    }
}

#[test]
fn names_rules_and_assumptions_are_preserved_and_idle_handlers_reported() {
    let folder = Folder::new("kept");
    let pets = "{name: a, in: query, schema: {type: string}}, {name: b, in: query, schema: {type: string}}";
    let page = "responses: {'200': {description: All., content: {application/json: {schema: {$ref: '#/components/schemas/Pets'}}}}}";
    let before = format!(
        "openapi: 3.0.3
info: {{title: T, version: '1', x-lifecycle: preview, x-metadata-operation: getMeta}}
paths:
  /meta: {{get: {{operationId: getMeta, tags: [service], x-sdk-method: meta, {DONE}}}}}
  /pets/{{id}}:
    parameters: [{{name: id, in: path, required: true, schema: {{type: string}}}}]
    get: {{operationId: listPets, tags: [pets], x-mutually-exclusive: [[a, b]], parameters: [{pets}], {DONE}}}
    put: {{operationId: putPet, tags: [pets], x-mutually-exclusive: [[a, b]], parameters: [{pets}], {DONE}}}
    post: {{operationId: addPet, tags: [pets], x-replay-status: 204, {DONE}}}
  /token: {{post: {{operationId: exchange, tags: [tokens], requestBody: {{content: {{application/x-www-form-urlencoded: {{schema: {{type: object, properties: {{b: {{type: string}}}}}}}}}}}}, {DONE}}}}}
  /left: {{put: {{operationId: leave, tags: [pets], {DONE}}}}}
  /gone: {{put: {{operationId: go, tags: [pets], {DONE}}}}}
  /seen: {{get: {{operationId: see, tags: [pets], {page}}}}}
  /unseen: {{get: {{operationId: hide, tags: [pets], {page}}}}}
components: {{schemas: {{Pets: {{type: object, properties: {{all: {{type: integer, x-assumption: A07}}}}}}}}}}
"
    );
    let body = |kind: &str| {
        let schema = "{schema: {type: object, properties: {a: {type: integer}}}}";
        format!("requestBody: {{content: {{application/{kind}: {schema}}}}}")
    };
    let (json, form) = (body("json"), body("x-www-form-urlencoded"));
    let after = document(&format!(
        "  /meta: {{get: {{operationId: meta, tags: [api], {DONE}}}}}
  /pets/{{id}}:
    parameters: [{{name: id, in: path, required: true, schema: {{type: string}}}}, {pets}]
    get: {{operationId: listPets, tags: [pets], {DONE}}}
    put: {{operationId: putPet, tags: [pets], parameters: [{{name: b, in: query, required: true, schema: {{type: string}}}}], {DONE}}}
    post: {{operationId: addPet, tags: [pets], {json}, {DONE}}}
  /token: {{post: {{operationId: exchange, tags: [tokens], {form}, {DONE}}}}}
  /new: {{put: {{operationId: putNew, tags: [pets], {DONE}}}}}
  /left: {{put: {{operationId: leave, tags: [pets], x-sdk-skip: Old., {DONE}}}}}
  /seen: {{get: {{operationId: see, tags: [pets], {page}}}}}
  /unseen: {{get: {{operationId: hide, tags: [pets], responses: {{'200': {{description: All., content: {{application/json: {{schema: {{description: Any.}}}}}}}}}}}}}}
components: {{schemas: {{Pets: {{type: object, properties: {{all: {{type: integer}}}}}}}}}}
"
    ));
    folder.write("specs/crm.yaml", &before);
    let other = document(&format!(
        "  /other: {{get: {{operationId: putNew, {DONE}}}}}\n"
    ));
    folder.write("specs/calendar.yaml", &other);
    let plan = folder.plan(&after, &[]).unwrap();
    let added = plan.overlay.text.lines().skip(4);
    assert_eq!(
        added.collect::<Vec<_>>(),
        [
            r#"  - {target: "$.info", update: {"x-lifecycle":"preview","x-metadata-operation":"getMeta"}}"#,
            r#"  - {target: "$.paths['/meta'].get", update: {"operationId":"getMeta","x-sdk-group":"service","x-sdk-method":"meta"}}"#,
            r#"  - {target: "$.paths['/pets/{id}'].get", update: {"x-mutually-exclusive":[["a","b"]]}}"#,
            // `b` is required now, so no other parameter excludes it.
            r#"  - {target: "$.paths['/pets/{id}'].post", update: {"x-replay-status":204}}"#,
            r#"  - {target: "$.paths['/unseen'].get", update: {"x-assumption":["A07"]}}"#,
            r#"  - {target: "$.paths['/pets/{id}'].put", update: {"x-served-from-schema":true}}"#,
            r#"  - {target: "$.paths['/pets/{id}'].post", update: {"x-served-from-schema":true}}"#,
            r#"  - {target: "$.paths['/new'].put", update: {"x-served-from-schema":true,"operationId":"crmPutNew","x-sdk-method":"put_new"}}"#,
            r#"  - {target: "$.paths['/unseen'].get", update: {"x-served-from-schema":true}}"#,
        ],
        "{}",
        plan.report
    );
    let idle = "are idle now (5)
  crm::pets::hide no longer fits, because its operation is served from the schema
  crm::pets::add no longer fits, because its operation is served from the schema
  crm::pets::go serves nothing, because its operation is no longer generated
  crm::pets::leave serves nothing, because its operation is no longer generated
  crm::pets::replace no longer fits, because its operation is served from the schema
";
    for part in [
        idle,
        "\nNo longer generated (2)\n  PUT /gone\n  PUT /left\n",
        "\nLeft out (1)\n  PUT /left: Old.\n",
    ] {
        assert!(plan.report.contains(part), "{}", plan.report);
    }

    // If a person removes actions, adopting the same document again does not restore them.
    plan.write().unwrap();
    let lines = plan.overlay.text.lines();
    let rest = lines.filter(|it| !it.contains("A07") && !it.contains("getMeta"));
    let rest = rest.collect::<Vec<_>>().join("\n") + "\n";
    folder.write("specs/overlays/crm.yaml", &rest);
    let plan = folder.plan(&after, &[]).unwrap();
    assert_eq!(plan.overlay.text, rest);
}

#[test]
fn the_overlay_reflects_the_document_and_manual_edits() {
    let folder = Folder::new("follows");
    let paths = |paths: [&str; 2]| {
        let paths = paths.map(|it| format!("  {it}: {{get: {{tags: [p], {DONE}}}}}\n"));
        document(&paths.concat())
    };
    let edit = |text: &str| {
        folder.write("specs/overlays/crm.yaml", text);
    };
    folder.adopt(&paths(["/p", "/q"]), &[]).unwrap();
    let overlay = folder.overlay();
    let own = "  - {target: \"$.paths['/p'].get\", update: {x-sdk-method: fetch_all}}\n";
    edit(&(overlay.clone() + own));
    folder.adopt(&paths(["/p", "/q"]), &[]).unwrap();
    // The person removes it again.
    edit(&overlay);
    let plan = folder.plan(&paths(["/p", "/q"]), &[]).unwrap();
    let renamed = "  GET /p: p.list (was p.fetch_all), ()\n  GET /q: p.list_q (was p.list), ()\n";
    assert!(plan.report.contains(renamed), "{}", plan.report);
    plan.write().unwrap();
    assert_eq!(folder.overlay(), overlay);

    // Derived actions disappear with their path. A manual action without a match is an error.
    folder.adopt(&paths(["/p", "/r"]), &[]).unwrap();
    assert!(!folder.overlay().contains("/q"));
    edit(&(overlay.clone() + &own.replace("/p", "/gone")));
    let error = folder.adopt(&paths(["/p", "/r"]), &[]).unwrap_err();
    let expected = "crm.yaml: `$.paths['/gone'].get` matches nothing";
    assert!(error.contains(expected), "{error}");

    // A misspelled extension is a decision, and `--accept` does not skip the operation for it.
    edit(&(overlay.clone() + &own.replace("x-sdk-method", "x-sdk-nam")));
    let text = format!("# Again.\n{}", paths(["/p", "/q"]));
    let error = folder.adopt(&text, &["--accept"]).unwrap_err();
    assert!(error.contains("open decisions: 1;"), "{error}");
    assert!(!folder.overlay().contains("x-sdk-skip"));

    // The reader does not support these documents.
    edit(&overlay);
    for (text, why) in [("swagger: '2.0'", "OpenAPI 2.0"), ("{", "not JSON")] {
        let error = folder.adopt(text, &[]).unwrap_err();
        assert!(
            error.contains("document: ") && error.contains(why),
            "{error}"
        );
    }
}

#[test]
fn an_unnamed_schema_gets_the_name_of_the_former_type() {
    let folder = Folder::new("types");
    let document = |[parameter, reply, others]: [&str; 3]| {
        let paths = format!(
            "  /pets:
    get:
      operationId: listPets
      parameters: [{{name: kind, in: query, schema: {parameter}}}]
      responses: {{'200': {{description: All., content: {{application/json: {{schema: {reply}}}}}}}}}
components: {{schemas: {others}}}
"
        );
        document(&paths)
    };
    let named = [
        "{$ref: '#/components/schemas/Kind'}",
        "{$ref: '#/components/schemas/Pets'}",
        "{Kind: {type: string, enum: [cat, dog]}, Pets: {type: object, properties: {pets: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}, Pet: {type: object, properties: {name: {type: string}}}}",
    ];
    folder.write("specs/crm.yaml", &document(named));
    let kind = "{type: string, enum: [cat, dog]}";
    let pet = "{type: object, properties: {name: {type: string}MORE}}";
    let pets = |more| {
        let pet = pet.replace("MORE", more);
        format!("{{type: object, properties: {{pets: {{type: array, items: {pet}}}}}}}")
    };
    let zoo = |more, pet| format!("{{Zoo: {}{pet}}}", pets(more));
    let is_zoo = "{$ref: '#/components/schemas/Zoo'}";
    let friend = ", friend: {type: object, properties: {name: {type: string}}}";
    let other = ", Pet: {type: object, properties: {id: {type: string}}}";
    let is_other = ", pet: {$ref: '#/components/schemas/Pet'}";
    let of_kind = "$.paths['/pets'].get.parameters[?@.name=='kind'].schema Kind";
    let reply = "$.paths['/pets'].get.responses['200'].content['application/json'].schema";
    let [item, all] = [".properties.pets.items Pet", " Pets"].map(|it| format!("{reply}{it}"));
    for (after, expected) in [
        ([kind, &pets(""), "{}"], vec![of_kind, &item, &all]),
        // A vendor's name takes precedence.
        (
            [kind, is_zoo, &zoo(friend, "")],
            vec![
                of_kind,
                "$.components.schemas.Zoo.properties.pets.items Pet",
            ],
        ),
        // `Pet` names a different schema now.
        ([kind, is_zoo, &zoo(is_other, other)], vec![of_kind]),
    ] {
        let plan = folder.plan(&document(after), &[]).unwrap();
        let named = plan.overlay.text.lines().filter_map(|it| {
            let (target, name) = it.split_once("\", update: {\"x-sdk-name\":\"")?;
            Some(format!(
                "{} {}",
                target.split_once('"')?.1,
                name.split_once('"')?.0
            ))
        });
        assert_eq!(named.collect::<Vec<_>>(), expected, "{}", plan.report);
    }
}

#[test]
fn a_moved_id_is_not_restored_and_a_referenced_path_gets_its_action() {
    let folder = Folder::new("moved");
    let get = |id: &str| format!("{{get: {{operationId: {id}, tags: [pets], {DONE}}}}}");
    let before = document(&format!("  /a: {}\n", get("getA")));
    folder.write("specs/crm.yaml", &before);
    let after = document(&format!(
        "  /a: {}\n  /b: {}\n  /c: {{$ref: '#/components/pathItems/C'}}\ncomponents: {{pathItems: {{C: {}}}}}\n",
        get("getOther"),
        get("getA"),
        get("getC"),
    ));
    folder.adopt(&after, &[]).unwrap();
    let spec = parsed(&folder.file("specs/crm.yaml"));
    let read = model(App::named("crm").unwrap(), &spec).unwrap().0;
    let shown = |it: &Operation| format!("{} {} {}", it.path, it.id, it.without_handler);
    let shown: Vec<String> = read.operations.iter().map(shown).collect();
    assert_eq!(shown, ["/a getOther false", "/b getA true", "/c getC true"]);
}

#[test]
fn decisions_are_listed_per_rule_and_actions_per_operation() {
    let folder = Folder::new("decisions");
    let xml = |more: &str| format!("{{requestBody: {{content: {{a/xml: {{}}}}}}{more}, {DONE}}}");
    let bad = ", parameters: [{$ref: '#/no'}]";
    let (post, put) = (xml(bad), xml(""));
    let paths = format!("  /p's: {{post: {post}, put: {put}, get: {{x-sdk-nam: a, {DONE}}}}}\n");
    let plan = folder.plan(&document(&paths), &[]).unwrap();
    let proposed = "Proposed, for --accept (2)
  - {target: \"$.paths['/p\\\\'s'].post\", update: {\"x-sdk-skip\":\"its `$ref` has no target in this document\"}}
  - {target: \"$.paths['/p\\\\'s'].put\", update: {\"x-sdk-skip\":\"a body must be JSON or a form, not a/xml\"}}
";
    assert!(plan.report.ends_with(proposed), "{}", plan.report);
    assert_eq!(plan.open, 3, "{}", plan.report);
}

#[test]
fn a_spec_that_differs_from_its_parts_is_reported() {
    let folder = Folder::new("check");
    let check = || super::check(&folder.0);
    let text = "{\"openapi\": \"3.1.0\",   \"paths\": {}, \"info\": {\"version\": \"1\"}}";
    let adopt = || folder.adopt(text, &[]).unwrap();
    adopt();
    assert_eq!(folder.file("specs/vendor/crm.json"), text);
    let spec = folder.file("specs/crm.yaml");
    assert_eq!(
        spec,
        "# Made by `cargo xtask adopt` from vendor/crm.json and overlays/crm.yaml. Change the overlay, not this file.\n\
         openapi: 3.1.0\npaths: {}\ninfo:\n  version: '1'\nx-adopted-from: vendor/crm.json\n"
    );
    assert_eq!(check(), Ok(()));
    for (part, why) in [
        ("vendor/crm.json", "No such file"),
        (
            "crm.yaml",
            "it does not match the vendor's document and the overlay",
        ),
    ] {
        fs::remove_file(folder.0.join("specs").join(part)).unwrap();
        let wrong = check().unwrap_err();
        assert!(wrong.contains(why), "{part}: {wrong}");
        adopt();
    }
    folder.write("specs/calendar.yaml", "openapi: 3.1.0\n");
    folder.write("specs/crm.yaml", &(spec + "# edited\n"));
    let wrong = check().unwrap_err();
    assert!(wrong.contains("crm.yaml: it does not match"), "{wrong}");
    assert!(!wrong.contains("calendar.yaml"), "{wrong}");

    // The next version is YAML.
    folder.adopt(&document("  {}\n"), &[]).unwrap();
    assert!(!folder.0.join("specs/vendor/crm.json").exists());
    assert_eq!(folder.file("specs/vendor/crm.yaml"), document("  {}\n"));
}

#[test]
fn unknown_options_and_applications_are_rejected() {
    for (arguments, why) in [
        (&["crm"][..], "usage"),
        (&["crm", "a", "b"], "usage"),
        (&["crm", "a", "--root"], "`--root` needs a value"),
        (&["crm", "a", "--force"], "unknown option `--force`"),
        (&["crn", "a"], "there is no application `crn`"),
    ] {
        let error = plan(Path::new("."), arguments).err().unwrap();
        assert!(error.contains(why), "{error}");
    }
}
