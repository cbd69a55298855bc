//! Owns how a file is changed that belongs to somebody: what would change is shown, and they are asked.

use crate::cli::Consent;
use crate::failure::Failure;
use crate::screen::{ask, complain, print};
use kennel_config::clients::{Written, masked, replace, unified};
use std::path::Path;
use std::time::SystemTime;

/// A change that is not made yet.
pub(crate) struct Change<'a> {
    pub(crate) file: &'a Path,
    /// `None` if the file is not there.
    pub(crate) before: Option<&'a str>,
    pub(crate) after: &'a str,
}

impl Change<'_> {
    /// The change as a diff, without what may be a secret.
    pub(crate) fn diff(&self) -> String {
        let before = self.before.unwrap_or_default();
        let (old, new) = (masked(self.file, before), masked(self.file, self.after));
        unified(&self.file.to_string_lossy(), [before, &old], [self.after, &new])
    }

    /// Shows the change and makes it if that is wanted; `None` if not.
    pub(crate) fn show_and_make(&self, consent: &Consent) -> Result<Option<Written>, Failure> {
        print(&self.diff())?;
        if consent.dry_run || !(consent.yes || self.ask()?) {
            complain(&[format!("{} was left as it is", self.file.display())]);
            return Ok(None);
        }
        self.make().map(Some)
    }

    /// Makes the change and says so.
    pub(crate) fn make(&self) -> Result<Written, Failure> {
        let written = self.make_quietly()?;
        let kept = written.backup.as_ref().map(|backup| format!("; what was there is in {}", backup.display()));
        complain(&[format!("{} was written{}", written.file.display(), kept.unwrap_or_default())]);
        Ok(written)
    }

    pub(crate) fn make_quietly(&self) -> Result<Written, Failure> {
        Ok(replace(self.file, self.before.map(str::as_bytes), self.after.as_bytes(), SystemTime::now())?)
    }

    /// Asks at the terminal.
    fn ask(&self) -> Result<bool, Failure> {
        let answer = ask(&format!("Change {}? [y/N]", self.file.display()))
            .map_err(|source| Failure::System { what: "asking at the terminal", source })?;
        let answer = answer.ok_or_else(|| Failure::Unasked(self.file.to_owned()))?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }
}
