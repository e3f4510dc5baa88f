//! Random choices that follow from a seed (splitmix64).

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// From `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        let span = most.abs_diff(least) + 1;
        least + i64::try_from(self.next() % span).unwrap()
    }

    pub(crate) fn size(&mut self, least: usize, most: usize) -> usize {
        let number = self.between(least.try_into().unwrap(), most.try_into().unwrap());
        number.try_into().unwrap()
    }

    pub(crate) fn percent(&mut self, chance: i64) -> bool {
        self.between(0, 99) < chance
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.size(0, from.len() - 1)]
    }
}
