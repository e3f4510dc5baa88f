//! Writes files with customer data or commands.
//!
//! Only the owner can read and write these files, from the first byte on, even if a file existed before. If the file is
//! a link, this is an error. Links in the path of its folder are followed, because the caller chose that path. Other
//! users with write access to the folder can still replace whole files, so don't use a shared folder. On systems
//! without Unix permissions, the permissions of the folder apply.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Returns the metadata of the file at this path, if it exists. Anything but a plain file, such as a link, is an error.
pub(crate) fn plain_file(path: &Path) -> io::Result<Option<Metadata>> {
    let why = match fs::symlink_metadata(path) {
        Ok(data) if data.is_file() => return Ok(Some(data)),
        Ok(data) if data.is_symlink() => "it is a symbolic link, which is not followed",
        Ok(_) => "it is not a file",
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return with_path(path, Err(error)),
    };
    with_path(path, Err(io::Error::other(why)))
}

/// Opens the file at this path, if it exists, and restricts it to its owner. Another user's file is an error.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    plain_file(path)?;
    let open = || -> io::Result<File> {
        let file = options().open(path)?;
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        Ok(file)
    };
    match open() {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => with_path(path, Err(error)),
    }
}

/// An existing file is an error.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    with_path(path, options().create_new(true).open(path))
}

/// Creates a file, and first removes an existing file, which may belong to another user or have a second name.
fn create_anew(path: &Path) -> io::Result<File> {
    if plain_file(path)?.is_some() {
        with_path(path, fs::remove_file(path))?;
    }
    create(path)
}

/// Replaces a file. After an error, the old file is unchanged.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    plain_file(path)?;
    let fresh = with_suffix(path, ".new");
    let mut file = create_anew(&fresh)?;
    with_path(&fresh, file.write_all(bytes))?;
    with_path(&fresh, file.sync_data())?;
    with_path(path, fs::rename(&fresh, path))
}

pub(crate) fn with_path<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    let named = |error: io::Error| format!("{}: {error}", path.display());
    result.map_err(|error| io::Error::new(error.kind(), named(error)))
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // If a pipe just replaced the file, opening it must not wait for a writer.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        options.mode(0o600).custom_flags(flags);
    }
    options
}
