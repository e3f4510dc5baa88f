//! The register of assumptions, and which of its entries no read can show.

/// An entry of `specs/ASSUMPTIONS.md`.
pub(crate) struct Entry {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// How a caller overrides it.
    pub(crate) cure: String,
}

const REGISTER: &str = include_str!("../../specs/ASSUMPTIONS.md");

/// The entries, in their order.
pub(crate) fn entries() -> Vec<Entry> {
    let mut sections = REGISTER.split("\n## ");
    sections.next();
    let entry = |section: &'static str| {
        let (heading, text) = section.split_once('\n')?;
        let (id, title) = heading.split_once(' ')?;
        let cure = text.split("**How a caller overrides it**:").nth(1)?;
        let cure = cure.split("\n\n").next()?.split_whitespace();
        let cure = cure.collect::<Vec<_>>().join(" ");
        Some(Entry { id, title, cure })
    };
    sections.filter_map(entry).collect()
}

/// Why a read cannot show an entry.
pub(crate) fn unreadable(id: &str) -> Option<&'static str> {
    Some(match id {
        "A40" => "it is about the key of a command, and the doctor sends none",
        "A42" => "the doctor provokes neither, and sends nothing twice",
        "A45" => "it is about the body of a command",
        "A50" => "the doctor cannot provoke a 501 or 505",
        "A51" | "A78" => "it is about commands that are sent twice",
        "A52" => "it is about commands that are refused",
        "A54" | "A84" => "it is about commands that are a day old, or many",
        "A73" => "which claim opens an operation cannot be told from outside",
        "A77" | "A79" | "A80" | "A81" => "it is about commands: their bodies, results and states",
        "A86" => "how figures are counted shows only in a known history",
        _ => return None,
    })
}
