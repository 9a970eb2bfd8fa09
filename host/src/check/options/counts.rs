//! Which findings count: rules that are denied, ignored, and names that pickles may import.

use super::Options;
use alloc::string::String;

impl Options {
    /// Makes remarks count as faults: `lint` for all of them, or a rule id. `pickle` makes
    /// pickles, and archives that contain one, invalid instead of unsupported.
    ///
    /// ```
    /// use weighbridge::Options;
    ///
    /// let options = Options::new().deny("lint")?.deny("pickle")?.deny("HDR-MAGIC")?;
    /// assert_eq!(options.deny("HDR-MAGICK").unwrap_err(), "no rule has the id \"HDR-MAGICK\"");
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// A sentence, if no rule has this id.
    pub fn deny(mut self, what: &str) -> Result<Self, String> {
        self.criteria.deny(what)?;
        Ok(self)
    }

    /// Lets pickles import `MODULE.NAME`, as `torch.serialization.add_safe_globals` does. Modules
    /// of the system (`os`, `posix`, `nt`, `sys`) cannot be allowed.
    ///
    /// ```
    /// use weighbridge::{Options, Profile, Verdict, check_with};
    ///
    /// let bytes = b"cargparse\nNamespace\n)\x81.";
    /// let report = check_with(bytes, &Options::new())?;
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Invalid);
    /// let options = Options::new().allow_global("argparse.Namespace").unwrap();
    /// let report = check_with(bytes, &options)?; // what it holds is not read
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Unsupported);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// A sentence, if this is no name in a module, or one of the system.
    pub fn allow_global(mut self, what: &str) -> Result<Self, String> {
        self.criteria.allow_global(what)?;
        Ok(self)
    }

    /// Ignores breaches of a rule, and anything that it leaves unchecked: the report still
    /// lists them, and [`Report::ignored`](crate::Report::ignored) counts them. A rule that is
    /// [denied](Self::deny) by its id still counts.
    ///
    /// ```
    /// use weighbridge::Options;
    ///
    /// let options = Options::new().ignore("TRAILING")?;
    /// assert!(options.ignore("OFFSET-BOUNDS").unwrap_err().contains("is fatal"));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// A sentence, if no rule has this id or it is fatal in every format that has one.
    pub fn ignore(mut self, rule: &str) -> Result<Self, String> {
        self.criteria.ignore(rule)?;
        Ok(self)
    }
}
