//! Looking after the store: what is in it, whether it is still what was installed, and taking things out.

use super::{InstallRecord, Manifest, Pin, Store, read_json};
use crate::error::InstallError;
use crate::foreign::failed;
use crate::staging::{REMOVAL, blocking, remove, sweep, take_lock};
use kennel_tree::{Bounds, Change};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the files of an install may take to be compared with their list.
const VERIFYING: Duration = Duration::from_mins(30);

impl Store {
    /// All finished installs, by name.
    pub async fn list(&self) -> Result<Vec<InstallRecord>, InstallError> {
        let this = self.clone();
        blocking(move || this.list_now()).await
    }

    /// How an install differs from what was installed; not at all, if nobody touched it.
    pub async fn verify(&self, id: &str) -> Result<Vec<Change>, InstallError> {
        let (this, id) = (self.clone(), id.to_owned());
        let found = blocking(move || {
            let directory = this.directory(&id)?;
            Ok((Manifest::read(&directory.join("manifest.json"))?, directory))
        });
        let (manifest, directory) = found.await?;
        let bounds = Bounds { time: VERIFYING, ..Bounds::default() };
        // As many as there may be in any install: the list says how many there were.
        let bounds = Bounds { entries: u64::MAX, bytes: u64::MAX, ..bounds };
        let mut session = self.trees.open(&directory, bounds).await.map_err(failed("verify", &directory))?;
        let compared = session.compare(Path::new("tree"), Path::new("files")).await;
        let compared = compared.map_err(failed("verify", &directory))?;
        if compared.digest != manifest.files {
            let problem = "the list of its files is not the one that was written".to_owned();
            return Err(InstallError::Broken { path: directory.join("files"), problem });
        }
        Ok(compared.changes)
    }

    /// Removes an install and what is pinned to it. Programs that still run from it lose their files.
    pub async fn remove(&self, id: &str) -> Result<(), InstallError> {
        let (this, name) = (self.clone(), id.to_owned());
        let staging = self.root.join("staging");
        // Out of sight at once, so that nobody ever finds half of it.
        let hidden = blocking(move || {
            let directory = this.directory(&name)?;
            for (path, pin) in this.pins()? {
                if pin.install == name {
                    fs::remove_file(&path).map_err(InstallError::file("remove", &path))?;
                }
            }
            let staging = this.root.join("staging");
            let Some(lock) = take_lock(&staging.join(format!("{name}.lock")))? else { return Ok(None) };
            let hidden = staging.join(&name);
            fs::rename(&directory, &hidden).map_err(InstallError::file("remove", &directory))?;
            Ok(Some(lock))
        });
        let Some(lock) = hidden.await? else { return Ok(()) };
        remove(&self.trees, &staging, id, REMOVAL).await?;
        let path = staging.join(format!("{id}.lock"));
        blocking(move || {
            let removed = fs::remove_file(&path).map_err(InstallError::file("remove", &path));
            drop(lock);
            removed
        })
        .await
    }

    /// Removes the installs that no request is pinned to, as refreshes leave them, and says which; and what killed
    /// installs left. Programs that still run from them lose their files. One that cannot be removed stops no other; the
    /// first such error is returned when all have been tried.
    pub async fn collect(&self) -> Result<Vec<String>, InstallError> {
        let staging = self.root.join("staging");
        sweep(&self.trees, &staging, &|_| ()).await;
        let unpinned = self.list().await?.into_iter().filter(|record| record.pins == 0).map(|record| record.id);
        let (mut removed, mut first_error) = (Vec::new(), None);
        for id in unpinned {
            match self.remove(&id).await {
                Ok(()) => removed.push(id),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(removed), Err)
    }

    fn list_now(&self) -> Result<Vec<InstallRecord>, InstallError> {
        let pins = self.pins()?;
        let mut records = Vec::new();
        for path in entries(&self.root.join("installs"))? {
            let Some(id) = path.file_name().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
            let manifest = Manifest::read(&path.join("manifest.json"))?;
            let pins = pins.iter().filter(|(_, pin)| pin.install == id).count();
            records.push(InstallRecord { id, manifest, pins });
        }
        records.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(records)
    }

    fn pins(&self) -> Result<Vec<(PathBuf, Pin)>, InstallError> {
        let paths = entries(&self.root.join("requests"))?.into_iter();
        let pins = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        pins.map(|path| read_json(&path).map(|pin| (path, pin))).collect()
    }
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let failed = || InstallError::file("list", directory);
    let entries = fs::read_dir(directory).map_err(failed())?;
    entries.map(|entry| Ok(entry.map_err(failed())?.path())).collect()
}
