//! Memory: elements are written once, and read in place only, so that the order of points does not
//! matter.

use super::finding::{Finding, Rule, Subject, place_text};
use crate::computation::Place;
use crate::reuse::alias::{Conflict, DomainAxis, Role, Sharing, View, overlap, sharing};

/// A buffer that lies in memory, where others may lie too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// The buffer.
    pub place: Place,
    /// Its name.
    pub name: &'a str,
    /// The memory: buffers with the same number lie in the same.
    pub memory: usize,
    /// The elements that are read or written.
    pub view: View<'a>,
}

/// The points whose buffers they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The dimensions.
    pub axes: Vec<DomainAxis>,
    /// The dimension of each carry.
    pub carries: Vec<usize>,
}

/// Reasons for which two buffers may not share memory.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Refusal {
    /// This happens.
    Conflict(String),
    /// Reads are combined, and a part of the result may be stored before all of them are done.
    Combined,
    /// It may happen, as far as can be shown, or is not allowed at all.
    Unknown,
}

impl Domain {
    /// With the dimensions' roles for whoever uses a buffer once for each result.
    fn of_results(&self, without: Option<usize>) -> Vec<DomainAxis> {
        let axes = self.axes.iter().enumerate().map(|(d, axis)| {
            let is_kept = Some(d) != without && axis.role != Role::Pw;
            let role = if is_kept { Role::Cc } else { Role::Absent };
            DomainAxis {
                role,
                ..axis.clone()
            }
        });
        axes.collect()
    }
}

impl Stored<'_> {
    fn is_written(&self) -> bool {
        matches!(self.place, Place::Output(_) | Place::Outgoing { .. })
    }

    /// Returns whether the two may be in the same memory: both are read, or whatever one of them reads is
    /// read before the same element is written, in any order of points that a schedule may have.
    pub fn may_share(&self, other: &Stored, domain: &Domain) -> bool {
        self.refusal(other, domain).is_none()
    }

    /// A carry is carried out before those of outer dimensions are read and before the result is
    /// written, so that it replaces what came in for its own dimension only.
    fn refusal(&self, other: &Stored, domain: &Domain) -> Option<Refusal> {
        let (read, written) = match self.is_written() {
            true => (other, self),
            false => (self, other),
        };
        if !written.is_written() {
            return None;
        }
        let (axes, may_replace) = points(read.place, written.place, domain);
        let answer = match may_replace {
            true => sharing(&axes, &read.view, &written.view),
            false => overlap(&axes, &read.view, &written.view),
        };
        let is_result = matches!(
            (read.place, written.place),
            (Place::Input(_), Place::Output(_))
        );
        let is_combined = |axis: &DomainAxis| axis.role != Role::Cc;
        if is_result && answer == Sharing::InPlace && axes.iter().any(is_combined) {
            return Some(Refusal::Combined);
        }
        let text = |conflict: &Conflict| {
            let uses = if read.is_written() {
                ["written", "written"]
            } else {
                ["read", "written"]
            };
            conflict.text(&axes, uses)
        };
        match answer {
            // The memory of an output is its alone: what it does not write there keeps its value.
            Sharing::Disjoint if read.is_written() => Some(Refusal::Unknown),
            Sharing::Disjoint | Sharing::InPlace => None,
            Sharing::Conflict(conflict) => Some(Refusal::Conflict(text(&conflict))),
            Sharing::Unknown => Some(Refusal::Unknown),
        }
    }

    fn text(&self) -> String {
        place_text(self.place, self.name)
    }
}

/// Returns the dimensions of the points that read one buffer and write another one, and whether an element may be
/// replaced in place, by the only point that reads it.
fn points(read: Place, written: Place, domain: &Domain) -> (Vec<DomainAxis>, bool) {
    match (read, written) {
        (Place::Input(_), Place::Output(_)) => (domain.axes.clone(), true),
        (Place::Incoming { .. }, Place::Output(_)) => (domain.of_results(None), true),
        (
            Place::Incoming { carry, component },
            Place::Outgoing {
                carry: to,
                component: at,
            },
        ) if (carry, component) == (to, at) => {
            let dimension = domain.carries.get(carry).copied();
            (domain.of_results(dimension), true)
        }
        (Place::Input(_), _) => (domain.axes.clone(), false),
        _ => (domain.of_results(None), false),
    }
}

