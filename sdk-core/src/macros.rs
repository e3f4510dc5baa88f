//! Macros for all modules. They only implement traits.

/// Implements `Debug` with these fields only and marks the output as incomplete. Leave out fields that may be secret.
macro_rules! debug_fields {
    ($type:ident $(<$param:tt>)? |$it:ident| $($name:ident: $value:expr),* $(,)?) => {
        impl $(<$param>)? ::std::fmt::Debug for $type $(<$param>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let $it = self;
                let mut fields = f.debug_struct(stringify!($type));
                // Separate statements, because two values may lock the same mutex.
                $(fields.field(stringify!($name), &$value);)*
                fields.finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use debug_fields;
