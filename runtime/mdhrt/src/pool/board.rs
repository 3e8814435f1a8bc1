//! The board on which jobs are dealt out: all state that the threads of a [pool](super) share.
//!
//! A job has units `0..n`. Each of the `T` threads has a *seat* with a range of them, written as
//! one 64-bit *ticket*: `next` in the high half, `end` in the low half. Whoever moves `next` up
//! by one with a compare-and-exchange has *claimed* unit `next` and runs it. A thread claims from
//! its own seat first and then from all others, so nobody is waited for who has not come.
//!
//! ```text
//! leader:  share := job            (plain)        worker:  ticket.load            (spins)
//!          ticket := next, end     (release) ---> claim    ticket.cas(next + 1)   (acquire)
//!          claims, runs                                    reads share, runs
//!          sum of finished.load    (acquire) <-- report    finished += units      (release)
//! ```
//!
//! Why this is right:
//!
//! - *Each unit is run once.* Every unit lies in one range, and a ticket only goes up during a
//!   job. The exchange compares all that a ticket says; should a thread be held up between its
//!   load and its exchange until a later job shows the same ticket, it claims a unit of that
//!   later job, one that is free. Nothing is concluded from the earlier load.
//! - *What a claimer reads is the job it has claimed from.* The exchange acquires what the
//!   leader released with the ticket (exchanges by others in between continue its release
//!   sequence), so it sees the share. The share stays: the leader deals out the next job only
//!   when all units of this one are reported, and a report comes after all reads of its units.
//! - *Results are visible.* A report releases, and the leader's sum acquires, what the units
//!   wrote. Counts go up for ever, so a sum that has reached all units ever dealt out says that
//!   every one of them is reported.
//! - *No worker sleeps through a job.* A worker that gives up spinning writes `asleep`, fences
//!   and looks at its ticket again. Who wakes writes (or has acquired) the ticket, fences and
//!   looks at `asleep`. Both fences are sequentially consistent, so one of the two sees the
//!   other's write.
//!
//! To wake a thread takes microseconds, so the leader does not wake all: whoever claims the first
//! unit of a seat wakes the seats below it in a tree of [`ARITY`] branches. Tickets are written
//! from the last to the first, so that a seat's tickets below it stand before its own.
//!
//! The leader goes through the seats upwards, and all take units of a seat in order. So when the
//! leader is at a unit, every lower unit is claimed: a unit may *wait* for lower ones (a
//! prefix-sum that takes over the carry of the block before), and there will be an end.

use std::sync::Arc;

use super::sync::{
    AtomicU32, AtomicU64, Cell, Ordering, Patience, Waiting, fence, sleep_while, wake,
};

/// The most units of one job.
pub const MOST_UNITS: u32 = u32::MAX - 1;

/// Seats that one seat wakes.
const ARITY: u32 = 4;

/// The ticket that ends a worker: an empty range that no job has.
const STOP: u64 = u64::MAX;

/// The state of a worker that sleeps, or is about to.
const ASLEEP: u32 = 1;
/// The state of any other.
const AWAKE: u32 = 0;

/// State that the threads of one pool share. `J` is what they need to know about a job.
pub struct Board<J> {
    seats: Box<[Seat<J>]>,
}

/// One thread's place. Its three parts are written at different times by different threads, so
/// each has its own cache lines (two: they are fetched in pairs).
struct Seat<J> {
    range: CachePadded<Range<J>>,
    finished: CachePadded<AtomicU64>,
    state: CachePadded<AtomicU32>,
}

#[repr(align(128))]
struct CachePadded<T>(T);

struct Range<J> {
    ticket: AtomicU64,
    share: Cell<Share<J>>,
}

/// State of a ticket.
#[derive(Clone, Copy)]
struct Share<J> {
    job: J,
    /// The seat's first unit, whose claimer wakes others.
    first: u32,
    /// The seat's number among those with units, and how many there are.
    rank: u32,
    ranks: u32,
}

