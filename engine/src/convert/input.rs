//! Opens what is imported: a file or standard input, plain or compressed by gzip or zstd.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::trace::{unpack, TraceError};

/// With its method, deflate, since a binary trace may begin with the two bytes that announce gzip.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Opens a file, or standard input where the path is -.
pub fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

/// The text or the bytes themselves, whatever they are packed in. Reading fails with UnexpectedEof, InvalidData or
/// InvalidInput where the compressed data are cut off or damaged.
pub fn unpacked<'a>(mut raw: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut magic = Vec::new();
    (&mut raw).take(ZSTD.len() as u64).read_to_end(&mut magic)?;
    let packed = magic.starts_with(&GZIP) || magic == ZSTD;
    let whole = io::Cursor::new(magic).chain(raw);
    if !packed {
        return Ok(Box::new(whole));
    }
    unpack(whole).map_err(|error| match error {
        TraceError::Io(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// "read again\n" as zstd 1.5 writes it.
    const FRAME: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x59\x00\x00read again\n\x00\xe1\xc2\x07";

    fn text_of(raw: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        unpacked(raw)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn what_is_packed_is_unpacked_and_the_rest_stays() {
        for text in ["", "a", "1,a,0,1\n", "\x1f\x01 no gzip"] {
            assert_eq!(text_of(text.as_bytes()).unwrap(), text);
        }
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        member.write_all(b"read again\n").unwrap();
        assert_eq!(text_of(&member.finish().unwrap()).unwrap(), "read again\n");
        assert_eq!(text_of(FRAME).unwrap(), "read again\n");
        let cut = text_of(&FRAME[..FRAME.len() - 3]).unwrap_err();
        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof);
    }
}
