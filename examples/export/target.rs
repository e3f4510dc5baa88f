//! A file that is there whole or not at all, whenever its writer dies.
//!
//! Three files take part, for an export to `people.csv`:
//!
//! - `people.csv.part` grows by whole pages.
//! - `people.csv.checkpoint` says how many bytes of it count, and where the walk goes on after them. It is replaced by a
//!   rename, and only after those bytes are on the disk: bytes and place never disagree.
//! - `people.csv` appears by a rename once the checkpoint says that the walk is finished.
//!
//! Whatever the part holds beyond the bytes that count was written after the last checkpoint. It is cut off, and
//! those pages are fetched again: no record is lost, none is there twice. One export at a time may write to a file.
//!
//! All of them are for their owner only, and none may be a link.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use sdk_core::Checkpoint;
use serde::{Deserialize, Serialize};

use super::private::{self, beside};

/// What the checkpoint file holds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) checkpoint: Checkpoint,
    /// How many bytes of the part count.
    pub(crate) bytes: u64,
    /// The columns of a CSV file, once they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) columns: Option<Vec<String>>,
}

/// What an earlier export to the same file has left.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    Interrupted(Saved),
    /// It died after the file was published and before its checkpoint was removed.
    Complete(Saved),
}

/// Looks for what an earlier export has left.
pub(crate) fn look(file: &Path) -> io::Result<Found> {
    let path = checkpoint(file);
    let Some(mut json) = private::open(&path)? else {
        return Ok(Found::Nothing);
    };
    let mut text = Vec::new();
    json.read_to_end(&mut text)?;
    let saved: Saved = serde_json::from_slice(&text).map_err(|error| {
        let path = path.display();
        io::Error::other(format!("{path}: {error}; --restart begins anew"))
    })?;
    let length = |path: &Path| -> io::Result<Option<u64>> {
        let file = private::open(path)?;
        let data = file.map(|file| file.metadata()).transpose()?;
        Ok(data.map(|data| data.len()))
    };
    if let Some(length) = length(&part(file))? {
        if length >= saved.bytes {
            return Ok(Found::Interrupted(saved));
        }
    } else if saved.checkpoint.is_finished() && length(file)? == Some(saved.bytes) {
        return Ok(Found::Complete(saved));
    }
    Err(io::Error::other(format!(
        "{} does not hold the {} bytes that its checkpoint speaks of; --restart begins anew",
        part(file).display(),
        saved.bytes
    )))
}

/// Forgets an export that is complete or not wanted.
pub(crate) fn forget(file: &Path) -> io::Result<()> {
    match fs::remove_file(checkpoint(file)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => settle(file),
    }
}

/// An export under way.
#[derive(Debug)]
pub(crate) struct Target {
    file: PathBuf,
    part: File,
    bytes: u64,
}

impl Target {
    /// Begins with nothing.
    pub(crate) fn begin(file: &Path) -> io::Result<Self> {
        // What could not be published in the end is not begun.
        private::look(file)?;
        // The checkpoint goes first: it speaks of what the part is about to lose.
        forget(file)?;
        Self::of(file, private::create_anew(&part(file))?, 0)
    }

    /// Goes on after the bytes that count.
    pub(crate) fn go_on(file: &Path, saved: &Saved) -> io::Result<Self> {
        private::look(file)?;
        let part = private::open(&part(file))?.ok_or(io::ErrorKind::NotFound)?;
        Self::of(file, part, saved.bytes)
    }

    fn of(file: &Path, mut part: File, bytes: u64) -> io::Result<Self> {
        part.set_len(bytes)?;
        part.seek(SeekFrom::Start(bytes))?;
        Ok(Self {
            file: file.to_owned(),
            part,
            bytes,
        })
    }

    /// Adds what counts from the next checkpoint on.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.part.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Makes everything so far count.
    pub(crate) fn save(
        &mut self,
        checkpoint: Checkpoint,
        columns: Option<Vec<String>>,
    ) -> io::Result<()> {
        self.part.sync_data()?;
        let saved = Saved {
            checkpoint,
            bytes: self.bytes,
            columns,
        };
        private::replace(&self::checkpoint(&self.file), &serde_json::to_vec(&saved)?)?;
        settle(&self.file)
    }

    /// Gives the finished file its name. The checkpoint must have been saved.
    pub(crate) fn publish(self) -> io::Result<(PathBuf, u64)> {
        private::look(&self.file)?;
        fs::rename(part(&self.file), &self.file)?;
        settle(&self.file)?;
        forget(&self.file)?;
        Ok((self.file, self.bytes))
    }
}

fn part(file: &Path) -> PathBuf {
    beside(file, ".part")
}

fn checkpoint(file: &Path) -> PathBuf {
    beside(file, ".checkpoint")
}

/// Makes renames and removals outlast a power cut, where a folder can be synchronised.
fn settle(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|path| !path.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))) {
        Ok(folder) if cfg!(unix) => folder.sync_all(),
        _ => Ok(()),
    }
}
