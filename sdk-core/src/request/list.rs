/// How the items of a query parameter stand in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStyle {
    /// The parameter once for each item: `tag=a&tag=b`.
    Repeated,
    /// One parameter with commas: `tag=a,b`.
    Comma,
    /// One parameter with spaces: `tag=a%20b`.
    Space,
    /// One parameter with pipes: `tag=a%7Cb`.
    Pipe,
}

impl ListStyle {
    /// What stands between two items, by itself and in a query.
    ///
    /// The comma is not escaped: a server that splits before it decodes would not find it otherwise, and one that decodes
    /// first finds both. The other two are not allowed in a URL.
    pub(crate) fn separator(self) -> Option<(char, &'static str)> {
        match self {
            Self::Repeated => None,
            Self::Comma => Some((',', ",")),
            Self::Space => Some((' ', "%20")),
            Self::Pipe => Some(('|', "%7C")),
        }
    }
}
