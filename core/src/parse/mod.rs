//! Reading forward, and the one place where offsets are computed.

mod cursor;
pub(crate) mod reader;
mod stop;

pub use cursor::Cursor;
pub(crate) use reader::Reader;
pub use stop::Stop;
