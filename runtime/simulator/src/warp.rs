//! Values that the lanes of a warp exchange.

/// Lanes of a warp.
pub const LANES: usize = 32;

/// Values that a lane gives in an exchange.
pub type Given = [u64; 3];

/// The values of the lanes in one exchange.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    values: [Given; LANES],
    /// A bit for each lane that takes part.
    lanes: u32,
}

/// A warp's exchanges. Two take turns, so that a lane that is ahead does not overwrite what
/// others still read.
#[derive(Clone, Debug)]
pub struct Warp {
    exchanges: [Exchange; 2],
    /// Number of times that all of its lanes have met.
    pub epoch: u32,
}

impl Default for Warp {
    fn default() -> Self {
        let none = Exchange {
            values: [[0; 3]; LANES],
            lanes: 0,
        };
        Warp {
            exchanges: [none; 2],
            epoch: 0,
        }
    }
}

impl Warp {
    /// A lane's part of an exchange.
    pub fn give(&mut self, exchange: u32, lane: usize, value: Given) {
        let exchange = &mut self.exchanges[exchange as usize % 2];
        exchange.values[lane] = value;
        exchange.lanes |= 1 << lane;
    }

    /// Returns the values that a lane has given; `None` if it takes no part.
    pub fn take(&self, exchange: u32, lane: usize) -> Option<Given> {
        let exchange = &self.exchanges[exchange as usize % 2];
        (exchange.lanes & 1 << lane != 0).then_some(exchange.values[lane])
    }

    /// A bit for each lane whose value is not zero.
    pub fn ballot(&self, exchange: u32) -> u32 {
        let lanes =
            (0..LANES).filter(|lane| self.take(exchange, *lane).is_some_and(|[v, ..]| v != 0));
        lanes.fold(0, |bits, lane| bits | 1 << lane)
    }

    /// All of its lanes have met: exchange `done` can be read, the next one begins.
    pub fn meet(&mut self, done: u32) {
        self.epoch += 1;
        self.exchanges[(done as usize + 1) % 2].lanes = 0;
    }
}
