//! Where the bytes of a file come from.

use crate::base::error::ReadError;
use alloc::boxed::Box;
use alloc::vec::Vec;
use weighbridge_core::Span;

/// Bytes that can be read from any offset: a file, an object in a store, a device.
///
/// ```
/// use weighbridge::{Input, Model, ReadError};
///
/// /// What an HTTP client would fetch with a range request.
/// struct Remote(Vec<u8>);
///
/// impl Input for Remote {
///     fn len(&self) -> u64 {
///         self.0.len() as u64
///     }
///
///     fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
///         let from = offset as usize;
///         buffer.copy_from_slice(&self.0[from..from + buffer.len()]);
///         Ok(())
///     }
/// }
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = Model::from_input(Remote(bytes))?;
/// assert_eq!(model.tensor("emb")?.shape(), [2, 3]);
/// # Ok::<(), weighbridge::Error>(())
/// ```
pub trait Input: Send + Sync {
    /// Length in bytes.
    fn len(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset`. The range lies inside the file.
    ///
    /// # Errors
    /// When not all bytes can be read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError>;

    /// Reads these ranges together, for inputs where a round trip costs more than extra bytes.
    /// Returns pieces of the file with their offsets, which contain the ranges and may be
    /// larger. Returns nothing if reading on demand is cheap; each range is then read when it
    /// is needed.
    ///
    /// # Errors
    /// When not all bytes can be read.
    fn read_together(&self, ranges: &[Span]) -> Result<Vec<(u64, Vec<u8>)>, ReadError> {
        let _ = ranges;
        Ok(Vec::new())
    }

    /// Appends `len` bytes at `offset` to a file, if that is possible without reading them into
    /// memory, and returns how many there were. `None`, the default, if it is not.
    ///
    /// ```
    /// use weighbridge::{FileInput, Input};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("a");
    /// # std::fs::write(&path, b"abc")?;
    /// let to = std::fs::File::create(folder.path().join("b"))?;
    /// let copied = FileInput::open(&path)?.copy_to(1, 9, &to);
    /// assert_eq!(copied.transpose()?, Some(2));
    /// assert_eq!(std::fs::read(folder.path().join("b"))?, b"bc");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "std")]
    fn copy_to(&self, offset: u64, len: u64, to: &std::fs::File) -> Option<std::io::Result<u64>> {
        let _ = (offset, len, to);
        None
    }

    /// Whether it is a file on this machine, or in memory, of which hundreds of scattered pages are
    /// read in a millisecond. A check then also looks for runs of zeros, and of copies of one page, in
    /// the middle of the file. `false` is the default.
    ///
    /// ```
    /// use weighbridge::{FileInput, Input};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// assert!(FileInput::open(&path)?.is_near());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn is_near(&self) -> bool {
        false
    }

    /// Whether the input is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fails if the bytes are known to have changed since opening: what was read is then
    /// neither the old file nor the new one.
    ///
    /// # Errors
    /// [`ReadError::Changed`].
    fn verify_unchanged(&self) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Forwards to another input.
macro_rules! forward {
    ($type:ty) => {
        impl<I: Input + ?Sized> Input for $type {
            fn len(&self) -> u64 {
                (**self).len()
            }

            fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
                (**self).read_at(offset, buffer)
            }

            fn read_together(&self, ranges: &[Span]) -> Result<Vec<(u64, Vec<u8>)>, ReadError> {
                (**self).read_together(ranges)
            }

            fn is_near(&self) -> bool {
                (**self).is_near()
            }

            #[cfg(feature = "std")]
            fn copy_to(
                &self,
                offset: u64,
                len: u64,
                to: &std::fs::File,
            ) -> Option<std::io::Result<u64>> {
                (**self).copy_to(offset, len, to)
            }

            fn verify_unchanged(&self) -> Result<(), ReadError> {
                (**self).verify_unchanged()
            }
        }
    };
}

forward!(&I);
forward!(Box<I>);

#[cfg(feature = "std")]
pub use files::FileInput;
#[cfg(feature = "std")]
pub(crate) use files::Seekable;
#[cfg(feature = "policy")]
pub(crate) use files::open_regular;

#[cfg(feature = "std")]
mod files {
    use super::Input;
    use crate::base::error::ReadError;
    use crate::base::lock::Lock;
    use std::fs::{self, File};
    use std::io::{self, Read, Seek, SeekFrom};
    use std::path::Path;
    use std::time::SystemTime;

    /// A file on disk. It is read, not mapped: if it shrinks meanwhile, reading returns an
    /// error, whereas a mapping would kill the process with a signal.
    ///
    /// ```
    /// use weighbridge::{FileInput, Input};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// let file = FileInput::open(&path)?;
    /// let mut head = [0; 8];
    /// file.read_at(0, &mut head)?;
    /// assert!(u64::from_le_bytes(head) < file.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Debug)]
    pub struct FileInput {
        file: File,
        len: u64,
        modified: Option<SystemTime>,
        /// Held while the position of the file is used.
        position: Lock<()>,
    }

