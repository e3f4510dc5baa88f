//! Writes a file so that it is either complete or absent, whenever the program dies.
//!
//! An export to `people.csv` has three files:
//!
//! - `people.csv.part` grows by whole pages.
//! - `people.csv.checkpoint` contains the number of valid bytes in the part, and the position of the list after them. A
//!   rename replaces it once those bytes are on the disk, so that bytes and position always agree.
//! - `people.csv` appears by a rename, after a checkpoint at the end of the list.
//!
//! A resumed export truncates the part after the valid bytes, and fetches the following pages again, so no record is
//! lost or repeated.
//!
//! On Unix, a lock on the part prevents a second export to the same file. Only their owner can read the files, and none
//! of them may be a link.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use sdk_core::Checkpoint;
use serde::Deserialize;
use serde_json::json;

use super::encode::Encoder;
use crate::private::{self, with_path, with_suffix};

#[derive(Deserialize)]
pub(crate) struct Saved {
    pub(crate) checkpoint: Checkpoint,
    /// The number of valid bytes in the part.
    pub(crate) bytes: u64,
    pub(crate) encoder: Encoder,
    pub(crate) client: String,
}

pub(crate) struct Target {
    file: PathBuf,
    part: File,
    bytes: u64,
    client: String,
}

impl Target {
    /// Opens or creates the part, and locks it against other exports.
    pub(crate) fn claim(file: &Path, client: &str) -> io::Result<Self> {
        // If the file can't be published at the end, the export doesn't begin.
        private::plain_file(file)?;
        let path = part(file);
        let part = match private::open(&path)? {
            Some(part) => part,
            None => private::create(&path).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => busy(file),
                _ => error,
            })?,
        };
        lock(file, &part)?;
        let file = file.to_owned();
        Ok(Self {
            file,
            part,
            bytes: 0,
            client: client.to_owned(),
        })
    }

    /// Returns the state of an interrupted export. An empty part has nothing to resume, even if there is a checkpoint,
    /// because an export may have died after it published its file.
    pub(crate) fn interrupted(&self) -> io::Result<Option<Saved>> {
        let (length, path) = (self.part.metadata()?.len(), checkpoint(&self.file));
        let Some(mut file) = private::open(&path)?.filter(|_| length > 0) else {
            return Ok(None);
        };
        let mut json = Vec::new();
        with_path(&path, file.read_to_end(&mut json))?;
        let saved: io::Result<Saved> = serde_json::from_slice(&json).map_err(Into::into);
        let saved = with_path(&path, saved)?;
        if length < saved.bytes {
            let message = format!("it has fewer than the {} saved bytes", saved.bytes);
            return with_path(&part(&self.file), Err(io::Error::other(message)));
        }
        Ok(Some(saved))
    }

    pub(crate) fn begin(&mut self) -> io::Result<()> {
        // The checkpoint is removed first, because it refers to bytes that the part is about to lose.
        remove_checkpoint(&self.file)?;
        self.resume(0)
    }

    /// Continues after the valid bytes.
    pub(crate) fn resume(&mut self, bytes: u64) -> io::Result<()> {
        let cut = self.part.set_len(bytes);
        let cut = cut.and_then(|()| self.part.seek(SeekFrom::Start(bytes)));
        with_path(&part(&self.file), cut)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Adds rows, which become valid with the next checkpoint.
    pub(crate) fn append(&mut self, rows: &[u8]) -> io::Result<()> {
        with_path(&part(&self.file), self.part.write_all(rows))?;
        self.bytes += rows.len() as u64;
        Ok(())
    }

    pub(crate) fn save(&mut self, checkpoint: &Checkpoint, encoder: &Encoder) -> io::Result<()> {
        with_path(&part(&self.file), self.part.sync_data())?;
        let saved = json!({
            "checkpoint": checkpoint, "bytes": self.bytes, "encoder": encoder, "client": self.client,
        });
        let path = self::checkpoint(&self.file);
        private::replace(&path, saved.to_string().as_bytes())?;
        sync_folder(&self.file)
    }

    /// Renames the complete part to the file, after a checkpoint at the end, and returns its size.
    pub(crate) fn publish(self) -> io::Result<u64> {
        private::plain_file(&self.file)?;
        let part = part(&self.file);
        with_path(&part, fs::rename(&part, &self.file))?;
        sync_folder(&self.file)?;
        remove_checkpoint(&self.file)?;
        Ok(self.bytes)
    }

    pub(crate) fn discard(&mut self) -> io::Result<()> {
        remove_checkpoint(&self.file)?;
        let part = part(&self.file);
        with_path(&part, fs::remove_file(&part))
    }
}

fn part(file: &Path) -> PathBuf {
    with_suffix(file, ".part")
}

fn checkpoint(file: &Path) -> PathBuf {
    with_suffix(file, ".checkpoint")
}

fn remove_checkpoint(file: &Path) -> io::Result<()> {
    let path = checkpoint(file);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => with_path(&path, Err(error)),
        _ => sync_folder(file),
    }
}

#[cfg(unix)]
fn lock(file: &Path, part: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{FlockOperation, flock};
    let path = self::part(file);
    match flock(part, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => return Err(busy(file)),
        locked => with_path(&path, locked.map_err(Into::into))?,
    }
    // The export that held the lock may just have published the part.
    let held = with_path(&path, part.metadata())?;
    match private::plain_file(&path)? {
        Some(found) if (found.dev(), found.ino()) == (held.dev(), held.ino()) => Ok(()),
        _ => Err(busy(file)),
    }
}

#[cfg(not(unix))]
fn lock(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

fn busy(file: &Path) -> io::Error {
    let message = format!("{}: another export is writing to it", file.display());
    io::Error::new(ErrorKind::ResourceBusy, message)
}

/// Syncs the folder, if the system supports this, so that renames and removals survive a power cut.
fn sync_folder(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|path| !path.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match File::open(folder) {
        Ok(open) if cfg!(unix) => with_path(folder, open.sync_all()),
        _ => Ok(()),
    }
}
