use std::fs;
use std::path::{Path, PathBuf};

use super::{adopt, read, wanted};
use crate::findings::Weight;
use crate::model::App;
use crate::node::Node;

/// The workspace, and a folder that goes with the test.
struct Workspace(PathBuf, PathBuf);

impl Workspace {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("taken-{}-{name}", std::process::id()));
        Self(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), folder)
    }

    fn adopt(&self, document: &Path, rest: &[&str]) -> crate::Result<()> {
        let (document, folder) = (document.to_string_lossy(), self.1.to_string_lossy());
        let mut arguments = vec!["crm", &document, "--root", &folder];
        arguments.extend(rest);
        adopt(&self.0, &wanted(&self.0, &arguments)?)
    }

    fn sample(&self) -> PathBuf {
        self.0.join("tests/adopted/specs/vendor/crm.json")
    }

    fn file(&self, name: &str) -> String {
        read(&self.1.join("specs").join(name)).unwrap()
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.1);
    }
}

#[test]
fn forty_operations_take_few_decisions_and_a_second_run_changes_nothing() {
    let workspace = Workspace::new("sample");
    let before = workspace.0.join("specs/crm.yaml");
    let before = ["--before", &before.to_string_lossy()];
    let open = workspace.adopt(&workspace.sample(), &before).unwrap_err();
    assert!(open.starts_with("open decisions: 1; "), "{open}");
    assert!(
        !workspace.1.join("specs/crm.yaml").exists(),
        "nothing is adopted that is not settled"
    );
    assert!(
        workspace
            .file("overlays/crm.yaml")
            .contains(r#""operationId":"listPeople""#)
    );

    let accept = [before[0], before[1], "--accept"];
    workspace.adopt(&workspace.sample(), &accept).unwrap();
    let (overlay, spec) = (
        workspace.file("overlays/crm.yaml"),
        workspace.file("crm.yaml"),
    );
    assert!(overlay.contains("x-sdk-skip"), "{overlay}");
    assert_eq!(
        fs::read(workspace.sample()).unwrap(),
        workspace.file("vendor/crm.json").into_bytes()
    );
    assert_eq!(super::spec::check(&workspace.1.join("specs")), Ok(()));

    workspace.adopt(&workspace.sample(), &[]).unwrap();
    assert_eq!(workspace.file("overlays/crm.yaml"), overlay);
    assert_eq!(workspace.file("crm.yaml"), spec);
}

#[test]
fn the_overlay_follows_the_document_and_the_person() {
    let workspace = Workspace::new("follows");
    let path = "get: {responses: {'204': {description: Done.}}, tags: [p]}";
    let document = |paths: [&str; 2]| {
        let paths = paths.map(|it| format!("'{it}': {{{path}}}")).join(", ");
        format!(
            "{{'openapi': '3.1.0', 'info': {{'title': T, 'version': '1'}}, 'paths': {{{paths}}}}}"
        )
    };
    let file = workspace.1.join("document.yaml");
    let adopt = |text: &str| {
        super::spec::write(&file, &format!("# As it came.\n{text}")).unwrap();
        workspace.adopt(&file, &[])
    };
    adopt(&document(["/p", "/q"])).unwrap();
    let overlay = workspace.file("overlays/crm.yaml");
    let own = "  - {target: \"$.paths['/p'].get\", update: {x-sdk-method: fetch_all}}\n";
    let write = |text: &str| {
        super::spec::write(&workspace.1.join("specs/overlays/crm.yaml"), text).unwrap();
    };
    write(&(overlay.clone() + own));
    adopt(&document(["/p", "/q"])).unwrap();
    let fetching = Node::parse(&workspace.file("crm.yaml")).unwrap();
    // Taken back, it stays away.
    write(&overlay);
    adopt(&document(["/p", "/q"])).unwrap();
    assert_eq!(workspace.file("overlays/crm.yaml"), overlay);
    let [before, after] = [fetching, Node::parse(&workspace.file("crm.yaml")).unwrap()];
    let model = |it| super::model(App::named("crm").unwrap(), it).0;
    let (names, after) = (
        super::names(model(&before).as_ref()),
        model(&after).unwrap(),
    );
    let renamed = super::report::renamed(&after.operations, &names);
    let expected = [
        "GET /p: p.fetch_all becomes p.list",
        "GET /q: p.list becomes p.list_q",
    ];
    assert_eq!(renamed, expected);

    // A path is gone, and what was derived of it; what a person wrote of it is for that person.
    adopt(&document(["/p", "/r"])).unwrap();
    assert!(!workspace.file("overlays/crm.yaml").contains("/q"));
    write(&(overlay.clone() + &own.replace("/p", "/gone")));
    let error = adopt(&document(["/p", "/r"])).unwrap_err();
    assert!(
        error.contains("crm.yaml: action 2 at `$.paths['/gone'].get`"),
        "{error}"
    );

    // A misspelt extension is told, and never answered by leaving the operation out.
    for (right, wrong) in [
        ("x-sdk-method", "x-sdk-nam"),
        ("x-sdk-method: fetch_all", "x-assumption: A999"),
    ] {
        write(&(overlay.clone() + &own.replace(right, wrong)));
        let text = format!("# Again.\n{}", document(["/p", "/q"]));
        super::spec::write(&file, &text).unwrap();
        let error = workspace.adopt(&file, &["--accept"]).unwrap_err();
        assert!(error.contains("open decisions: 1;"), "{error}");
        assert!(!workspace.file("overlays/crm.yaml").contains("x-sdk-skip"));
    }

    // No overlay helps a document that is not understood.
    write(&overlay);
    for (text, why) in [("swagger: '2.0'", "OpenAPI 2.0"), ("{", "not YAML")] {
        let error = adopt(text).unwrap_err();
        assert!(
            error.contains("document.yaml: ") && error.contains(why),
            "{error}"
        );
    }
}

#[test]
fn an_assumption_stays_with_the_operations_of_which_nothing_is_said() {
    let workspace = Workspace::new("settled");
    let old = read(&workspace.0.join("specs/crm.yaml")).unwrap();
    // People are shown as pages; of organizations, nothing is said.
    let page = "$ref: \"#/components/schemas/RecordPage\"";
    let lines = old.lines().filter(|it| !it.contains(" x-"));
    let mut document = lines.collect::<Vec<_>>().join("\n") + "\n";
    let path = document.find("  /api/crm/v1/organizations:").unwrap();
    let at = path + document[path..].find(page).unwrap();
    document.replace_range(at..at + page.len(), "description: Any.");
    let file = workspace.1.join("document.yaml");
    super::spec::write(&file, &document).unwrap();
    super::spec::write(&workspace.1.join("specs/crm.yaml"), &old).unwrap();
    workspace.adopt(&file, &["--accept"]).unwrap();

    let spec = Node::parse(&workspace.file("crm.yaml")).unwrap();
    let rests = |path: &str| {
        let place = format!("/paths/~1api~1crm~1v1~1{path}/get/x-assumption");
        let ids = spec.pointer(&place).map(crate::assumptions::ids);
        ids.unwrap_or_default().contains(&"A07".to_owned())
    };
    assert!(rests("organizations") && !rests("people"));
    // The same document shows no more than before, whatever a person takes out of the overlay.
    let overlay = workspace.file("overlays/crm.yaml");
    let overlay = overlay.replace("\"x-assumption\":\"A07\"", "\"x-else\":0");
    super::spec::write(&workspace.1.join("specs/overlays/crm.yaml"), &overlay).unwrap();
    workspace.adopt(&file, &[]).unwrap();
    assert!(!workspace.file("crm.yaml").contains("A07"));
}

#[test]
fn known_operations_keep_their_names() {
    let workspace = Workspace::new("names");
    let old = workspace.0.join("specs/crm.yaml");
    let accept = ["--before", &old.to_string_lossy(), "--accept"];
    workspace.adopt(&workspace.sample(), &accept).unwrap();
    let app = App::named("crm").unwrap();
    let spec = |text: &str| super::model(app, &Node::parse(text).unwrap());
    let ((old, _), (new, findings)) = (
        spec(&read(&old).unwrap()),
        spec(&workspace.file("crm.yaml")),
    );
    assert_eq!(findings.of(Weight::Refused).count(), 0);
    let new = super::names(new.as_ref());
    for (route, name) in super::names(old.as_ref()) {
        assert_eq!(new.get(&route), Some(&name), "{route}");
    }
}

#[test]
fn an_option_or_an_application_that_there_is_not_is_refused() {
    let root = Path::new(".");
    for (arguments, why) in [
        (&["crm"][..], "usage"),
        (&["crm", "a", "b"], "usage"),
        (&["crm", "a", "--root"], "`--root` needs a value"),
        (&["crm", "a", "--force"], "unknown option `--force`"),
    ] {
        let error = wanted(root, arguments).err().unwrap();
        assert!(error.contains(why), "{error}");
    }
    let unknown = wanted(root, &["crn", "a"]).unwrap();
    assert_eq!(
        adopt(root, &unknown).unwrap_err(),
        "there is no application `crn`"
    );
}
