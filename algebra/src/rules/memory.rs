//! Memory: what is written is written once, and read in place only, so that the order of points
//! does not matter.

use super::{Finding, Rule, Subject, place_text};
use crate::computation::Place;

/// A buffer that lies in memory, where others may lie too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// Which buffer.
    pub place: Place,
    /// Its name.
    pub name: &'a str,
    /// The memory: buffers with the same number lie in the same.
    pub memory: usize,
    /// The elements of it that each element of the result has to do with, as numbers that are the
    /// same for the same index functions and origins; none if they are not that few.
    pub elements: Vec<usize>,
}

impl Stored<'_> {
    fn is_written(&self) -> bool {
        matches!(self.place, Place::Output(_) | Place::Outgoing { .. })
    }

    /// Whether the two may be in the same memory: both are read, or one of them is read where the
    /// same element is written afterwards, and nowhere else.
    ///
    /// A carry is handed on before those of outer dimensions are read and before the result is
    /// written, so that it replaces what came in for its own dimension only.
    pub fn may_share(&self, other: &Stored) -> bool {
        // Different accesses write different elements, each of them once.
        let (read, written) = match self.is_written() {
            true => (other, self),
            false => (self, other),
        };
        let in_place = matches!(&read.elements[..], [one] if written.elements.contains(one));
        match (self.place, other.place) {
            (Place::Input(_) | Place::Incoming { .. }, Place::Output(_))
            | (Place::Output(_), Place::Input(_) | Place::Incoming { .. }) => in_place,
            (
                Place::Incoming { carry, component },
                Place::Outgoing {
                    carry: to,
                    component: at,
                },
            )
            | (
                Place::Outgoing { carry, component },
                Place::Incoming {
                    carry: to,
                    component: at,
                },
            ) => in_place && (carry, component) == (to, at),
            _ => !self.is_written() && !other.is_written(),
        }
    }

    fn text(&self) -> String {
        place_text(self.place, self.name)
    }
}

/// The buffers that are written where another one is read, other than in place, or written. (That
/// two of them use different elements of one memory is not looked for.)
pub fn memory(buffers: &[Stored]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, buffer) in buffers.iter().enumerate() {
        if !buffer.is_written() {
            continue;
        }
        let shared = |other: &&Stored| other.memory == buffer.memory && !other.may_share(buffer);
        let reads = buffers.iter().filter(shared).find(|b| !b.is_written());
        let earlier = buffers[..number].iter().filter(shared);
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
                "writes {what} where it reads {}: expected memory of its own, or that each element \
                 is read only where it is replaced, since a point may read what another one has \
                 written; write another buffer, or read a copy",
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

    const INCOMING: Place = incoming(0, 0);
    const OUTGOING: Place = outgoing(0, 0);

    const fn incoming(carry: usize, component: usize) -> Place {
        Place::Incoming { carry, component }
    }

    const fn outgoing(carry: usize, component: usize) -> Place {
        Place::Outgoing { carry, component }
    }

    /// What is found for places with their memory and element.
    fn found(buffers: &[(Place, usize, Option<usize>)]) -> Vec<(Rule, Subject)> {
        let stored = |(place, memory, element): &(Place, usize, Option<usize>)| Stored {
            place: *place,
            name: "b",
            memory: *memory,
            elements: element.iter().copied().collect(),
        };
        let buffers: Vec<Stored> = buffers.iter().map(stored).collect();
        let findings = memory(&buffers).into_iter();
        findings.map(|f| (f.rule, f.subject)).collect()
    }

    /// What is found for two places in one memory, with the same element; the order is nothing.
    fn together(a: Place, b: Place) -> Vec<Rule> {
        let rules = |a: Place, b: Place| {
            let found = found(&[(a, 1, Some(0)), (b, 1, Some(0))]).into_iter();
            found.map(|(rule, _)| rule).collect::<Vec<_>>()
        };
        assert_eq!(rules(a, b), rules(b, a), "{a:?} {b:?}");
        rules(a, b)
    }

    #[test]
    fn what_is_read_may_share_memory() {
        let read = [Place::Input(0), Place::Input(1), INCOMING, incoming(1, 0)];
        for (a, b) in read.iter().flat_map(|a| read.iter().map(move |b| (*a, *b))) {
            assert_eq!(found(&[(a, 7, None), (b, 7, Some(1))]), []);
        }
    }

    #[test]
    fn what_is_written_is_found_once_for_each_rule() {
        let both = [
            (Place::Input(0), 7, None),
            (Place::Input(1), 8, None),
            (Place::Output(0), 7, Some(0)),
            (Place::Output(1), 7, Some(0)),
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
    fn in_place_is_element_by_element() {
        for read in [Place::Input(0), INCOMING] {
            let finds = |one, other| {
                let found = found(&[(read, 1, one), (Place::Output(0), 1, other)]);
                !found.is_empty()
            };
            assert!(!finds(Some(3), Some(3)));
            assert!(finds(Some(3), Some(4)), "other elements");
            assert!(finds(None, Some(3)), "several elements");
            assert!(finds(None, None), "several elements of both");
        }
    }

    #[test]
    fn an_output_of_several_accesses_replaces_each_of_their_elements() {
        let stored = |place, elements: &[usize]| Stored {
            place,
            name: "b",
            memory: 1,
            elements: elements.to_vec(),
        };
        let output = stored(Place::Output(0), &[3, 4]);
        for (read, is_replaced) in [(&[3][..], true), (&[4], true), (&[5], false), (&[], false)] {
            let carry = stored(INCOMING, read);
            assert_eq!(carry.may_share(&output), is_replaced, "{read:?}");
            assert_eq!(output.may_share(&carry), is_replaced, "{read:?}");
        }
        // What reads both of them reads one that another point may have written.
        assert!(!stored(Place::Input(0), &[3, 4]).may_share(&output));
    }

    #[test]
    fn a_carry_replaces_what_came_in_for_its_own_dimension() {
        assert_eq!(together(INCOMING, OUTGOING), []);
        let refused = vec![Rule::WrittenAndRead];
        assert_eq!(together(incoming(0, 1), OUTGOING), refused);
        assert_eq!(together(incoming(1, 0), OUTGOING), refused);
        assert_eq!(together(INCOMING, outgoing(1, 0)), refused);
        assert_eq!(together(Place::Input(0), OUTGOING), refused);
    }

    #[test]
    fn what_is_written_has_memory_of_its_own() {
        let refused = vec![Rule::SharedOutput];
        assert_eq!(together(Place::Output(0), Place::Output(1)), refused);
        assert_eq!(together(Place::Output(0), OUTGOING), refused);
        assert_eq!(together(OUTGOING, outgoing(0, 1)), refused);
        // All three: the result and what is handed on are both written.
        let three = [INCOMING, OUTGOING, Place::Output(0)].map(|place| (place, 1, Some(0)));
        assert_eq!(
            found(&three),
            [(Rule::SharedOutput, Subject::Buffer(Place::Output(0)))]
        );
    }
}
