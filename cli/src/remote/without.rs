//! A build without the feature `remote`: there are no stores, and no object in any.

use super::{Limits, Listing, Read, Url};
use std::convert::Infallible;
use std::sync::Arc;
use weighbridge::{Input, Place, ReadError, Text};

/// There are none.
#[derive(Clone, Debug)]
pub(super) struct Stores(Infallible);

impl Stores {
    /// # Errors
    /// Always.
    pub(super) fn new(_: Limits) -> Result<Self, String> {
        let why = "this command was built without the feature `remote`, and reads no servers";
        Err(why.to_owned())
    }

    pub(super) fn list(self: Arc<Self>, _: Url<'_>) -> Result<Listing, String> {
        match self.0 {}
    }
}

/// There is none.
#[derive(Debug)]
pub(crate) struct Object(Infallible);

impl Object {
    pub(super) fn new(stores: Arc<Stores>, _: &str) -> Self {
        Object(stores.0)
    }

    pub(super) fn read(&self) -> Read {
        match self.0 {}
    }
}

impl Place for Object {
    fn name(&self) -> Text {
        match self.0 {}
    }

    fn file_name(&self) -> Text {
        match self.0 {}
    }

    fn open(&self) -> Result<Box<dyn Input + '_>, ReadError> {
        match self.0 {}
    }

    fn beside(&self, _: &str) -> Box<dyn Place + '_> {
        match self.0 {}
    }
}