impl<J: Copy> Board<J> {
    /// A board for `threads` threads, the leader being number 0. `none` stands for no job.
    pub fn new(threads: u32, none: J) -> Board<J> {
        let seat = |_| Seat {
            range: CachePadded(Range {
                ticket: AtomicU64::new(0),
                share: Cell::new(Share {
                    job: none,
                    first: 0,
                    rank: 0,
                    ranks: 0,
                }),
            }),
            finished: CachePadded(AtomicU64::new(0)),
            state: CachePadded(AtomicU32::new(AWAKE)),
        };
        Board {
            seats: (0..threads).map(seat).collect(),
        }
    }

    /// The whole life of worker `me`: runs units until the leader is dropped.
    pub fn serve(&self, me: usize, patience: Patience, run: impl Fn(J, u32)) {
        let mut finished = 0;
        let mut left = patience;
        while self.expect_work(me, &mut left) {
            if self.work(me, &mut finished, &run) > 0 {
                left = patience;
            }
        }
    }

    /// Waits until there may be work; `false` if there will be none.
    fn expect_work(&self, me: usize, patience: &mut Patience) -> bool {
        let seat = &self.seats[me];
        let ticket = &seat.range.0.ticket;
        loop {
            // Relaxed: the claim acquires.
            match ticket.load(Ordering::Relaxed) {
                STOP => return false,
                shown if has_units(shown) => return true,
                _ if patience.spin() => continue,
                _ => {}
            }
            let state = &seat.state.0;
            state.store(ASLEEP, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            let shown = ticket.load(Ordering::Relaxed);
            if shown == STOP || has_units(shown) {
                state.store(AWAKE, Ordering::Relaxed);
                continue;
            }
            sleep_while(state, ASLEEP);
            *patience = patience.after_sleep();
            // Its own units may be gone already, but perhaps not those of others.
            return ticket.load(Ordering::Relaxed) != STOP;
        }
    }

    /// Runs units until none is left to claim, then reports them. Says how many there were.
    fn work(&self, me: usize, finished: &mut u64, run: &impl Fn(J, u32)) -> u64 {
        let before = *finished;
        let (others, own) = self.seats.split_at(me);
        for seat in own.iter().chain(others) {
            while let Some((job, unit)) = self.claim(&seat.range.0) {
                run(job, unit);
                *finished = finished.wrapping_add(1);
            }
        }
        if *finished != before {
            // Release: the leader is to see what the units wrote.
            self.seats[me]
                .finished
                .0
                .store(*finished, Ordering::Release);
        }
        finished.wrapping_sub(before)
    }

    /// Takes the next unit of a seat, if it has one.
    fn claim(&self, range: &Range<J>) -> Option<(J, u32)> {
        let mut shown = range.ticket.load(Ordering::Relaxed);
        while has_units(shown) {
            // Acquire: the share belongs to the ticket.
            let claimed = range.ticket.compare_exchange_weak(
                shown,
                shown + (1 << 32),
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match claimed {
                Err(now) => shown = now,
                Ok(_) => {
                    // SAFETY: the leader writes the share only when no unit is unreported.
                    let share = unsafe { range.share.get() };
                    let unit = (shown >> 32) as u32;
                    if unit == share.first {
                        self.wake_below(share.rank, share.ranks);
                    }
                    return Some((share.job, unit));
                }
            }
        }
        None
    }

    /// Wakes the sleeping among the seats below a seat.
    fn wake_below(&self, rank: u32, ranks: u32) {
        let first = rank.saturating_mul(ARITY).saturating_add(1);
        if first >= ranks {
            return;
        }
        fence(Ordering::SeqCst); // after the tickets were written, before the states are read
        for below in first..first.saturating_add(ARITY).min(ranks) {
            self.wake(seat_of(below, ranks, self.threads()));
        }
    }

    /// Wakes one worker if it sleeps.
    fn wake(&self, seat: usize) {
        let state = &self.seats[seat].state.0;
        if state.load(Ordering::Relaxed) == ASLEEP && state.swap(AWAKE, Ordering::Release) == ASLEEP
        {
            wake(state);
        }
    }

    fn threads(&self) -> u32 {
        self.seats.len() as u32
    }
}

/// The right to deal out jobs, which one thread at a time has. Dropping it ends the workers.
pub struct Leader<J: Copy> {
    board: Arc<Board<J>>,
    /// Units dealt out since the beginning.
    dealt: u64,
    /// Of these, run by leaders.
    finished: u64,
}

impl<J: Copy> Leader<J> {
    /// The leader of a new board, which has no other.
    pub fn new(threads: u32, none: J) -> Leader<J> {
        Leader {
            board: Arc::new(Board::new(threads, none)),
            dealt: 0,
            finished: 0,
        }
    }

    /// The board, for the workers.
    pub fn board(&self) -> Arc<Board<J>> {
        Arc::clone(&self.board)
    }

    /// Runs each of the units `0..units` once (at most [`MOST_UNITS`]), here and on the workers, and returns when all are
    /// done. Unit `u` belongs to thread `u * threads / units`.
    pub fn run(&mut self, job: J, units: u32, run: impl Fn(J, u32)) {
        self.deal(job, units);
        self.board.work(0, &mut self.finished, &run);
        let mut waiting = Waiting::default();
        while self.reported() != self.dealt {
            waiting.pause();
        }
    }

    /// Writes the tickets, the last one first.
    fn deal(&mut self, job: J, units: u32) {
        let threads = self.board.threads();
        let ranks = units.min(threads);
        for rank in (0..ranks).rev() {
            let seat = seat_of(rank, ranks, threads);
            let (first, end) = range_of(seat, threads, units);
            let range = &self.board.seats[seat].range.0;
            let share = Share {
                job,
                first,
                rank,
                ranks,
            };
            // SAFETY: all units dealt out so far are reported, so nobody reads a share.
            unsafe { range.share.set(share) };
            // Release: who claims from the ticket sees the share.
            let ticket = u64::from(first) << 32 | u64::from(end);
            range.ticket.store(ticket, Ordering::Release);
        }
        self.dealt = self.dealt.wrapping_add(u64::from(units));
    }

    /// Returns the number of units reported since the beginning.
    fn reported(&self) -> u64 {
        let workers = self.board.seats[1..].iter();
        // Acquire: what the units wrote is to be seen.
        workers.fold(self.finished, |sum, seat| {
            sum.wrapping_add(seat.finished.0.load(Ordering::Acquire))
        })
    }
}

impl<J: Copy> Drop for Leader<J> {
    fn drop(&mut self) {
        for seat in &self.board.seats[1..] {
            seat.range.0.ticket.store(STOP, Ordering::Release);
        }
        fence(Ordering::SeqCst); // as in `wake_below`
        for seat in 1..self.board.seats.len() {
            self.board.wake(seat);
        }
    }
}

/// Returns whether a ticket has units to claim.
fn has_units(ticket: u64) -> bool {
    (ticket >> 32) < (ticket & u64::from(u32::MAX))
}

/// The seat that is number `rank` of the `ranks` seats that get units.
fn seat_of(rank: u32, ranks: u32, threads: u32) -> usize {
    (u64::from(rank) * u64::from(threads) / u64::from(ranks)) as usize
}

/// The units `u` with `u * threads / units == seat`, from the first to before the last.
fn range_of(seat: usize, threads: u32, units: u32) -> (u32, u32) {
    let bound = |seat: u64| (seat * u64::from(units)).div_ceil(u64::from(threads)) as u32;
    (bound(seat as u64), bound(seat as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_belongs_to_the_seat_it_is_said_to() {
        for threads in 1..=9 {
            for units in 1..=40 {
                let ranks = units.min(threads);
                let mut next = 0;
                for rank in 0..ranks {
                    let seat = seat_of(rank, ranks, threads);
                    let (first, end) = range_of(seat, threads, units);
                    assert_eq!(first, next, "{threads} {units} {rank}");
                    for unit in first..end {
                        assert_eq!((unit * threads / units) as usize, seat);
                    }
                    assert!(first < end);
                    next = end;
                }
                assert_eq!(next, units);
            }
        }
    }

    #[test]
    fn the_largest_job_fits() {
        let (first, end) = range_of(1023, 1024, MOST_UNITS);
        assert!(first < end && end == MOST_UNITS);
        assert!(!has_units(STOP));
    }

    #[test]
    fn every_seat_is_woken_by_one_other() {
        let mut woken = vec![0; 100];
        for rank in 0..100 {
            let first = rank * ARITY + 1;
            (first..(first + ARITY).min(100)).for_each(|below| woken[below as usize] += 1);
        }
        assert_eq!(woken[0], 0);
        assert!(woken[1..].iter().all(|&times| times == 1));
    }
}
