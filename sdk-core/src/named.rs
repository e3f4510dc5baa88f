/// Declares values with a name each, for metrics and traces or for the wire.
macro_rules! named {
    ($(#[$about:meta])* pub enum $values:ident {
        $($(#[$meta:meta])* $value:ident = $name:literal;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $values {
            $($(#[$meta])* $value,)*
        }

        impl $values {
            /// Its name in metrics and traces or on the wire, which never changes.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;