impl Refusal {
    fn text(&self) -> String {
        match self {
            Refusal::Conflict(text) => format!(" ({text})"),
            Refusal::Combined => " (a part of a combined result may be stored while others still \
                                  read there)"
                .into(),
            Refusal::Unknown => String::new(),
        }
    }
}

/// The buffers that are written where another one is read, other than in place, or written.
pub fn memory(domain: &Domain, buffers: &[Stored]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, buffer) in buffers.iter().enumerate() {
        if !buffer.is_written() {
            continue;
        }
        let shared = |other: &Stored| {
            let is_there = other.memory == buffer.memory;
            let refusal = is_there.then(|| other.refusal(buffer, domain))??;
            Some((other.text(), refusal.text()))
        };
        let reads = buffers.iter().filter(|b| !b.is_written()).find_map(shared);
        let earlier = buffers[..number].iter().filter(|b| b.is_written());
        let writes = earlier.into_iter().find_map(shared);
        let mut find = |rule, message| {
            findings.push(Finding {
                rule,
                subject: Subject::Buffer(buffer.place),
                message,
            });
        };
        let what = buffer.text();
        if let Some((other, why)) = reads {
            let message = format!(
                "writes {what} where it reads {other}{why}: expected memory of its own, or that \
                 each element is read only where it is replaced, since a point may read what \
                 another one has written; write another buffer, or read a copy",
            );
            find(Rule::WrittenAndRead, message);
        }
        if let Some((other, why)) = writes {
            let message = format!(
                "writes {what} where it writes {other}{why}: expected memory of its own, since \
                 points are in no order; write another buffer, or give one output both accesses",
            );
            find(Rule::SharedOutput, message);
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affine::Expr;
    use crate::reuse::alias::Amount;

    const INCOMING: Place = incoming(0, 0);
    const OUTGOING: Place = outgoing(0, 0);

    const fn incoming(carry: usize, component: usize) -> Place {
        Place::Incoming { carry, component }
    }

    const fn outgoing(carry: usize, component: usize) -> Place {
        Place::Outgoing { carry, component }
    }

    /// Elements of a vector: `[i]` is one for each point, `[0]` is one for all of them.
    fn element(at: i64) -> Vec<Expr> {
        match at {
            0 => vec![Expr::Const(0)],
            shift => vec![Expr::dim(0) + (shift - 1)],
        }
    }

    /// `i = 8`, with a carry for each of two dimensions of one point more.
    fn domain(role: Role) -> Domain {
        let axis = |name| DomainAxis::dense(name, 1, Role::Cc);
        Domain {
            axes: vec![DomainAxis::dense("i", 8, role), axis("j"), axis("k")],
            carries: vec![1, 2],
        }
    }

    /// Returns the findings for places with their memory and accesses.
    fn found_of(role: Role, buffers: &[(Place, usize, &[i64])]) -> Vec<(Rule, Subject)> {
        let accesses = |at: &[i64]| at.iter().map(|at| element(*at)).collect::<Vec<_>>();
        let maps: Vec<_> = buffers.iter().map(|(.., at)| accesses(at)).collect();
        let stored = buffers.iter().zip(&maps);
        let stored: Vec<Stored> = stored
            .map(|((place, memory, _), accesses)| Stored {
                place: *place,
                name: "b",
                memory: *memory,
                view: View {
                    accesses,
                    origin: &[Amount::Known(0)],
                },
            })
            .collect();
        let findings = memory(&domain(role), &stored).into_iter();
        findings.map(|f| (f.rule, f.subject)).collect()
    }

    fn found(buffers: &[(Place, usize, &[i64])]) -> Vec<(Rule, Subject)> {
        found_of(Role::Cc, buffers)
    }

    /// Returns the findings for two places in one memory, with the same element, in either order.
    fn of_pair(a: Place, b: Place) -> Vec<Rule> {
        let rules = |a: Place, b: Place| {
            let findings = found(&[(a, 1, &[1]), (b, 1, &[1])]).into_iter();
            findings.map(|(rule, _)| rule).collect::<Vec<_>>()
        };
        assert_eq!(rules(a, b), rules(b, a), "{a:?} {b:?}");
        rules(a, b)
    }

    #[test]
    fn what_is_read_may_share_memory() {
        let read = [Place::Input(0), Place::Input(1), INCOMING, incoming(1, 0)];
        for (a, b) in read.iter().flat_map(|a| read.iter().map(move |b| (*a, *b))) {
            assert_eq!(found(&[(a, 7, &[0]), (b, 7, &[1])]), []);
        }
    }

    #[test]
    fn what_is_written_is_found_once_for_each_rule() {
        let both: [(Place, usize, &[i64]); 4] = [
            (Place::Input(0), 7, &[0]),
            (Place::Input(1), 8, &[0]),
            (Place::Output(0), 7, &[1]),
            (Place::Output(1), 7, &[1]),
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
            let finds = |one: &[i64], other: &[i64]| {
                !found(&[(read, 1, one), (Place::Output(0), 1, other)]).is_empty()
            };
            assert!(!finds(&[3], &[3]));
            assert!(finds(&[3], &[4]), "other elements");
            assert!(!finds(&[3], &[11]), "elements that none writes");
            assert!(!finds(&[3, 12], &[3]), "one in place, one that none writes");
            assert!(
                finds(&[3, 4], &[3]),
                "one in place, one that another point writes"
            );
            assert!(!finds(&[4], &[4, 20]), "each of several is replaced");
        }
        // The reads of a point may be combined while a part of them is stored.
        let finds = |at: i64| {
            let buffers: [(Place, usize, &[i64]); 2] =
                [(Place::Input(0), 1, &[at]), (Place::Output(0), 1, &[1])];
            !found_of(Role::Ps, &buffers).is_empty()
        };
        assert!(finds(1));
        assert!(!finds(9));
    }

    #[test]
    fn a_conflict_is_told_by_its_points() {
        let accesses = [element(3), element(4)].map(|map| [map]);
        let stored = |place, n: usize| Stored {
            place,
            name: "b",
            memory: 0,
            view: View {
                accesses: &accesses[n],
                origin: &[Amount::Known(0)],
            },
        };
        let buffers = [stored(Place::Input(0), 0), stored(Place::Output(0), 1)];
        let [finding] = &memory(&domain(Role::Cc), &buffers)[..] else {
            panic!("i + 2 is read where i + 3 is written");
        };
        let why =
            "(element [3] is read at (i = 1, j = 0, k = 0) and written at (i = 0, j = 0, k = 0))";
        assert!(finding.message.contains(why), "{}", finding.message);
    }

    #[test]
    fn a_carry_replaces_what_came_in_for_its_own_dimension() {
        assert_eq!(of_pair(INCOMING, OUTGOING), []);
        let refused = vec![Rule::WrittenAndRead];
        assert_eq!(of_pair(incoming(0, 1), OUTGOING), refused);
        assert_eq!(of_pair(incoming(1, 0), OUTGOING), refused);
        assert_eq!(of_pair(INCOMING, outgoing(1, 0)), refused);
        assert_eq!(of_pair(Place::Input(0), OUTGOING), refused);
    }

    #[test]
    fn what_is_written_has_memory_of_its_own() {
        let refused = vec![Rule::SharedOutput];
        assert_eq!(of_pair(Place::Output(0), Place::Output(1)), refused);
        assert_eq!(of_pair(Place::Output(0), OUTGOING), refused);
        assert_eq!(of_pair(OUTGOING, outgoing(0, 1)), refused);
        // All three: the result and what is carried out are both written.
        let three = [INCOMING, OUTGOING, Place::Output(0)].map(|place| (place, 1, &[1][..]));
        assert_eq!(
            found(&three),
            [(Rule::SharedOutput, Subject::Buffer(Place::Output(0)))]
        );
        let apart = [(Place::Output(0), 1, &[1][..]), (Place::Output(1), 1, &[9])];
        let second = Subject::Buffer(Place::Output(1));
        assert_eq!(found(&apart), [(Rule::SharedOutput, second)]);
    }
}
