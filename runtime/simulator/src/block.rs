//! One block: its threads take turns until all have ended.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use mdhrt::failure::{self, Failure, Status};

use crate::counters::{Pending, Space};
use crate::device::{self, Buffer};
use crate::flights::Flights;
use crate::launch::Launch;
use crate::report::{FindingKind, Report};
use crate::shadow::{Access, Conflict, Shadow};
use crate::site::Site;
use crate::thread::{Thread, ThreadContext, Wait};
use crate::warp::{LANES, Warp};

/// From this distance on, an address has nothing to do with a buffer.
const FAR: usize = 1 << 20;
/// Bytes of a thread's stack.
const STACK: usize = 64 * 1024;

/// Stacks that are used again: a new one costs more than a small kernel's thread.
#[derive(Default)]
pub struct Stacks(Vec<DefaultStack>);

impl Stacks {
    fn take(&mut self) -> DefaultStack {
        self.0.pop().unwrap_or_else(|| {
            DefaultStack::new(STACK).unwrap_or_else(|error| {
                failure::raise(Failure {
                    status: Status::NoMemory,
                    message: format!("no memory for the stack of a simulated thread: {error}"),
                })
            })
        })
    }
}

/// State of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    Waits(Wait),
    Ended,
}

/// A block that runs.
pub struct Block<'l> {
    launch: &'l Launch,
    number: u32,
    /// Its shared memory, in words of 16 bytes.
    shared: Vec<u128>,
    pub(crate) shadow: Shadow,
    /// Copies into it that are in flight.
    pub(crate) flights: Flights,
    /// The exchanges of its warps.
    pub warps: Vec<Warp>,
    pending: Vec<Pending>,
    /// Number of times that all of its threads have met.
    epoch: u32,
    /// Its report.
    pub report: Report,
    /// The buffer that was accessed last.
    last: usize,
}

type Lane = Coroutine<(), Wait, (), DefaultStack>;

/// Runs a block to its end.
pub fn run(launch: &Launch, number: u64, stacks: &mut Stacks) -> Report {
    let shared = vec![0_u128; launch.shared.div_ceil(size_of::<u128>())];
    let mut block = Block {
        launch,
        number: number as u32,
        shadow: Shadow::new(shared.as_ptr() as usize, launch.shared),
        shared,
        flights: Flights::default(),
        warps: vec![Warp::default(); launch.warps()],
        pending: (0..launch.warps()).map(|_| Pending::default()).collect(),
        epoch: 0,
        report: Report {
            blocks: 1,
            ..Report::default()
        },
        last: 0,
    };
    let place = block.place(number);
    let [width, height, _] = launch.threads;
    let block_at: *mut Block<'static> = (&raw mut block).cast();
    let mut threads: Vec<Thread> = (0..launch.threads_of_block())
        .map(|number| Thread {
            place: ThreadContext {
                thread: [
                    number % width,
                    number / width % height,
                    number / width / height,
                ],
                ..place
            },
            number,
            exchanges: 0,
            copies: Default::default(),
            block: block_at,
            yielder: std::ptr::null(),
        })
        .collect();
    let first = threads.as_mut_ptr();
    let mut lanes: Vec<Lane> = (0..threads.len())
        .map(|n| {
            // SAFETY: within the threads.
            let thread = unsafe { first.add(n) };
            lane(launch, thread, stacks.take())
        })
        .collect();
    Turns {
        block: block_at,
        states: vec![State::Runs; lanes.len()],
        lanes: &mut lanes,
        first,
    }
    .run();
    stacks
        .0
        .extend(lanes.into_iter().map(Coroutine::into_stack));
    (0..block.warps.len()).for_each(|warp| block.settle(warp));
    std::mem::take(&mut block.report)
}

fn lane(launch: &Launch, thread: *mut Thread, stack: DefaultStack) -> Lane {
    let (kernel, context) = (launch.kernel, launch.context as usize);
    let thread = thread as usize;
    Coroutine::with_stack(stack, move |yielder, ()| {
        let thread = thread as *mut Thread;
        // SAFETY: threads stay where they are until their coroutines have ended.
        unsafe {
            (*thread).yielder = yielder;
            kernel(context as *mut _, thread);
        }
    })
}

/// The threads of a block, in turn.
struct Turns<'b> {
    block: *mut Block<'static>,
    lanes: &'b mut [Lane],
    first: *mut Thread,
    states: Vec<State>,
}

