//! Reading forward, and the one place where offsets are computed.

mod cursor;
pub(crate) mod reader;
mod stop;

pub(crate) use cursor::{Cursor, State};
pub(crate) use reader::Reader;
pub use stop::Stop;
