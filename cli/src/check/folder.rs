//! Files of folders that are no tensor files: what each is, and what may pass.

use super::Task;
use crate::print::Sorted;
use std::path::Path;
use weighbridge::repository::{
    BlobDigest, Class, Examined, is_absence, is_control, is_piece, rule,
};
use weighbridge::{Diagnosis, Error, Pickles, Place, Report, Severity, Verdict};

impl Task<'_> {
    /// What a file is that no reader of a format recognised, or that is a pickle.
    pub(super) fn examine(
        &self,
        input: &dyn weighbridge::Input,
        report: &Report,
        place: &dyn Place,
        is_remote: bool,
    ) -> Result<Option<Examined>, Error> {
        let pickle = report.diagnosis().filter(|it| it.is_pickle());
        let is_unsafe = report.pickles().is_some_and(Pickles::are_unsafe);
        // Its findings say what it would run.
        if is_unsafe && (self.deny_pickle || !self.allow_code) {
            return Ok(None);
        }
        // Its tensors are read, and break a rule.
        let is_broken = report.file().is_some() && report.verdict_on_checked() == Verdict::Invalid;
        if is_broken && !self.deny_pickle && pickle.is_some() {
            return Ok(None);
        }
        let pickle = pickle.map(|pickle| Examined::pickle(pickle, self.deny_pickle));
        if let Some(pickle) = pickle.clone().filter(|it| it.runs || !report.is_scanned_archive()) {
            return Ok(Some(pickle));
        }
        let (name, whole) = (place.file_name(), !is_remote || self.payloads);
        // However an unfinished download or the first piece of a file begins.
        let is_valid = report.verdict_on_checked() == Verdict::Valid;
        let part = is_control(&name.lossy()) || !is_valid && is_piece(&name.lossy());
        let is_pointer = report.diagnosis().is_some_and(Diagnosis::is_pointer);
        let is_other = part || is_pointer || is_absence(&place.name().lossy(), report.size());
        if pickle.is_none() && report.is_recognised() && !is_other {
            return Ok(None);
        }
        let examined = self.repository.examine(input, &name.lossy(), Some(place), whole)?;
        // Beside pickles that do no harm, an archive may have code that runs.
        Ok(Some(match pickle {
            Some(pickle) if !examined.runs || examined.kind.contains("pickle") => pickle,
            _ => examined,
        }))
    }

    /// What the settings and texts in an archive of models are, as those of a folder; `None` if not all
    /// of them could be examined.
    pub(super) fn search_archive(
        &self,
        input: &dyn weighbridge::Input,
        name: &str,
        is_remote: bool,
    ) -> Result<Option<Examined>, Error> {
        let whole = !is_remote || self.payloads;
        let examined = self.repository.examine(input, name, None, whole)?;
        Ok(Some(examined).filter(|it| it.class == Class::Code || !it.danger))
    }

    /// Whether the name of a blob in a store is another digest than that of its bytes. A link to
    /// a blob that was compared is not compared again.
    pub(super) fn is_damaged(
        &self,
        path: &Path,
        input: &dyn weighbridge::Input,
        is_found: bool,
    ) -> Result<bool, Error> {
        let stated = match is_found {
            true => BlobDigest::of(path),
            false => BlobDigest::named(path),
        };
        let Some(digest) = stated.filter(|_| self.digest) else { return Ok(false) };
        let blob = std::fs::canonicalize(path)?;
        if self.verified.lock().is_ok_and(|known| known.contains(&blob)) {
            return Ok(false);
        }
        let sound = digest.verify(input)?;
        if let (true, Ok(mut known)) = (sound, self.verified.lock()) {
            known.insert(blob);
        }
        Ok(!sound)
    }

    /// The result for a file that is no tensor file: what is allowed or ignored, and what counts.
    pub(super) fn sorted(&self, examined: Examined, size: u64, sha256: Option<String>) -> Sorted {
        let is_denied = |id: &str| self.denied.iter().any(|what| id.eq_ignore_ascii_case(what));
        let is_lint = |id: &&str| rule(id).is_some_and(|rule| rule.severity == Severity::Lint);
        let by_id = examined.rules().any(is_denied);
        let denied = by_id
            || self.denied.iter().any(|what| what == "lint")
                && examined.rules().any(|id| is_lint(&id));
        let is_pickle = examined.kind.contains("pickle");
        let may_be = examined.class == Class::Code && !(self.deny_pickle && is_pickle);
        let allowed = self.allow_code && may_be && !denied;
        // Its other rules may count.
        let why = |id| self.exceptions.iter().find(|it| it.rule == id).cloned();
        let ignored = examined.rules().map(why).collect::<Option<Vec<_>>>().unwrap_or_default();
        let ignored = if by_id { Vec::new() } else { ignored };
        let lenient = self.lenient && examined.severity() == Some(Severity::Violation);
        let denied = denied && ignored.is_empty();
        Sorted { allowed, denied, lenient, ignored, examined, size, sha256 }
    }
}

/// The class of a file in a folder that is shown by its report.
pub(super) fn class_of(report: &Report) -> &'static str {
    let is_code = |pickles: &Pickles| report.file().is_none() || pickles.can_run_code();
    let is_archive = report.is_scanned_archive();
    if is_archive || report.pickles().is_some_and(is_code) { Class::Code.name() } else { "model" }
}
