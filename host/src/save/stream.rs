//! A safetensors file of the model that a session has open, piece by piece.

use super::elements::{self, WORTH};
use super::layout::{Item, Layout};
use super::lost::{LeftOut, Tied};
use super::piece::{Got, Reading, with_model};
use super::plan::{ALTERED, FAULTY, Plan, Planner, altered, faulty};
use crate::base::error::{Error, ReadError};
use crate::check::options::Goal;
use crate::check::session::Session;
use crate::list::index::Index;
use crate::read::tensor::Tensor;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use weighbridge_core::{Profile, Span};

/// Bytes of short tensors that are collected into one piece.
const PIECE: usize = 1 << 20;

/// A model as a safetensors file, for a program that does its own reading and writing. The file
/// has the bytes that [`Convert`](super::Convert) writes.
///
/// Not written are quantised elements, columns of data views, and elements in another order whose
/// range is longer than 256 MiB; [`left_out`](Self::left_out) names such tensors.
///
/// ```
/// use weighbridge::save::{Saving, Step};
/// use weighbridge::{Goal, Index, Options, Profile, Session};
///
/// # let file = weighbridge_tests::samples::safetensors();
/// let mut session = Session::whole(&file, Options::new());
/// session.advance(Goal::Structure);
/// let mut index = Index::default();
/// session.ask(|file, source| {
///     let mut cursor = Default::default();
///     while let Some(found) = file.next_tensor(source, &mut cursor, &mut |_| {})? {
///         index.push(source, found.tensor)?;
///     }
///     Ok(())
/// }).unwrap();
/// let mut saving = Saving::new();
/// while !saving.plan(&mut session, &index, Profile::Strict)? {
///     // Supply what `session.needs()` lists.
/// }
/// let mut written = Vec::new();
/// loop {
///     match saving.next(&mut session, &index)? {
///         Step::Bytes(bytes) => written.extend(bytes),
///         Step::Copy(span) => written.extend(&file[span.offset as usize..][..span.len as usize]),
///         Step::Need => {} // supply what `session.needs()` lists
///         Step::Done => break,
///     }
/// }
/// assert_eq!(Some(written.len() as u64), saving.len());
/// # assert!(weighbridge::check(&written)?.verdict(Profile::Strict).is_valid());
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Saving {
    force: bool,
    planner: Planner,
    /// The tensors that are left out because of findings: faulty ones, and altered ones.
    refused: Option<(Vec<u32>, Vec<u32>)>,
    has_metadata: bool,
    planned: usize,
    ready: Option<(Plan, Layout)>,
    /// How much is written: the header, and tensors in the order of their data.
    begun: bool,
    done: usize,
    reading: Option<Reading>,
}

/// The next part of a file that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes of the file that is read, as they are.
    Copy(Span),
    /// None yet: supply what [`Session::needs`] lists, and ask again.
    Need,
    /// None: the file is complete.
    Done,
}

impl Saving {
    /// Refuses an invalid model.
    ///
    /// ```
    /// assert_eq!(weighbridge::save::Saving::new().len(), None); // it has no plan yet
    /// ```
    pub fn new() -> Self {
        Saving::default()
    }

