//! Looking after the store: what is in it, whether it is still what was installed, and taking things out.

use super::{Change, InstallRecord, Manifest, Pin, Store, read_json, tree};
use crate::error::InstallError;
use crate::staging::{blocking, remove, sweep, take_lock};
use std::fs;
use std::path::{Path, PathBuf};

impl Store {
    /// All finished installs, by name.
    pub async fn list(&self) -> Result<Vec<InstallRecord>, InstallError> {
        let this = self.clone();
        blocking(move || this.list_now()).await
    }

    /// How an install differs from what was installed; not at all, if nobody touched it.
    pub async fn verify(&self, id: &str) -> Result<Vec<Change>, InstallError> {
        let directory = self.directory(id)?;
        blocking(move || {
            let manifest = Manifest::read(&directory.join("manifest.json"))?;
            let path = directory.join("files");
            let files = fs::read_to_string(&path).map_err(InstallError::file("read", &path))?;
            if tree::text_digest(&files) != manifest.files {
                let problem = "the list of its files is not the one that was written".to_owned();
                return Err(InstallError::Broken { path, problem });
            }
            Ok(tree::compare(&tree::from_text(&files), &tree::list(&directory.join("tree"))?))
        })
        .await
    }

    /// Removes an install and what is pinned to it. Programs that still run from it lose their files.
    pub async fn remove(&self, id: &str) -> Result<(), InstallError> {
        let directory = self.directory(id)?;
        let (this, id) = (self.clone(), id.to_owned());
        blocking(move || {
            for (path, pin) in this.pins()? {
                if pin.install == id {
                    fs::remove_file(&path).map_err(InstallError::file("remove", &path))?;
                }
            }
            // Out of sight at once, so that nobody ever finds half of it.
            let staging = this.root.join("staging");
            let Some(_lock) = take_lock(&staging.join(format!("{id}.lock")))? else { return Ok(()) };
            let hidden = staging.join(&id);
            fs::rename(&directory, &hidden).map_err(InstallError::file("remove", &directory))?;
            remove(&hidden).map_err(InstallError::file("remove", &hidden))?;
            let lock = staging.join(format!("{id}.lock"));
            fs::remove_file(&lock).map_err(InstallError::file("remove", &lock))
        })
        .await
    }

    /// Removes the installs that no request is pinned to, as refreshes leave them, and says which; and what killed
    /// installs left. Programs that still
    /// run from them lose their files.
    pub async fn collect(&self) -> Result<Vec<String>, InstallError> {
        let staging = self.root.join("staging");
        blocking(move || sweep(&staging)).await?;
        let unpinned = self.list().await?.into_iter().filter(|record| record.pins == 0).map(|record| record.id);
        let mut removed = Vec::new();
        for id in unpinned {
            self.remove(&id).await?;
            removed.push(id);
        }
        Ok(removed)
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
