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
//! those pages are fetched again: no record is lost, none is there twice.
//!
//! One export at a time writes to a file: it holds a lock on the part, and another one is refused. Where there are no Unix
//! locks, nobody holds it back.
//!
//! All of them are for their owner only, and none may be a link.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use sdk_core::Checkpoint;
use serde::{Deserialize, Serialize};

use super::private::{self, beside, naming};

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

/// Where an export goes to. If there is a part, no other export that still runs writes to it.
#[derive(Debug)]
pub(crate) struct Place {
    file: PathBuf,
    part: Option<Locked>,
}

impl Place {
    pub(crate) fn claim(file: &Path) -> io::Result<Self> {
        let part = private::open(&part(file))?;
        let part = part.map(|part| Locked::new(file, part)).transpose()?;
        let file = file.to_owned();
        Ok(Self { file, part })
    }

    /// Looks for what an earlier export has left.
    pub(crate) fn look(&self) -> io::Result<Found> {
        let path = checkpoint(&self.file);
        let Some(mut json) = private::open(&path)? else {
            return Ok(Found::Nothing);
        };
        let mut text = Vec::new();
        naming(&path, json.read_to_end(&mut text))?;
        let saved: Saved = serde_json::from_slice(&text).map_err(|error| {
            let path = path.display();
            io::Error::other(format!("{path}: {error}; --restart begins anew"))
        })?;
        if let Some(part) = &self.part {
            if part.0.metadata()?.len() >= saved.bytes {
                return Ok(Found::Interrupted(saved));
            }
        } else if saved.checkpoint.is_finished()
            && let Some(data) = private::look(&self.file)?
            && data.len() == saved.bytes
        {
            return Ok(Found::Complete(saved));
        }
        Err(io::Error::other(format!(
            "{} does not hold the {} bytes that its checkpoint speaks of; --restart begins anew",
            part(&self.file).display(),
            saved.bytes
        )))
    }

    /// Begins with nothing.
    pub(crate) fn begin(self) -> io::Result<Target> {
        // What could not be published in the end is not begun.
        private::look(&self.file)?;
        let path = part(&self.file);
        let part = if self.part.is_some() {
            // The checkpoint goes first: it speaks of what the part is about to lose.
            forget(&self.file)?;
            private::create_anew(&path)
        } else {
            private::create(&path)
        };
        let part = part.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => busy(&self.file),
            _ => error,
        })?;
        let part = Locked::new(&self.file, part)?;
        // Without a part, too, there may be one: of a complete export that died, and is not wanted.
        forget(&self.file)?;
        Target::of(self.file, part, 0)
    }

    /// Goes on after the bytes that count.
    pub(crate) fn go_on(self, saved: &Saved) -> io::Result<Target> {
        private::look(&self.file)?;
        let part = self.part.ok_or(ErrorKind::NotFound)?;
        Target::of(self.file, part, saved.bytes)
    }
}

/// Forgets an export that is complete or not wanted.
pub(crate) fn forget(file: &Path) -> io::Result<()> {
    let path = checkpoint(file);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => naming(&path, Err(error)),
        _ => settle(file),
    }
}

/// An export under way.
#[derive(Debug)]
pub(crate) struct Target {
    file: PathBuf,
    pub(crate) part: Locked,
    bytes: u64,
}

impl Target {
    fn of(file: PathBuf, mut part: Locked, bytes: u64) -> io::Result<Self> {
        let begun = part.0.set_len(bytes);
        let begun = begun.and_then(|()| part.0.seek(SeekFrom::Start(bytes)));
        naming(&self::part(&file), begun)?;
        Ok(Self { file, part, bytes })
    }

    /// Adds what counts from the next checkpoint on.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        naming(&part(&self.file), self.part.0.write_all(bytes))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Makes everything so far count.
    pub(crate) fn save(
        &mut self,
        checkpoint: Checkpoint,
        columns: Option<Vec<String>>,
    ) -> io::Result<()> {
        naming(&part(&self.file), self.part.0.sync_data())?;
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
        let part = part(&self.file);
        naming(&part, fs::rename(&part, &self.file))?;
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

/// A part that other exports are kept from for as long as this exists.
#[derive(Debug)]
pub(crate) struct Locked(pub(crate) File);

#[cfg(unix)]
impl Locked {
    fn new(file: &Path, part: File) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;

        use rustix::fs::{FlockOperation, flock};
        let path = self::part(file);
        match flock(&part, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(busy(file)),
            locked => naming(&path, locked.map_err(Into::into))?,
        }
        let part = Self(part);
        // The process that had the lock may have published the part in the last moment, or put another one in its place.
        let held = naming(&path, part.0.metadata())?;
        match private::look(&path)? {
            Some(found) if (found.dev(), found.ino()) == (held.dev(), held.ino()) => Ok(part),
            _ => Err(busy(file)),
        }
    }
}

#[cfg(not(unix))]
impl Locked {
    fn new(_: &Path, part: File) -> io::Result<Self> {
        Ok(Self(part))
    }
}

#[cfg(unix)]
impl Drop for Locked {
    /// Closing the file is not enough: the lock lasts while any copy of the descriptor is open, and a child process that
    /// this program starts has copies of all descriptors until it runs its own program.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

fn busy(file: &Path) -> io::Error {
    let why = format!("{}: another export is writing to it", file.display());
    io::Error::new(ErrorKind::ResourceBusy, why)
}

/// Makes renames and removals outlast a power cut, where a folder can be synchronised.
fn settle(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|path| !path.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match File::open(folder) {
        Ok(open) if cfg!(unix) => naming(folder, open.sync_all()),
        _ => Ok(()),
    }
}
