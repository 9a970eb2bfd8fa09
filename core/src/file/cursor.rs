//! The position of an iteration over a file of any format.

use crate::format::{self, Container, formats};
use crate::parse;

/// The cursor of one format `H`.
pub(super) trait Holds<H: Container> {
    fn cursor(&mut self) -> &mut parse::Cursor<H::State>;
}

/// Declares the cursors of all formats.
macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $module:ident, $feature:literal, $title:literal, $extensions:expr;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(clippy::large_enum_variant, reason = "there is no heap for the largest")]
        enum Any {
            $(
                #[cfg(feature = $feature)]
                $name(parse::Cursor<<format::$module::Header as Container>::State>),
            )*
            #[cfg(not(any($(feature = $feature),*)))]
            None(parse::Cursor<()>),
        }

        impl Any {
            /// The start, as the first format's cursor; other formats replace it with their own.
            const START: Any = {
                let [start, ..] = [
                    $(
                        #[cfg(feature = $feature)]
                        Any::$name(parse::Cursor::START),
                    )*
                    #[cfg(not(any($(feature = $feature),*)))]
                    Any::None(parse::Cursor::START),
                ];
                start
            };
        }

        /// Evaluates the same expression with the cursor of any format.
        macro_rules! any {
            ($any:expr, $cursor:ident => $call:expr) => {
                match $any {
                    $(
                        #[cfg(feature = $feature)]
                        Any::$name($cursor) => $call,
                    )*
                    #[cfg(not(any($(feature = $feature),*)))]
                    Any::None($cursor) => $call,
                }
            };
        }

        impl Cursor {
            /// A copy. It takes as many bytes as the format's own cursor, not those of the largest.
            #[inline]
            pub(crate) fn saved(&self) -> Cursor {
                Cursor(match &self.0 {
                    $(
                        #[cfg(feature = $feature)]
                        Any::$name(cursor) => Any::$name(*cursor),
                    )*
                    #[cfg(not(any($(feature = $feature),*)))]
                    Any::None(cursor) => Any::None(*cursor),
                })
            }
        }

        $(
            #[cfg(feature = $feature)]
            impl Holds<format::$module::Header> for Cursor {
                fn cursor(&mut self) -> &mut parse::Cursor<<format::$module::Header as Container>::State> {
                    match self.0 {
                        Any::$name(ref mut cursor) => cursor,
                        #[allow(unreachable_patterns, reason = "there may be one format")]
                        ref mut other => {
                            begin(other);
                            return Holds::<format::$module::Header>::cursor(self);

                            // One copy, rather than one in every function that takes a cursor.
                            #[cold]
                            #[inline(never)]
                            fn begin(any: &mut Any) {
                                *any = Any::$name(parse::Cursor::START);
                            }
                        }
                    }
                }
            }
        )*
    };
}

formats!(declare);

/// The position of an iteration: plain numbers, to be kept between calls.
///
/// A cursor belongs to one file and one kind of iteration. The default cursor is at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor(Any);

impl Default for Cursor {
    fn default() -> Self {
        Cursor::START
    }
}

impl Cursor {
    /// The start.
    pub(crate) const START: Cursor = Cursor(Any::START);

    /// Number of entries passed so far.
    pub const fn index(&self) -> u32 {
        any!(&self.0, cursor => cursor.index)
    }

    /// Whether the iteration is over.
    pub const fn is_done(&self) -> bool {
        any!(&self.0, cursor => cursor.done)
    }

    /// Offset of the next entry; 0 at the start.
    pub(crate) fn at(&self) -> u64 {
        any!(&self.0, cursor => cursor.at)
    }

    /// Number of the current table, for iterations over several.
    pub(crate) fn phase(&self) -> u8 {
        any!(&self.0, cursor => cursor.phase)
    }

    /// The cursor for this header's format.
    pub(super) fn of<H: Container>(&mut self, _: &H) -> &mut parse::Cursor<H::State>
    where
        Cursor: Holds<H>,
    {
        self.cursor()
    }
}
