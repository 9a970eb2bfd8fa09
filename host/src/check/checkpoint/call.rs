//! Calls of listed functions that make no tensor.

use super::object::Walk;
use super::torch_names::{COMPRESSED, COORDINATES, DEVICES, Known};
use super::values::{Id, Made, Value};
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::limits;

impl Walk<'_> {
    /// Checks the arguments of a listed function that makes no tensor.
    pub(super) fn call(&mut self, id: Id, made: &Made) {
        let values = self.values;
        let span = self.place.of(values.place(id));
        let args = values.tuple(made.args);
        if made.of == Known::OrderedDict
            && let Some(state) = made.state
        {
            self.state(state);
        }
        let is_number = |id: &Id| matches!(values.get(*id), Value::Int(_) | Value::Float(_));
        let is_right = match (made.of, args) {
            (Known::Other | Known::Typed, _) => true,
            (_, None) => false,
            (Known::OrderedDict | Known::Counter | Known::Set, Some(args)) => args.len() <= 1,
            (Known::Size, Some([inner])) => {
                let fits = |it: &[Id]| it.len() as u64 <= limits::CHECKPOINT_RANK * 2;
                values.tuple(*inner).is_some_and(|it| fits(it) && it.iter().all(is_number))
            }
            (Known::Layout, Some([name])) => self.text(*name).is_some_and(|name| {
                name == b"torch.strided" || name == COORDINATES || COMPRESSED.contains(&name)
            }),
            (Known::Device, Some([kind, index @ ..])) if index.len() <= 1 => {
                let kind = self.str(*kind).and_then(|kind| kind.split(':').next());
                kind.is_some_and(|kind| DEVICES.contains(&kind)) && index.iter().all(is_number)
            }
            (Known::Encode, Some([text, codec])) => {
                self.text(*text).is_some() && matches!(self.str(*codec), Some("latin1" | "latin-1"))
            }
            (Known::Complex, Some([real, imaginary])) => is_number(real) && is_number(imaginary),
            (Known::ByteArray, Some(args)) => args.len() <= 2,
            (Known::Parameter, Some(_)) => true,
            _ => false,
        };
        if !is_right {
            self.draft.flaw(rules::P_CALL, span, None);
        }
    }
}
