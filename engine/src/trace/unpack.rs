//! The text of a trace file, whatever it is packed in: gzip, zstd, or nothing. Its first bytes tell.
//!
//! Both decoders are Rust: the engine then builds wherever Rust does, also where no C compiler is.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::TraceError;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// What a trace begins with that somebody unpacked.
const TEXT: &[u8] = b"# zmysql-trace:";

const FILE_BUFFER_BYTES: usize = 1 << 18;

/// The text of a file. It fails with UnexpectedEof where the file is cut off, and with InvalidData or InvalidInput
/// where it is damaged. A file may have several gzip members or zstd frames, one after the other, but not both.
pub fn unpack<'a>(mut file: impl Read + Send + 'a) -> Result<Box<dyn Read + Send + 'a>, TraceError> {
    let mut magic = Vec::new();
    (&mut file).take(TEXT.len() as u64).read_to_end(&mut magic).map_err(TraceError::Io)?;
    let (gzip, zstd, text) = (magic.starts_with(&GZIP), magic.starts_with(&ZSTD), magic == TEXT);
    let whole = BufReader::with_capacity(FILE_BUFFER_BYTES, io::Cursor::new(magic).chain(file));
    match (gzip, zstd, text) {
        (true, _, _) => Ok(Box::new(MultiGzDecoder::new(whole))),
        (_, true, _) => Ok(Box::new(ZstdFrames::new(whole))),
        (_, _, true) => Ok(Box::new(whole)),
        _ => Err(TraceError::Foreign),
    }
}

/// Reads zstd frames, and skips the skippable ones among them (RFC 8878). A frame that needs a window of more than
/// 128 MiB is damaged in our eyes, as in zstd(1)'s: nobody may make us hold as much.
struct ZstdFrames<R> {
    packed: Watched<R>,
    frame: FrameDecoder,
    within_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(packed: R) -> Self {
        Self { packed: Watched { source: packed, ended: false }, frame: FrameDecoder::new(), within_frame: false }
    }

    /// Goes to the next frame; false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.packed.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.frame.reset(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut (&mut self.packed).take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(_) => return Err(self.packed.why()),
            }
        }
    }

    /// The checksum at a frame's end, where it has one.
    fn check(&self) -> io::Result<()> {
        match self.frame.get_checksum_from_data() {
            Some(said) if self.frame.get_calculated_checksum() != Some(said) => Err(io::ErrorKind::InvalidData.into()),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.within_frame && self.frame.can_collect() > 0 {
                return self.frame.read(into);
            }
            if self.within_frame && !self.frame.is_finished() {
                let decoded = self.frame.decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBlocks(1));
                decoded.map_err(|_| self.packed.why())?;
            } else {
                if self.within_frame {
                    self.check()?;
                }
                self.within_frame = self.next_frame()?;
                if !self.within_frame {
                    return Ok(0);
                }
            }
        }
    }
}

/// Knows whether its source came to the end, and so whether a failed decoding lacked bytes or met wrong ones.
struct Watched<R> {
    source: R,
    ended: bool,
}

impl<R> Watched<R> {
    fn why(&self) -> io::Error {
        if self.ended { io::ErrorKind::UnexpectedEof } else { io::ErrorKind::InvalidData }.into()
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.ended |= read == 0 && !into.is_empty();
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ruzstd::encoding::{compress_to_vec, CompressionLevel};

    use super::*;

    const LINES: &str = "# zmysql-trace: 1\n5 54 128 0 17 16384 miss\n6 54 128 0 18 16384 arc\n";

    fn gzip(text: &str) -> Vec<u8> {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        member.write_all(text.as_bytes()).unwrap();
        member.finish().unwrap()
    }

    fn zstd(text: &str) -> Vec<u8> {
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    fn text_of(file: &[u8]) -> Result<String, io::ErrorKind> {
        let mut text = String::new();
        unpack(file).expect("its kind is known").read_to_string(&mut text).map_err(|error| error.kind())?;
        Ok(text)
    }

    #[test]
    fn gzip_zstd_and_text_are_known_by_their_first_bytes() {
        for file in [gzip(LINES), zstd(LINES), LINES.into()] {
            assert_eq!(text_of(&file).unwrap(), LINES);
        }
        for file in ["", "#", "# another text\n", "\x1f", "PK\x03\x04", "\x28\u{b5}"] {
            assert!(matches!(unpack(file.as_bytes()), Err(TraceError::Foreign)), "{file:?}");
        }
    }

    #[test]
    fn members_and_frames_follow_each_other_but_not_each_the_other() {
        let (twice, skipped) = (LINES.repeat(2), *b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc");
        assert_eq!(text_of(&[gzip(LINES), gzip(LINES)].concat()).unwrap(), twice);
        assert_eq!(text_of(&[zstd(LINES), zstd(LINES)].concat()).unwrap(), twice);
        assert_eq!(text_of(&[zstd(LINES), skipped.into(), zstd(""), zstd(LINES)].concat()).unwrap(), twice);
        assert_eq!(text_of(&[gzip(LINES), zstd(LINES)].concat()), Err(io::ErrorKind::InvalidInput));
        assert_eq!(text_of(&[zstd(LINES), gzip(LINES)].concat()), Err(io::ErrorKind::InvalidData));
    }

    #[test]
    fn zstd_that_is_cut_off_is_told_from_zstd_that_is_damaged() {
        let whole = [zstd(LINES), zstd(LINES)].concat();
        for length in ZSTD.len()..whole.len() {
            match text_of(&whole[..length]) {
                Ok(text) => assert_eq!((text.as_str(), 2 * length), (LINES, whole.len())),
                Err(kind) => assert_eq!(kind, io::ErrorKind::UnexpectedEof, "{length}"),
            }
        }
        let mut damaged = whole.clone();
        damaged[whole.len() / 2 - 1] ^= 1; // in the first frame's checksum
        assert_eq!(text_of(&damaged), Err(io::ErrorKind::InvalidData));
    }

    #[test]
    fn a_bomb_is_read_a_little_at_a_time() {
        // A frame without an end in sight: blocks of 128 KiB of one repeated byte, of 4 bytes each.
        let bomb = [ZSTD.as_slice(), &[0, 0x58], &[2, 0, 16, b'1'].repeat(100_000)].concat();
        let mut start = Vec::new();
        unpack(bomb.as_slice()).unwrap().take(1000).read_to_end(&mut start).unwrap();
        assert_eq!(start, [b'1'; 1000]);
    }
}
