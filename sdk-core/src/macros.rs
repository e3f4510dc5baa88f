//! Macros of all modules. They implement traits and hide no method, type or variant.

/// Implements `Debug` with only these fields, and says that there are more: whatever may be secret is left out.
macro_rules! debug_fields {
    ($type:ident $(<$param:tt>)? |$it:ident| $($name:ident: $value:expr),* $(,)?) => {
        impl $(<$param>)? ::std::fmt::Debug for $type $(<$param>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let $it = self;
                let mut fields = f.debug_struct(stringify!($type));
                // One statement each: two values may lock the same mutex.
                $(fields.field(stringify!($name), &$value);)*
                fields.finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use debug_fields;
