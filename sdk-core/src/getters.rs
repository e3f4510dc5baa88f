/// Declares what can be asked of a type: each question with its answer.
macro_rules! getters {
    ($type:ident $(<$param:ident>)? |$it:ident|
        $($(#[$meta:meta])* $vis:vis $name:ident -> $answer:ty = $value:expr;)*
    ) => {
        #[allow(clippy::double_must_use, reason = "some answers are themselves `must_use`")]
        impl $(<$param>)? $type $(<$param>)? {
            $(
                $(#[$meta])*
                #[must_use]
                $vis fn $name(&self) -> $answer {
                    let $it = self;
                    $value
                }
            )*
        }
    };
}

pub(crate) use getters;
