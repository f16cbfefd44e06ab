// What holds of each importer, whatever it is given.

use std::num::NonZeroU32;

use zmysql_engine::convert::import::{import, Format};

/// The largest, so that an access of 1G is 64 records, and not two million.
const RECORDSIZE: NonZeroU32 = NonZeroU32::new(16 << 20).unwrap();

/// No panic; what is handed over is counted, and there is some where there is no error, which is one line.
pub fn check(bytes: &[u8], format: &Format) {
    let mut records = 0;
    let found = import(bytes, format, RECORDSIZE, |member, held| {
        assert!(!member.is_empty() && held > 0);
        records += held;
        true
    });
    match found {
        Ok(found) => assert!(found.accesses > 0 && records >= found.accesses),
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
}
