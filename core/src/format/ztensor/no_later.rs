//! Replaces the reader of later generations in builds without it, which only say which generation
//! a file is of.

use super::Cursor;
use crate::codec::checksum::Checksum;
use crate::format::Fault;
use crate::input::{Absent, Source, Span};
use crate::model::{Chunk, Metadata, Region, Tensor, Value, Version};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Never constructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Header {}

/// Nothing is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct State;

impl State {
    pub(super) const START: State = State;
}

/// Opens no file.
#[inline(always)]
pub(super) fn open(_: &mut Reader<'_, '_>, _: &mut Cursor) -> Result<Option<Header>, Halt> {
    Ok(None)
}

impl Header {
    pub(super) fn version(&self) -> Version {
        match *self {}
    }

    pub(super) fn index(&self) -> Span {
        match *self {}
    }

    pub(super) fn alignment(&self) -> u64 {
        match *self {}
    }

    pub(super) fn tensor_count(&self) -> u64 {
        match *self {}
    }

    pub(super) fn rule(&self, _: Fault, _: Option<Rule>) -> Option<Rule> {
        match *self {}
    }

    #[cfg(feature = "payloads")]
    pub(super) fn parted(
        &self,
        _: &mut Reader<'_, '_>,
        _: &Tensor,
    ) -> Result<Option<crate::model::parted::Parted>, Halt> {
        match *self {}
    }

    pub(super) fn meta(
        &self,
        _: &mut Reader<'_, '_>,
        _: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        match *self {}
    }

    pub(super) fn tensor(
        &self,
        _: &mut Reader<'_, '_>,
        _: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        match *self {}
    }

    pub(super) fn attribute(
        &self,
        _: &mut Reader<'_, '_>,
        _: &Tensor,
        _: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        match *self {}
    }

    pub(super) fn value(
        &self,
        _: &mut Reader<'_, '_>,
        _: &Metadata,
    ) -> Result<Option<Value>, Halt> {
        match *self {}
    }

    pub(super) fn chunk(&self, _: &Tensor) -> Option<Chunk> {
        match *self {}
    }

    pub(super) fn checksum(&self, _: &Source<'_>, _: &Tensor) -> Result<Option<Checksum>, Absent> {
        match *self {}
    }

    pub(super) fn region(
        &self,
        _: &mut Reader<'_, '_>,
        _: &mut Cursor,
    ) -> Result<Option<Region>, Halt> {
        match *self {}
    }

    pub(super) fn audit(&self, _: &mut Reader<'_, '_>, _: &mut Cursor) -> Result<(), Halt> {
        match *self {}
    }
}
