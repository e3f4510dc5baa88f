#!/usr/bin/env python3
"""Checks files without a build: links, pages of the guide, recipes, READMEs, examples, features and pinned versions.

`.ci/docs.py` prints each problem as `file:line: problem`, and exits with status 1 if there is any.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = r"\d[0-9A-Za-z.]*"  # exactly one version, not a range
problems = []


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


# The folders of the core and of the applications' clients, without `sdk-`.
CLIENTS = ["core"] + re.findall(r'^    app\("(\w+)", ', read("xtask/src/model/app.rs"), re.M)


def report(path, problem, text="", at=0):
    """Records a problem at an offset of a file's content, or at its first line."""
    line = text.count("\n", 0, at) + 1
    problems.append(f"{path}:{line}: {problem}")


def require(path, wanted, problem):
    """Reports a file that lacks a string."""
    if wanted not in read(path):
        report(path, problem)


def logical_lines(text):
    """Returns each line that isn't a comment, with the lines that continue it after a backslash."""
    return re.finditer(r"^(?!\s*#)(?:.*\\\n)*.+$", text, re.M)


def without_code(text):
    """Returns Markdown with empty lines instead of its code."""
    lines, in_code = [], False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```") and "```" not in line.lstrip()[3:]
        in_code ^= fence
        lines.append("" if fence or in_code else line)
    return "\n".join(lines)


def anchors(path):
    """Returns the anchors of a file's headings, as repository hosts derive them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)", without_code(path.read_text(encoding="utf-8")), re.M):
        title = re.sub(r"\]\([^)]*\)", "", heading).strip().lower()
        name = slug = re.sub(r"[^\w -]", "", title).replace(" ", "-")
        number = 0
        while name in found:  # a repeated heading gets a number
            number += 1
            name = f"{slug}-{number}"
        found.add(name)
    return found


def links():
    """Checks that each relative link of a Markdown file leads to a file, and to an existing heading."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for path in listed.split("\0"):
        if not (ROOT / path).is_file():  # removed, but not committed yet
            continue
        text = without_code(read(path))
        text = re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), text)
        for link in re.finditer(r"\]\(([^) \n]*)|^\[[^\]\n]*\]: (.*)$", text, re.M):
            target = (link[1] or link[2] or "").strip()
            if re.search(r"::|://|^mailto:", target):  # for rustdoc, or an external page
                continue
            name, _, anchor = target.partition("#")
            other = (ROOT / path).parent / name if name else ROOT / path
            if not other.exists():
                report(path, f"the file of the link {target} doesn't exist", text, link.start())
            elif anchor and (other.is_dir() or anchor not in anchors(other)):
                report(path, f"the heading of the link {target} doesn't exist", text, link.start())


def pages():
    """Returns the pages of the guide, sorted by name, as `guide.rs` declares them."""
    source = read("sdk-core/src/guide.rs")
    listed = source.split("\npages! {", 1)[1].split("\n}", 1)[0]
    return sorted(re.findall(r"^    (\w+): \[", listed, re.M) + re.findall(r"^pub mod (\w+) {}", source, re.M))


def guide():
    """Checks that the guide's index has each page, that each page defines its links to pages and headings for repository
    hosts, and that `pages.txt` defines the same links for rustdoc. `--write` writes `pages.txt`."""
    front, known, links = read("sdk-core/docs/guide.md"), pages(), set()
    for page in known:
        if not re.search(rf"^\| .*\[`{page}`\] \|", front, re.M):
            report("sdk-core/docs/guide.md", f"its index lacks the page {page}")
    for file in sorted((ROOT / "sdk-core/docs").glob("*.md")):
        path = file.relative_to(ROOT)
        if file.stem not in [*known, "guide"]:
            report(path, "sdk-core/src/guide.rs doesn't declare this page")
        text = read(path)
        defined = dict(re.findall(r"^\[`([a-z_]+(?:#\S+)?)`\]: (\S+)$", text, re.M))
        for link in re.finditer(r"\[`([a-z_]+)(#[^`\s]+)?`\](?!:)", text):
            page, anchor = link[1], link[2] or ""
            if page not in known:
                continue
            links.add(page + anchor)
            if defined.get(page + anchor) != f"{page}.md{anchor}":
                line = f"[`{page}{anchor}`]: {page}.md{anchor}"
                report(path, f"it needs this line at its end: {line}", text, link.start())
    wanted = [*known, *sorted(link for link in links if "#" in link)]
    wanted = "".join(f"[`{link}`]: crate::guide::{link}\n" for link in wanted) + "\n"
    path = "sdk-core/docs/pages.txt"
    if "--write" in sys.argv:
        (ROOT / path).write_text(wanted, encoding="utf-8")
    elif read(path) != wanted:
        report(path, "it differs from the links of the pages; run `.ci/docs.py --write`")


def questions():
    """Checks that two clicks lead from each client's front page to the answer of each question."""
    for client in CLIENTS:
        first_lines = "\n".join(read(f"sdk-{client}/README.md").split("\n")[:5])
        for page in ["errors", "operations", "getting started"]:
            if f"[{page}]" not in first_lines:
                report(f"sdk-{client}/README.md", f"its first lines don't link to [{page}]")
            definition = f"//! [{page}]: crate::guide::{page.replace(' ', '_')}\n"
            require(f"sdk-{client}/src/lib.rs", definition, f"it doesn't define the link [{page}]")
    path, known = "sdk-core/docs/guide.md", set(pages())
    text = read(path)
    for row in re.finditer(r"^\| [^|]*\? \|.*$", text, re.M):
        named = re.findall(r"\[`(\w+)[^`]*`\]", row[0])
        if not named or not known.issuperset(named):
            report(path, "the question links to no page of the guide", text, row.start())


