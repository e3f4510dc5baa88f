//! Files with what is nobody else's business: customers, commands, tokens.
//!
//! Only their owner may read and write them, from their first byte on and whatever was there before, and no link in
//! place of one is followed. Links on the way to its folder are: that is the caller's path. Whoever else may write to
//! the folder can still exchange whole files, so it should not be a shared one. Where files have no Unix permissions, the
//! folder's are those that count.

// A test includes it too.
#![allow(dead_code)]

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// What is there, if anything is. What is no plain file, such as a link, is an error.
pub(crate) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    let why = match fs::symlink_metadata(path) {
        Ok(data) if data.is_file() => return Ok(Some(data)),
        Ok(data) if data.is_symlink() => "it is a symbolic link, which is not followed",
        Ok(_) => "it is not a file",
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return naming(path, Err(error)),
    };
    naming(path, Err(io::Error::other(why)))
}

/// The file that is there, if one is. From now on it is its owner's alone, and somebody else's is an error.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    look(path)?;
    let open = || -> io::Result<File> {
        let file = options().open(path)?;
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        Ok(file)
    };
    match open() {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => naming(path, Err(error)),
    }
}

/// A new file; an error if there is one.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    naming(path, options().create_new(true).open(path))
}

/// A new file in place of the one that is there, which may be somebody else's or have another name.
pub(crate) fn create_anew(path: &Path) -> io::Result<File> {
    if look(path)?.is_some() {
        naming(path, fs::remove_file(path))?;
    }
    create(path)
}

/// Writes a file that is there whole, or as it was before.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    look(path)?;
    let fresh = beside(path, ".new");
    let mut file = create_anew(&fresh)?;
    naming(&fresh, file.write_all(bytes))?;
    naming(&fresh, file.sync_data())?;
    naming(path, fs::rename(&fresh, path))
}

/// What became of a file, with its name in the error.
pub(crate) fn naming<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    let named = |error: io::Error| format!("{}: {error}", path.display());
    result.map_err(|error| io::Error::new(error.kind(), named(error)))
}

/// The name of a file and what is put after it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A folder for this run of the program, which nobody else can look into. It goes with what is in it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(false);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // What is there already, in a folder that everybody can write to, is not ours, whatever it is.
        let mut number = std::process::id();
        loop {
            let path = std::env::temp_dir().join(format!("{name}-{number}"));
            match builder.create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    number = number.wrapping_add(1);
                }
                Err(error) => return naming(&path, Err(error)),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A pipe that took the place of the file in the last moment is not waited for.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        options.mode(0o600).custom_flags(flags);
    }
    options
}
