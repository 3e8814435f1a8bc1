//! Memory: what is written is written once and not read, so that the order of points does not
//! matter.

use super::{Finding, Rule, Subject, place_text};
use crate::computation::Place;

/// A buffer that lies in memory, where others may lie too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// Which buffer.
    pub place: Place,
    /// Its name.
    pub name: &'a str,
    /// The memory: buffers with the same number lie in the same.
    pub memory: usize,
}

impl Stored<'_> {
    fn is_written(&self) -> bool {
        matches!(self.place, Place::Output(_) | Place::Outgoing { .. })
    }

    fn text(&self) -> String {
        place_text(self.place, self.name)
    }
}

/// The buffers that are written where another one is read or written. (That two of them use
/// different elements of one memory is not looked for.)
pub fn memory(buffers: &[Stored]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, buffer) in buffers.iter().enumerate() {
        if !buffer.is_written() {
            continue;
        }
        let same = |other: &&Stored| other.memory == buffer.memory;
        let reads = buffers.iter().filter(same).find(|b| !b.is_written());
        let earlier = buffers[..number].iter().filter(same);
        let writes = earlier.into_iter().find(|b| b.is_written());
        let mut find = |rule, message| {
            findings.push(Finding {
                rule,
                subject: Subject::Buffer(buffer.place),
                message,
            });
        };
        let what = buffer.text();
        if let Some(other) = reads {
            let message = format!(
                "writes {what} where it reads {}: expected memory of its own, since a point may \
                 read what another one has written; write another buffer, or read a copy",
                other.text()
            );
            find(Rule::WrittenAndRead, message);
        }
        if let Some(other) = writes {
            let message = format!(
                "writes {what} where it writes {}: expected memory of its own, since points are \
                 in no order; write another buffer, or give one output both accesses",
                other.text()
            );
            find(Rule::SharedOutput, message);
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(buffers: &[(Place, usize)]) -> Vec<(Rule, Subject)> {
        let stored = |(place, memory): &(Place, usize)| Stored {
            place: *place,
            name: "b",
            memory: *memory,
        };
        let buffers: Vec<Stored> = buffers.iter().map(stored).collect();
        let findings = memory(&buffers).into_iter();
        findings.map(|f| (f.rule, f.subject)).collect()
    }

    #[test]
    fn inputs_may_share_memory() {
        assert_eq!(
            found(&[
                (Place::Input(0), 7),
                (Place::Input(1), 7),
                (Place::Output(0), 8)
            ]),
            []
        );
    }

    #[test]
    fn what_is_written_is_found_once_for_each_rule() {
        let both = [
            (Place::Input(0), 7),
            (Place::Output(0), 7),
            (Place::Output(1), 7),
        ];
        let [first, second] = [0, 1].map(|n| Subject::Buffer(Place::Output(n)));
        let expected = [
            (Rule::WrittenAndRead, first),
            (Rule::WrittenAndRead, second),
            (Rule::SharedOutput, second),
        ];
        assert_eq!(found(&both), expected);
    }

    #[test]
    fn carries_are_read_and_written_too() {
        let (incoming, outgoing) = (
            Place::Incoming {
                carry: 0,
                component: 0,
            },
            Place::Outgoing {
                carry: 0,
                component: 0,
            },
        );
        let subject = Subject::Buffer(outgoing);
        assert_eq!(
            found(&[(outgoing, 1), (incoming, 1)]),
            [(Rule::WrittenAndRead, subject)]
        );
        assert_eq!(
            found(&[(Place::Output(0), 1), (outgoing, 1)]),
            [(Rule::SharedOutput, subject)]
        );
    }
}
