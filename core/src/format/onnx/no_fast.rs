//! Stubs for a build without the fast paths: every field gets the full check.

use super::Cursor;
use super::links::{Link, Links};
use crate::format::Glance;
use crate::model::Tensor;
use crate::parse::Reader;

pub(super) fn scan(_: &mut Reader<'_, '_>, _: &mut Cursor) {}

pub(super) fn tensor(_: &mut Reader<'_, '_>, _: &mut Cursor) -> Option<Tensor> {
    None
}

pub(super) fn sweep<'a>(
    _: &mut Reader<'_, 'a>,
    _: &mut Cursor,
    _: &mut dyn FnMut(&Glance<'a>) -> bool,
) {
}

pub(super) fn sweep_names<'a>(
    _: &mut Reader<'_, 'a>,
    _: &mut Cursor,
    _: u32,
    _: &mut dyn FnMut(&Glance<'a>) -> bool,
) {
}

pub(super) fn sweep_links(
    _: &mut Links,
    _: &mut Reader<'_, '_>,
    _: &mut dyn FnMut(&Link) -> bool,
) -> bool {
    true
}
