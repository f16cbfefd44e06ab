//! Decimal numbers, eight digits at a time in one 64-bit word.

/// A number in a text, with a space behind it.
pub(super) struct Number {
    pub value: u64,
    /// Where the text goes on, behind the space.
    pub end: usize,
}

impl Number {
    /// The number that begins at a place. None where there is none, and also where it has sixteen digits or more.
    #[inline(always)]
    pub fn at<const N: usize>(text: &[u8; N], start: usize) -> Option<Self> {
        let (mut value, mut length) = digits(word_at(text, start))?;
        if length == 8 {
            // A following space is no digit, and then the eight were all.
            if let Some((rest, more)) = digits(word_at(text, start + 8)) {
                value = value * POWERS_OF_TEN.get(more)? + rest;
                length += more;
            }
        }
        let end = start + length;
        (text[end] == b' ').then_some(Self { value, end: end + 1 })
    }
}

/// A further eight digits aren't among them.
const POWERS_OF_TEN: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Eight bytes of a text; the first is the lowest.
#[inline(always)]
pub(super) fn word_at<const N: usize>(text: &[u8; N], start: usize) -> u64 {
    let bytes: [u8; 8] = text[start..start + 8].try_into().expect("eight bytes are eight bytes");
    u64::from_le_bytes(bytes)
}

/// The value and the number of the digits that a word begins with, None where it begins with none.
#[inline(always)]
fn digits(word: u64) -> Option<(u64, usize)> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // A digit is 0 to 9 now. With 0x76 added, its highest bit is 0, and that of the first other byte is 1, or was so
    // before. What is carried over from that byte on is of no interest.
    let values = word ^ (EACH * 0x30);
    let others = (values.wrapping_add(EACH * 0x76) | values) & (EACH * 0x80);
    let bits = others.trailing_zeros() & !7;
    if bits == 0 {
        return None;
    }
    // The last digit comes to the highest byte, and zeros stand before the first. Then neighbours are joined, to four
    // numbers of two digits, to two of four, and to one of eight.
    let ones = values << (64 - bits);
    let twos = (ones.wrapping_mul(10) + (ones >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (twos.wrapping_mul(100) + (twos >> 16)) & 0x0000_FFFF_0000_FFFF;
    let eight = (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xFFFF_FFFF;
    Some((eight, bits as usize / 8))
}
