//! The pages of portals and proxies, which answer in place of the service.

use memchr::memmem::find;

/// Whether a reply is a web page, by its media type or by how it begins. Nothing is no page, whatever it is called.
pub(super) fn is_web_page(media_type: Option<&str>, body: &[u8]) -> bool {
    let mut rest = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    rest = rest.trim_ascii_start();
    let named = ["text/html", "application/xhtml+xml"];
    if named
        .iter()
        .any(|it| media_type.is_some_and(|own| own.eq_ignore_ascii_case(it)))
    {
        return !rest.is_empty();
    }
    let mut is_xml = false;
    while let Some(end) = end_of_preface(rest) {
        is_xml |= rest.starts_with(b"<?");
        rest = rest[end..].trim_ascii_start();
    }
    // Other XML may well have a head.
    let beginnings = ["<!doctype html", "<html", "<head", "<meta", "<body"];
    let shown = if is_xml {
        &beginnings[..2]
    } else {
        &beginnings
    };
    shown.iter().any(|it| {
        let start = rest.get(..it.len()).unwrap_or_default();
        let follows = rest.get(it.len());
        let ends = follows.is_none_or(|it| it.is_ascii_whitespace() || matches!(it, b'>' | b'/'));
        start.eq_ignore_ascii_case(it.as_bytes()) && ends
    })
}

/// Where a comment or an instruction at the beginning ends.
fn end_of_preface(text: &[u8]) -> Option<usize> {
    [("<!--", "-->"), ("<?", "?>")]
        .into_iter()
        .find_map(|(from, to)| {
            let inner = text.strip_prefix(from.as_bytes())?;
            Some(from.len() + find(inner, to.as_bytes())? + to.len())
        })
}
