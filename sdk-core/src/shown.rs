/// Declares what `Debug` shows of a type, and that there is more: what may be secret is left out.
macro_rules! shows {
    ($type:ident $(<$param:tt>)? |$it:ident| $($name:ident: $value:expr),* $(,)?) => {
        impl $(<$param>)? ::std::fmt::Debug for $type $(<$param>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let $it = self;
                let mut shown = f.debug_struct(stringify!($type));
                $(shown.field(stringify!($name), &$value);)*
                shown.finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use shows;