impl Turns<'_> {
    fn run(mut self) {
        loop {
            for warp in 0..self.lanes.len().div_ceil(LANES) {
                self.run_warp(warp);
            }
            let waits_for_turn = |state: &State| *state == State::Waits(Wait::Turn);
            if self.states.iter().any(waits_for_turn) {
                std::thread::yield_now();
                self.wake(|wait| wait == Wait::Turn);
                continue;
            }
            let mut waiting = self.states.iter();
            if !waiting.any(|state| matches!(state, State::Waits(_))) {
                break;
            }
            self.meet();
        }
        for n in 0..self.lanes.len() {
            // SAFETY: the coroutines have ended.
            let (thread, block) = unsafe { (&*self.first.add(n), &mut *self.block) };
            for (site, left) in thread.copies.left() {
                block.report.add(FindingKind::Copy, (site, None), || {
                    format!("{} ends with {left} copies in flight", thread.name())
                });
            }
        }
    }

    /// Runs the lanes of a warp until they wait for other warps.
    fn run_warp(&mut self, warp: usize) {
        let lanes = warp * LANES..((warp + 1) * LANES).min(self.lanes.len());
        loop {
            for n in lanes.clone() {
                if self.states[n] == State::Runs {
                    self.states[n] = match self.lanes[n].resume(()) {
                        CoroutineResult::Yield(wait) => State::Waits(wait),
                        CoroutineResult::Return(()) => State::Ended,
                    };
                }
            }
            let at_warp = |state: &State| match state {
                State::Waits(Wait::Warp(site)) => Some(*site),
                _ => None,
            };
            let states = &self.states[lanes.clone()];
            let Some(site) = states.iter().find_map(at_warp) else {
                break;
            };
            // Lanes that wait for their turn may still come.
            if states.contains(&State::Waits(Wait::Turn)) {
                break;
            }
            // SAFETY: no lane runs.
            let (block, first) = unsafe { (&mut *self.block, &*self.first.add(lanes.start)) };
            let elsewhere = |state: &&State| at_warp(state) != Some(site);
            if let Some((n, state)) =
                (lanes.clone().zip(states)).find(|(_, state)| elsewhere(state))
            {
                let other = wait_of(*state);
                let places = (site, other);
                block.report.add(FindingKind::Warp, places, || {
                    format!("lane {} {}", n % LANES, what(*state))
                });
            }
            let done = lanes
                .clone()
                .filter(|n| at_warp(&self.states[*n]).is_some());
            // SAFETY: no lane runs.
            let done = done
                .map(|n| unsafe { (*self.first.add(n)).exchanges })
                .max();
            block.warps[warp].meet(done.unwrap_or(first.exchanges).wrapping_sub(1));
            block.settle(warp);
            for n in lanes.clone() {
                if at_warp(&self.states[n]).is_some() {
                    self.states[n] = State::Runs;
                }
            }
        }
    }

    /// All threads that have not ended wait for each other.
    fn meet(&mut self) {
        // SAFETY: no thread runs.
        let block = unsafe { &mut *self.block };
        let first = self.states.iter().find_map(|state| wait_of(*state));
        let site = first.unwrap_or(Site(std::ptr::null()));
        let expected = State::Waits(Wait::Barrier(site));
        if let Some(n) = self.states.iter().position(|state| *state != expected) {
            let state = self.states[n];
            // SAFETY: the same.
            let name = unsafe { (*self.first.add(n)).name() };
            let places = (site, wait_of(state));
            block.report.add(FindingKind::Barrier, places, || {
                let there = self.states.iter().filter(|state| **state == expected);
                format!(
                    "{} of {} threads are there, {name} {}",
                    there.count(),
                    self.states.len(),
                    what(state)
                )
            });
        }
        block.epoch += 1;
        (0..block.warps.len()).for_each(|warp| block.settle(warp));
        self.wake(|_| true);
    }

    fn wake(&mut self, which: impl Fn(Wait) -> bool) {
        for state in &mut self.states {
            if matches!(state, State::Waits(wait) if which(*wait)) {
                *state = State::Runs;
            }
        }
    }
}

fn wait_of(state: State) -> Option<Site> {
    match state {
        State::Waits(Wait::Barrier(site) | Wait::Warp(site)) => Some(site),
        _ => None,
    }
}

fn what(state: State) -> String {
    match state {
        State::Ended => "has ended".into(),
        State::Waits(Wait::Barrier(site)) => format!("is at the barrier at {}", site.text()),
        State::Waits(Wait::Warp(site)) => format!("is at {}", site.text()),
        State::Waits(Wait::Turn) | State::Runs => "is elsewhere".into(),
    }
}

/// Kind of access to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Read and written at once.
    Atomic,
}

impl Use {
    /// Returns the verb for the access in messages.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Use::Read => "reads",
            Use::Write => "writes",
            Use::Atomic => "changes",
        }
    }
}

