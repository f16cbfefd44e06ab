//! oracleGeneral, libCacheSim's binary format: 24 bytes a request, little-endian: time in seconds (u32), object id (u64),
//! object size (u32), and when the object is requested next (i64, in requests), which isn't needed here.

use std::io::Read;
use std::num::NonZeroU32;

use super::binary::{u32_at, u64_at, Binary};
use super::foreign::{ForeignError, Intake, OBJSET};
use super::Stopped;
use crate::trace::{Class, Record};

pub const REQUEST_BYTES: usize = 24;
const OBJECT: u64 = 1;
/// The largest block of ZFS (SPA_MAXBLOCKSIZE).
const MAX_BLOCK_BYTES: u32 = 16 << 20;
const SECOND_NS: u64 = 1_000_000_000;

/// Reads the requests: each is a read of one block with the id of the object as its number, and the object's size.
pub fn read<E>(source: impl Read, intake: &mut Intake<E>) -> Result<(), ForeignError>
where
    E: FnMut(&Record) -> Result<(), Stopped>,
{
    let mut requests = Binary::<_, REQUEST_BYTES>::new(source);
    while let Some(request) = requests.next()? {
        let (seconds, blkid, bytes) = (u32_at(request, 0), u64_at(request, 4), u32_at(request, 12));
        // A clock that goes back before its start can't be sorted out in a binary file.
        let time_ns = intake.since_first(u64::from(seconds) * SECOND_NS).unwrap_or(0);
        let Some(size) = NonZeroU32::new(bytes) else {
            intake.found.empty += 1;
            continue;
        };
        if bytes > MAX_BLOCK_BYTES {
            return Err(requests.wrong(format!(
                "an object of {bytes} bytes is larger than a block of ZFS can be (16M): is this oracleGeneral?"
            )));
        }
        let record = Record { time_ns, objset: OBJSET, object: OBJECT, level: 0, blkid, size, class: Class::Unknown };
        intake.record(&record)?;
    }
    intake.finish("requests of objects with a size above 0 are reads")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::foreign::tests::line;

    pub fn request(seconds: u32, id: u64, size: u32) -> Vec<u8> {
        let (time, id, size) = (seconds.to_le_bytes(), id.to_le_bytes(), size.to_le_bytes());
        [time.as_slice(), &id, &size, &(-1i64).to_le_bytes()].concat()
    }

    fn import(source: &[u8]) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        let each = |record: &Record| {
            lines.push(line(record));
            Ok(())
        };
        let mut intake = Intake::new(NonZeroU32::new(512).unwrap(), each);
        read(source, &mut intake).map_err(|error| error.to_string())?;
        assert_eq!(intake.found.largest_bytes, 4096);
        Ok(lines)
    }

    #[test]
    fn a_request_reads_a_block_of_its_objects_size() {
        let id = 1 << 63;
        let source = [request(7, id, 4096), request(7, 5, 0), request(9, 5, 100), request(6, id, 1)].concat();
        let wanted =
            ["0 1 1 0 9223372036854775808 4096 -", "2000000000 1 1 0 5 100 -", "0 1 1 0 9223372036854775808 1 -"];
        assert_eq!(import(&source).unwrap(), wanted);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_offset() {
        let good = request(7, 1, 4096);
        let large = [good.as_slice(), &request(7, 1, (16 << 20) + 1)].concat();
        assert!(import(&large).unwrap_err().starts_with("is wrong at byte 24: an object of 16777217 bytes"));
        assert!(import(&[good.as_slice(), b"x"].concat())
            .unwrap_err()
            .starts_with("is wrong at byte 24: the file ends"));
        assert!(import(&request(7, 1, 0)).unwrap_err().starts_with("holds no read"));
    }
}