    impl FileInput {
        /// Opens a regular file. Nothing is read yet.
        ///
        /// ```
        /// use weighbridge::FileInput;
        ///
        /// assert_eq!(FileInput::open(".").unwrap_err().to_string(), "is a folder, not a file");
        /// ```
        ///
        /// # Errors
        /// When it cannot be opened, or is not a regular file.
        pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
            FileInput::of(open_regular(path.as_ref())?)
        }

        /// Wraps an open file.
        ///
        /// ```
        /// use weighbridge::{FileInput, Options, Profile, check_input};
        /// use std::io::Write as _;
        ///
        /// let mut file = tempfile::tempfile()?;
        /// file.write_all(&weighbridge_tests::samples::safetensors())?;
        /// let report = check_input(FileInput::of(file)?, &Options::new())?;
        /// assert!(report.verdict(Profile::Strict).is_valid());
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        ///
        /// # Errors
        /// When it is not a regular file.
        pub fn of(file: File) -> Result<Self, ReadError> {
            let metadata = file.metadata()?;
            regular(&metadata)?;
            let (len, modified) = (metadata.len(), metadata.modified().ok());
            Ok(FileInput { file, len, modified, position: Lock::new(()) })
        }
    }

    impl Input for FileInput {
        fn len(&self) -> u64 {
            self.len
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
            let mut done = 0;
            while done < buffer.len() {
                match read_at(&self.file, &mut buffer[done..], offset + done as u64) {
                    Ok(0) => return Err(ReadError::Changed),
                    Ok(n) => done += n,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(())
        }

        fn is_near(&self) -> bool {
            true
        }

        fn copy_to(&self, offset: u64, len: u64, to: &File) -> Option<io::Result<u64>> {
            Some(self.position.with(|()| {
                let (mut from, mut to) = (&self.file, to);
                from.seek(SeekFrom::Start(offset))?;
                // On Linux the kernel copies.
                io::copy(&mut from.take(len), &mut to)
            }))
        }

        fn verify_unchanged(&self) -> Result<(), ReadError> {
            let now = self.file.metadata()?;
            let same = now.len() == self.len && now.modified().ok() == self.modified;
            if same { Ok(()) } else { Err(ReadError::Changed) }
        }
    }

    /// Opens a regular file.
    pub(crate) fn open_regular(path: &Path) -> Result<File, ReadError> {
        // Before opening, because opening a pipe waits for a writer.
        regular(&fs::metadata(path)?)?;
        Ok(File::open(path)?)
    }

    fn regular(metadata: &fs::Metadata) -> Result<(), ReadError> {
        if metadata.is_file() {
            Ok(())
        } else if metadata.is_dir() {
            Err(ReadError::NotAFile("a folder"))
        } else {
            Err(ReadError::NotAFile("a pipe or a device"))
        }
    }

    #[cfg(unix)]
    fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(file, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
    }

    #[cfg(not(any(unix, windows)))]
    fn read_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        file.seek(SeekFrom::Start(offset))?;
        file.read(bytes)
    }

    /// A seekable reader that serves one read at a time.
    #[derive(Debug)]
    pub(crate) struct Seekable<R> {
        reader: Lock<R>,
        len: u64,
    }

    impl<R: Read + Seek> Seekable<R> {
        pub(crate) fn new(mut reader: R) -> Result<Self, ReadError> {
            let len = reader.seek(SeekFrom::End(0))?;
            Ok(Seekable { reader: Lock::new(reader), len })
        }
    }

    impl<R: Read + Seek + Send> Input for Seekable<R> {
        fn len(&self) -> u64 {
            self.len
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
            self.reader.with(|reader| {
                reader.seek(SeekFrom::Start(offset))?;
                reader.read_exact(buffer).map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof => ReadError::Changed,
                    _ => error.into(),
                })
            })
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use alloc::string::ToString as _;
        use alloc::vec;
        use alloc::vec::Vec;
        use std::io::Write as _;

        fn sample(len: usize) -> tempfile::NamedTempFile {
            let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
            file.write_all(&vec![7; len]).expect("room for the sample");
            file
        }

        #[test]
        fn changed_file_length_is_error() {
            let sample = sample(100_000);
            let file = FileInput::open(sample.path()).expect("opens");
            file.verify_unchanged().expect("as it was");
            file.read_at(0, &mut [0; 8]).expect("it is there");
            sample.as_file().set_len(60_000).expect("shrinks");
            let read = file.read_at(59_990, &mut [0; 20]);
            assert!(matches!(read, Err(ReadError::Changed)));
            assert!(matches!(file.verify_unchanged(), Err(ReadError::Changed)));
        }

        #[test]
        fn folder_is_no_input() {
            let error = FileInput::open(Path::new(".")).expect_err("a folder");
            assert_eq!(error.to_string(), "is a folder, not a file");
        }

        #[test]
        fn seekable_reader_reads_any_range() {
            let input = Seekable::new(io::Cursor::new((0..100_u8).collect::<Vec<_>>()));
            let input = input.expect("it seeks");
            let mut buffer = [0; 3];
            input.read_at(97, &mut buffer).expect("it is there");
            assert_eq!((input.len(), buffer), (100, [97, 98, 99]));
            assert!(matches!(input.read_at(98, &mut buffer), Err(ReadError::Changed)));
        }
    }
}
