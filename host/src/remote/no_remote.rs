//! Replaces stores and objects in a build without the feature `remote`: neither can exist.

use super::{Limits, Listing, Traffic, Url};
use crate::base::error::ReadError;
use crate::base::text::Text;
use crate::input::place::Place;
use crate::input::reader::Input;
use std::convert::Infallible;
use std::prelude::rust_2024::*;
use std::sync::Arc;

/// Never exists.
#[derive(Clone, Debug)]
pub(super) struct Stores(Infallible);

impl Stores {
    /// # Errors
    /// Always.
    pub(super) fn new(_: Limits) -> Result<Self, String> {
        let why = "this build cannot read from servers (built without the `remote` feature)";
        Err(why.to_owned())
    }

    pub(super) fn list(self: Arc<Self>, _: Url<'_>) -> Result<Listing, String> {
        match self.0 {}
    }
}

/// Never exists.
#[derive(Debug)]
pub(super) struct Object(Infallible);

impl Object {
    pub(super) fn new(stores: Arc<Stores>, _: &str) -> Self {
        Object(stores.0)
    }

    pub(super) fn traffic(&self) -> Traffic {
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
