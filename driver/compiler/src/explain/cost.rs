//! Time of a computation under its schedule, and at best on the same machine.
//!
//! A cost has parts, of which each is hidden behind the longest one: computing, and moving bytes from each memory.
//! Every number about time that `mdh explain` shows, in a table, in words, as JSON or as a picture, is one of these:
//!
//! ```text
//! time  = start + the longest part
//! least = start + the longest part, each part at best: all cores and lanes that the points are worth, every byte once
//! share = least / time
//! gain  = time / (start + the longest part, if the longest one were at best)
//! ```

use serde::Serialize;

use mdh_algebra::amounts::count;

/// Unit of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Cycles of all cores together: the machine of a schedule has sizes and no clock.
    Cycles,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// Its name, for the head of a column.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Seconds => "time",
        }
    }

    /// A time with three digits: `2.15 million`, `12.30 us`.
    pub fn text(self, time: f64) -> String {
        match self {
            Unit::Cycles => count(time.ceil()),
            Unit::Seconds => match time {
                t if t >= 1.0 => format!("{t:.3} s"),
                t if t >= 1e-3 => format!("{:.3} ms", t * 1e3),
                t => format!("{:.2} us", t * 1e6),
            },
        }
    }
}

/// Part of a cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostPart {
    /// Its name: `computing`, `moving from L2`.
    pub what: String,
    /// Its time with the schedule.
    pub time: f64,
    /// Its time at best.
    pub least: f64,
    /// The change of the schedule that leads from the one to the other, if there is any.
    pub change: Option<String>,
}

/// Limits of the machine, in a unit of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Operations, if all cores and lanes compute.
    pub operations: f64,
    /// Bytes of each memory, innermost first.
    pub memories: Vec<(String, f64)>,
}

/// The change that makes a computation the fastest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// The change, in words.
    pub change: String,
    /// Factor by which it is faster then.
    pub factor: f64,
}

/// Time of a computation under its schedule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The unit of its times.
    pub unit: Unit,
    /// Time before anything is computed.
    pub start: f64,
    /// Its parts.
    pub parts: Vec<CostPart>,
    /// Predicted time.
    pub time: f64,
    /// The machine's limit: time at best.
    pub least: f64,
    /// Share of the limit that is reached: from 0 to 1.
    pub share: f64,
    /// The part that takes longest, or what starts it.
    pub bound: String,
    /// The change that gains most; none where nothing is gained by any.
    pub gain: Option<Gain>,
    /// Limits of the machine.
    pub limits: Limits,
}

/// Name of the bound of what is done before anything is computed.
pub const START: &str = "the launch itself";
/// The least gain that is worth saying.
const WORTH: f64 = 1.01;

impl Cost {
    /// Adds parts up. Where starting takes longer than the longest of them, `fusing` is the change that gains most.
    pub fn new(
        unit: Unit,
        (start, fusing): (f64, &str),
        parts: Vec<CostPart>,
        limits: Limits,
    ) -> Cost {
        let longest = parts.iter().max_by(|a, b| a.time.total_cmp(&b.time));
        let (most, what) = longest.map_or((0.0, "nothing"), |part| (part.time, part.what.as_str()));
        let least = start + parts.iter().map(|part| part.least).fold(0.0, f64::max);
        let time = start + most;
        let gain = match start > most {
            true => Some(Gain {
                change: fusing.to_string(),
                factor: time / most.max(f64::MIN_POSITIVE),
            }),
            false => longest.and_then(|longest| improved(start, longest, &parts)),
        };
        Cost {
            unit,
            start,
            time,
            least,
            share: match time > 0.0 {
                true => (least / time).min(1.0),
                false => 1.0,
            },
            bound: match start > most {
                true => START.to_string(),
                false => what.to_string(),
            },
            gain: gain.filter(|gain| gain.factor >= WORTH && gain.factor.is_finite()),
            parts,
            limits,
        }
    }

    /// The times of all parts, in words.
    pub fn parts_text(&self) -> String {
        let text = |part: &CostPart| format!("{} {}", part.what, self.unit.text(part.time));
        let texts: Vec<String> = self.parts.iter().map(text).collect();
        texts.join(", ")
    }

    /// Operations in a unit of time that so many take.
    pub fn rate(&self, operations: f64) -> Option<f64> {
        (self.time > 0.0 && operations > 0.0).then_some(operations / self.time)
    }
}

/// The gain, were the longest part at best; none where it is already.
fn improved(start: f64, longest: &CostPart, parts: &[CostPart]) -> Option<Gain> {
    let rest = parts.iter().filter(|part| part.what != longest.what);
    let rest = rest.map(|part| part.time).fold(longest.least, f64::max);
    Some(Gain {
        change: longest.change.clone()?,
        factor: (start + longest.time) / (start + rest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(what: &str, time: f64, least: f64, change: Option<&str>) -> CostPart {
        CostPart {
            what: what.to_string(),
            time,
            least,
            change: change.map(str::to_string),
        }
    }

    fn cost(start: f64, parts: Vec<CostPart>) -> Cost {
        Cost::new(Unit::Cycles, (start, "fewer"), parts, Limits::default())
    }

    #[test]
    fn the_longest_part_bounds() {
        let cost = cost(
            0.0,
            vec![
                part("computing", 100.0, 80.0, None),
                part("moving from L2", 400.0, 20.0, Some("larger tiles")),
                part("moving from main", 50.0, 50.0, None),
            ],
        );
        assert_eq!((cost.time, cost.least, cost.share), (400.0, 80.0, 0.2));
        assert_eq!(cost.bound, "moving from L2");
        // Behind it comes computing, which takes as long as before.
        let gain = cost.gain.unwrap();
        assert_eq!((gain.change.as_str(), gain.factor), ("larger tiles", 4.0));
    }

    #[test]
    fn nothing_is_gained_at_the_limit() {
        let parts = vec![part("computing", 9.0, 9.0, None), part("a", 9.0, 1.0, None)];
        let cost = cost(0.0, parts);
        assert_eq!((cost.share, cost.gain), (1.0, None));
        assert_eq!(super::tests::cost(0.0, Vec::new()).share, 1.0);
    }

    #[test]
    fn a_start_may_bound() {
        let cost = cost(3.0, vec![part("computing", 1.0, 1.0, None)]);
        assert_eq!((cost.time, cost.least), (4.0, 4.0));
        assert_eq!(cost.bound, START);
        let gain = cost.gain.unwrap();
        assert_eq!((gain.change.as_str(), gain.factor), ("fewer", 4.0));
    }

    #[test]
    fn times_have_three_digits() {
        assert_eq!(Unit::Cycles.text(16_777_215.2), "16.8 million");
        assert_eq!(Unit::Seconds.text(12.3e-6), "12.30 us");
        assert_eq!(Unit::Seconds.text(0.0123), "12.300 ms");
    }
}
