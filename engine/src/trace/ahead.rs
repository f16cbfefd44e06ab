//! Reads ahead in a thread of its own: one processor unpacks while another takes the records apart.

use std::io::{self, Read};
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::thread;

const CHUNK_BYTES: usize = 1 << 18;
/// Chunks on their way; so the memory needed doesn't depend on the file.
const CHUNKS: usize = 4;

/// Gives `work` a source with the bytes and errors of `source`.
pub fn read_ahead<T>(source: impl Read + Send, work: impl FnOnce(Ahead) -> T) -> io::Result<T> {
    thread::scope(|scope| {
        let (full, to_read) = sync_channel(CHUNKS);
        let (empty, to_fill) = channel();
        for _ in 0..CHUNKS {
            empty.send(Vec::with_capacity(CHUNK_BYTES)).expect("its receiver is in the line above");
        }
        thread::Builder::new().spawn_scoped(scope, move || fill(source, &to_fill, &full))?;
        Ok(work(Ahead { chunk: Vec::new(), given: 0, to_read, empty }))
    })
}

/// Fills chunks until the source ends or fails, or until nobody wants them.
fn fill(mut source: impl Read, to_fill: &Receiver<Vec<u8>>, full: &SyncSender<io::Result<Vec<u8>>>) {
    while let Ok(mut chunk) = to_fill.recv() {
        chunk.clear();
        let read = source.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
        let ended = read.is_err() || chunk.is_empty();
        // What was read before an error comes first, as without this thread.
        if (!chunk.is_empty() && full.send(Ok(chunk)).is_err()) || ended {
            if let Err(error) = read {
                let _ = full.send(Err(error)); // fails only where nobody reads any more
            }
            return;
        }
    }
}

/// The reading end.
pub struct Ahead {
    chunk: Vec<u8>,
    given: usize,
    to_read: Receiver<io::Result<Vec<u8>>>,
    empty: Sender<Vec<u8>>,
}

impl Read for Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.chunk.len() {
            let Ok(next) = self.to_read.recv() else {
                return Ok(0);
            };
            let read = std::mem::replace(&mut self.chunk, next?);
            self.given = 0;
            let _ = self.empty.send(read); // at the end of the source nobody fills it again
        }
        let held = &self.chunk[self.given..];
        let length = held.len().min(into.len());
        into[..length].copy_from_slice(&held[..length]);
        self.given += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(source: impl Read + Send) -> (Vec<u8>, io::Result<usize>) {
        let mut bytes = Vec::new();
        let read = read_ahead(source, |mut ahead| ahead.read_to_end(&mut bytes)).unwrap();
        (bytes, read)
    }

    #[test]
    fn gives_the_bytes_of_the_source() {
        for length in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 9 * CHUNK_BYTES + 5] {
            let source: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            assert_eq!(all(source.as_slice()).0, source);
        }
    }

    #[test]
    fn an_error_comes_after_the_bytes_before_it() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::InvalidData.into())
            }
        }
        let (bytes, read) = all(b"abc".chain(Fails));
        assert_eq!((bytes.as_slice(), read.unwrap_err().kind()), (b"abc".as_slice(), io::ErrorKind::InvalidData));
    }

    #[test]
    fn who_stops_reading_stops_an_endless_source() {
        let read = read_ahead(io::repeat(7), |mut ahead| ahead.read(&mut [0; 10])).unwrap();
        assert_eq!(read.unwrap(), 10);
    }
}