impl Block<'_> {
    fn place(&self, number: u64) -> ThreadContext {
        ThreadContext {
            thread: [0; 3],
            block: self.launch.block(number),
            threads: self.launch.threads,
            blocks: self.launch.blocks,
            shared: self.shared.as_ptr() as *mut u8,
            bytes: self.launch.shared as u64,
        }
    }

    fn settle(&mut self, warp: usize) {
        self.pending[warp].settle(&mut self.report.counters);
    }

    /// Looks at an access before it is made. What lies in no buffer ends the launch.
    pub fn access(&mut self, thread: &Thread, how: Use, at: (usize, usize), site: Site) {
        let (address, bytes) = at;
        let access = self.now(thread, how);
        let base = self.shared.as_ptr() as usize;
        let buffer = (!self.is_shared(address, bytes)).then(|| self.buffer(address));
        let (shadow, space) = match &buffer {
            None => (&self.shadow, Space::Shared),
            Some(Some(buffer)) if buffer.has(address, bytes) => (&buffer.shadow, Space::Device),
            Some(found) => return self.outside(thread, how, at, site, found.as_deref()),
        };
        let flight = self.flights.conflict(how, space, at, shadow);
        let conflict = match how {
            Use::Read => shadow.read(address, bytes, access),
            Use::Write => shadow.write(address, bytes, access),
            Use::Atomic => {
                let read = shadow.read(address, bytes, access);
                read.or(shadow.write(address, bytes, access))
            }
        };
        if let Some(flight) = flight {
            self.meets(thread, (how, space, bytes), site, flight);
        } else if let Some(conflict) = conflict {
            let name = thread.name();
            let verb = how.verb();
            let memory = match space {
                Space::Shared => format!("byte {} of shared memory", address - base),
                Space::Device => "device memory".into(),
            };
            let other = |block, thread| format!("block {block} thread {thread}");
            let (kind, what) = match conflict {
                Conflict::Write(block, thread) => (
                    FindingKind::Race,
                    format!("what {} writes", other(block, thread)),
                ),
                Conflict::Read(block, thread) => (
                    FindingKind::Race,
                    format!("what {} reads", other(block, thread)),
                ),
                Conflict::Unwritten(_) => (FindingKind::Unwritten, "which nobody wrote".into()),
            };
            self.report.add(kind, (site, None), || {
                format!("{name} {verb} {bytes} bytes of {memory}, {what}")
            });
        }
        self.pending[thread.warp()].add(thread.lane(), site, space, at);
    }

    /// An access of a thread, as it is written down.
    pub(crate) fn now(&self, thread: &Thread, how: Use) -> Access {
        Access {
            block: self.number,
            epoch: self.epoch,
            warp_epoch: self.warps[thread.warp()].epoch,
            thread: thread.number,
            is_atomic: how == Use::Atomic,
        }
    }

    /// Returns whether bytes lie in its shared memory.
    pub(crate) fn is_shared(&self, address: usize, bytes: usize) -> bool {
        let base = self.shared.as_ptr() as usize;
        address >= base && address + bytes <= base + self.launch.shared
    }

    /// The buffer of the device that an address lies in.
    pub(crate) fn buffer(&mut self, address: usize) -> Option<std::sync::Arc<Buffer>> {
        let buffers = &self.launch.buffers;
        if !buffers.get(self.last).is_some_and(|b| b.has(address, 1)) {
            self.last = device::find(buffers, address)?;
        }
        Some(buffers[self.last].clone())
    }

    fn outside(
        &mut self,
        thread: &Thread,
        how: Use,
        (address, bytes): (usize, usize),
        site: Site,
        near: Option<&Buffer>,
    ) {
        let where_to = match near.map(|b| (address - b.base, b.bytes)) {
            Some((byte, size)) => format!("at byte {byte} of a buffer of {size}"),
            None => self.near(address),
        };
        let verb = if how == Use::Read { "reads" } else { "writes" };
        let text = format!("{} {verb} {bytes} bytes {where_to}", thread.name());
        self.report
            .add(FindingKind::Outside, (site, None), || text.clone());
        let report = std::mem::take(&mut self.report);
        device::Device::own().report().join(report);
        failure::raise(Failure::new(format!("{}: {text}", site.text())));
    }

    /// Describes an address that lies in no memory: seen from the closest one.
    fn near(&self, address: usize) -> String {
        let shared = (self.shared.as_ptr() as usize, self.launch.shared);
        let device = self.launch.buffers.iter().map(|b| (b.base, b.bytes));
        let device = device.map(|(base, bytes)| (base, bytes, "a buffer"));
        let places = device.chain([(shared.0, shared.1, "shared memory")]);
        let distance = |(base, bytes, _): &(usize, usize, &str)| match address < *base {
            true => base - address,
            false => address.saturating_sub(base + bytes),
        };
        match places.min_by_key(distance) {
            Some(memory) if distance(&memory) < FAR => {
                let (base, bytes, what) = memory;
                let byte = address as i64 - base as i64;
                format!("at byte {byte} of {what} of {bytes}")
            }
            _ => "where no memory of the device is".into(),
        }
    }
}