def excerpts():
    """Checks that pages show the tested programs, and that the picture can be part of a page."""
    program = re.findall(r"^```rust,no_run\n.*?^```", read("README.md"), re.M | re.S)
    page = "sdk-core/docs/getting_started.md"
    if len(program) != 1 or program[0] not in read(page):
        report("README.md", f"its program isn't the one of {page}, which the tests compile")
    folders = [ROOT / crate / "docs" for crate in ["sdk-core", "tests/reference-server"]]
    shown = [path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.md")]
    for path in sorted((ROOT / "tests/suite/programs/recipes").glob("*.rs")):
        if path.name != "mod.rs" and not any(f"\n{read(path)}```" in page for page in shown):
            report(path.relative_to(ROOT), "no page shows this recipe")
    path = "sdk-core/docs/lost_reply.svg"
    svg = read(path)
    if len(svg.encode()) > 12 * 1024 or "<title" not in svg or "<desc" not in svg:
        report(path, "it is larger than 12 KiB, or has no title or description")
    for line in re.finditer(r"^(?: |\n)", svg, re.M):
        report(path, "Markdown would end the picture at this empty or indented line", svg, line.start())


def widths():
    """Checks that rustdoc doesn't cut lines of code, of which it shows 98 columns."""
    crates = [*ROOT.glob("sdk-*"), ROOT / "tests/reference-server"]
    paths = [path for crate in crates for path in [*crate.glob("src/**/*.rs"), crate / "README.md"]]
    for path in sorted([*paths, *ROOT.glob("sdk-core/docs/*.md"), ROOT / "README.md"]):
        in_code = False
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if path.suffix == ".rs":
                comment = re.match(r"\s*//[/!] ?(.*)", line)
                in_code &= bool(comment) or "[doc = " in line
                line = comment[1] if comment else ""
            in_code ^= line.lstrip().startswith("```")
            if in_code and len(line) > 98 and not line.startswith("# "):
                problems.append(f"{path.relative_to(ROOT)}:{number}: this line of code has {len(line)} columns")


def fault_88_pins():
    """Checks that the linters' packages have one version and digests, that their installation checks the digests, and that
    cargo's tools have one version."""
    path = "specs/lint/requirements.txt"
    text = read(path)
    for line in logical_lines(text):
        if not re.fullmatch(rf"\S+=={VERSION}(\s+\\\n\s*--hash=sha256:[0-9a-f]{{64}})+", line[0]):
            report(path, "this line isn't a name with one version and digests", text, line.start())
    path = "specs/lint/package-lock.json"
    text = read(path)
    packages = json.loads(text)["packages"]
    # `npm ci` fails if `package.json` has other versions.
    for name, version in packages.pop("")["devDependencies"].items():
        if not re.fullmatch(VERSION, version):
            report(path, f"{name} doesn't have exactly one version", text, text.find(f'"{name}"'))
    for name, package in packages.items():
        # Without a URL, each installation uses its own registry.
        if not package.get("integrity", "").startswith("sha512-") or "resolved" in package:
            report(path, f"{name} has no digest, or it has a URL", text, text.find(f'"{name}": {{'))
    # A build from source would download build tools without digests.
    commands("specs/lint/run", r"pip install", ["--require-hashes", "--only-binary :all:"])
    commands("specs/lint/run", r"npm (?:ci|i|install)\b", ["npm ci"])
    commands(".ci/nightly", r"cargo install", ["--locked", '--version "$2"'])
    for tool in ["deny", "mutants"]:
        if not re.search(rf"^{tool}_version={VERSION}$", read(".ci/nightly"), re.M):
            report(".ci/nightly", f"{tool}_version isn't exactly one version")


def commands(path, pattern, options):
    """Checks that a script has a matching command, and that each matching command has all of these options."""
    text = read(path)
    found = [line for line in logical_lines(text) if re.search(pattern, line[0])]
    if not found:
        report(path, f"no command matches {pattern}")
    for line in found:
        for option in options:
            if option not in line[0]:
                report(path, f"the command lacks {option}", text, line.start())


def features():
    """Checks that all clients have the same default features, and that jiff, which takes long to build, is opt-in."""
    for client in CLIENTS:
        path = f"sdk-{client}/Cargo.toml"
        require(path, '\ndefault = ["rustls", "http2", "reqwest-013"]\n', "it has other default features")
        if read(path).count("jiff-02 = [") != 1:
            report(path, "it doesn't define the feature jiff-02 once")


def examples():
    """Checks that there are at most twelve examples, each in one short file. `.ci/examples` checks their dependencies."""
    files = sorted((ROOT / "examples").glob("*.rs"))
    if len(files) > 12:
        report("examples", f"there are {len(files)} examples, and the maximum is twelve")
    for path in files:
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > 80:
            report(path.relative_to(ROOT), f"it has {lines} lines, and the maximum is 80")


for check in [links, guide, questions, excerpts, widths, fault_88_pins, features, examples]:
    check()
print("\n".join(problems) or "no problems found")
sys.exit(bool(problems))