    /// Converts an invalid model too, without its faulty tensors.
    ///
    /// ```
    /// let saving = weighbridge::save::Saving::new().force();
    /// # let _ = saving;
    /// ```
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }

    /// Plans the file, from the tensors in `index`; `false` if bytes are missing, which
    /// [`Session::needs`] lists. The structure of the model is checked first; data is not, unless the
    /// session has done so. See [`Saving`] for an example.
    ///
    /// ```
    /// use weighbridge::save::Saving;
    /// use weighbridge::{Index, Options, Profile, Session};
    ///
    /// let mut session = Session::whole(b"GGUF", Options::new());
    /// let refused = Saving::new().plan(&mut session, &Index::default(), Profile::Strict);
    /// assert!(refused.is_err());
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the model is invalid, and errors of reading.
    pub fn plan(
        &mut self,
        session: &mut Session<'_>,
        index: &Index,
        profile: Profile,
    ) -> Result<bool, Error> {
        if !session.advance(Goal::Structure) {
            return Ok(false);
        }
        if self.refused.is_none() {
            let no = |why: &str| Err(Error::Unsupported(why.to_string()));
            if session.file().is_none() {
                return no("it cannot be opened");
            }
            if !self.force && !session.tally().accepted(profile) {
                return no("it is invalid");
            }
            if !self.force && session.is_unsupported_in(profile) {
                return no("it has a program, which is not read");
            }
            let (findings, tally) = (session.findings().iter(), session.tally());
            let faulty = if self.force { faulty(findings.clone(), tally)? } else { Vec::new() };
            self.refused = Some((faulty, altered(findings, tally)?));
        }
        let Saving { planner, refused, has_metadata, planned, .. } = self;
        let Some((faulty, altered)) = refused else { return Ok(false) };
        let done = with_model(session, |model| {
            if !*has_metadata {
                planner.read_metadata(model)?;
                *has_metadata = true;
            }
            while *planned < index.len() {
                let tensor = model.tensor_of(&index.entry(*planned));
                let is_among = |all: &[u32]| all.binary_search(&tensor.index()).is_ok();
                let refused = match (is_among(faulty), is_among(altered)) {
                    (true, _) => Some(FAULTY),
                    (_, true) => Some(ALTERED),
                    _ => Reading::refused(&tensor)?,
                };
                let fit = match refused {
                    Some(why) => Err(elements::no(why)),
                    None => {
                        let rows = |_: &Tensor<'_, '_>| Err(elements::no(Reading::ROWS));
                        elements::fit(&tensor, |it| Err(elements::quantised(it)), rows)
                    }
                };
                planner.add(&tensor, (0, *planned), fit)?;
                *planned += 1;
            }
            Ok(())
        })?;
        if done.is_none() {
            return Ok(false);
        }
        if self.ready.is_none() {
            let plan = core::mem::take(&mut self.planner).finish();
            let items: Vec<Item> = plan.tensors.iter().map(|it| it.item.clone()).collect();
            let layout = Layout::new(&items, &plan.metadata_of(&items))?;
            self.ready = Some((plan, layout));
        }
        Ok(true)
    }

    /// The next part of the file. See [`Saving`] for an example.
    ///
    /// ```
    /// use weighbridge::save::{Saving, Step};
    /// use weighbridge::{Index, Options, Session};
    ///
    /// let mut session = Session::whole(b"GGUF", Options::new());
    /// // Without a plan there is nothing.
    /// assert_eq!(Saving::new().next(&mut session, &Index::default())?, Step::Done);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data cannot be decoded, and errors of reading.
    pub fn next(&mut self, session: &mut Session<'_>, index: &Index) -> Result<Step, Error> {
        let Saving { ready: Some((plan, layout)), begun, done, reading, .. } = self else {
            return Ok(Step::Done);
        };
        if !*begun {
            *begun = true;
            return Ok(Step::Bytes(layout.header().to_vec()));
        }
        let mut out = Vec::new();
        while out.len() < PIECE {
            let Some(planned) = layout.order().get(*done).and_then(|i| plan.tensors.get(*i)) else {
                break;
            };
            let Some(current) = reading else {
                let entry = index.entry(planned.place.1);
                let tensor = |model: &_| Reading::of(&entry, model);
                match with_model(session, tensor)? {
                    Some(new) => *reading = Some(new),
                    None if out.is_empty() => return Ok(Step::Need),
                    None => break,
                }
                continue;
            };
            if let Some(span) = current.as_it_lies().filter(|span| span.len >= WORTH) {
                if out.is_empty() {
                    (*reading, *done) = (None, *done + 1);
                    return Ok(Step::Copy(span));
                }
                break;
            }
            match current.step(session, &mut out)? {
                Got::More => {}
                Got::Need if out.is_empty() => return Ok(Step::Need),
                Got::Need => break,
                Got::End if Some(current.given()) == planned.item.len() => {
                    (*reading, *done) = (None, *done + 1);
                }
                Got::End => return Err(ReadError::Changed.into()),
            }
        }
        Ok(if out.is_empty() { Step::Done } else { Step::Bytes(out) })
    }

    fn planned(&self) -> Option<&Plan> {
        self.ready.as_ref().map(|(plan, _)| plan)
    }

    /// The length of the file, once it is planned.
    ///
    /// ```
    /// assert_eq!(weighbridge::save::Saving::new().len(), None);
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "the length of the file in bytes")]
    pub fn len(&self) -> Option<u64> {
        self.ready.as_ref().map(|(_, layout)| layout.len())
    }

    /// The number of tensors in the file.
    ///
    /// ```
    /// assert_eq!(weighbridge::save::Saving::new().tensors(), 0);
    /// ```
    pub fn tensors(&self) -> usize {
        self.planned().map_or(0, |plan| plan.tensors.len())
    }

    /// The tensors that are not in the file, each with the reason.
    ///
    /// ```
    /// assert!(weighbridge::save::Saving::new().left_out().is_empty());
    /// ```
    pub fn left_out(&self) -> &[LeftOut] {
        self.planned().map_or(&[], |plan| &plan.left_out)
    }

    /// The metadata that is not in the file: only texts are.
    ///
    /// ```
    /// assert!(weighbridge::save::Saving::new().metadata_left_out().is_empty());
    /// ```
    pub fn metadata_left_out(&self) -> &[LeftOut] {
        self.planned().map_or(&[], |plan| &plan.metadata_left_out)
    }

    /// Names whose elements are written under another name.
    ///
    /// ```
    /// assert!(weighbridge::save::Saving::new().tied().is_empty());
    /// ```
    pub fn tied(&self) -> &[Tied] {
        self.planned().map_or(&[], |plan| &plan.tied)
    }
}
