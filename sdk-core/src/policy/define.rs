//! How a policy is declared: the doc, the default with its reason, and the setter of each field in one place.

/// Declares a policy, its defaults, and a setter for each field.
macro_rules! policy {
    ($(#[$about:meta])* pub struct $policy:ident {
        $($(#[$meta:meta])* $field:ident: $type:ty = $default:expr, $with:ident;)*
    }) => {
        $(#[$about])*
        #[non_exhaustive]
        pub struct $policy {
            $($(#[$meta])* pub $field: $type,)*
        }

        impl Default for $policy {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $policy {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $with(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

pub(crate) use policy;
