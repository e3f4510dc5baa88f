//! Little that becomes much.

/// About `megabytes` of zeros, as gzip, in less than a hundredth of that.
///
/// It needs no compressor: in a deflate block with fixed codes, "258 bytes as one byte ago" is 13 bits, so eight of
/// them are 13 bytes.
pub(crate) fn gzip_bomb(megabytes: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    // The last block, with fixed codes, and one literal zero.
    bits.push(0b1, 1);
    bits.push(0b01, 2);
    bits.push_code(0b0011_0000, 8);
    for _ in 0..megabytes * 1024 * 1024 / 258 {
        // The length 258, then the distance 1.
        bits.push_code(0b1100_0101, 8);
        bits.push_code(0, 5);
    }
    // The end of the block, and a trailer that nobody gets to.
    bits.push_code(0, 7);
    let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    bomb.extend(bits.bytes);
    bomb.extend([0; 8]);
    bomb
}

/// Bits, filled into bytes from the lowest.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    /// Numbers come lowest bit first.
    fn push(&mut self, value: u32, width: usize) {
        for at in 0..width {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if value >> at & 1 == 1
                && let Some(last) = self.bytes.last_mut()
            {
                *last |= 1 << (self.count % 8);
            }
            self.count += 1;
        }
    }

    /// Huffman codes come highest bit first.
    fn push_code(&mut self, code: u32, width: usize) {
        for at in (0..width).rev() {
            self.push(code >> at & 1, 1);
        }
    }
}
