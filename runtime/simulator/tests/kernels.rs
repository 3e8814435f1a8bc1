//! Kernels written by hand, with and without mistakes.

use std::ffi::{CStr, c_void};
use std::sync::Mutex;

use mdh_simulator::calls::*;
use mdh_simulator::device::{Device, mdh_sim_allocate, mdh_sim_free, mdh_sim_transfer};
use mdh_simulator::launch::{Kernel, mdh_sim_launch};
use mdh_simulator::report::{FindingKind, Report};
use mdh_simulator::thread::{Site, Thread};

/// The device is the process's: one test at a time.
static ONE: Mutex<()> = Mutex::new(());

fn site(text: &'static CStr) -> Site {
    Site(text.as_ptr())
}

/// Numbers on the device.
struct Numbers(*mut u32, usize);

impl Numbers {
    fn new(values: &[u32]) -> Numbers {
        let base = mdh_sim_allocate(size_of_val(values) as i64);
        // SAFETY: as many bytes on both sides.
        unsafe { mdh_sim_transfer(base, values.as_ptr().cast(), size_of_val(values) as i64) };
        Numbers(base.cast(), values.len())
    }

    fn unwritten(count: usize) -> Numbers {
        Numbers(mdh_sim_allocate(4 * count as i64).cast(), count)
    }

    fn get(&self) -> Vec<u32> {
        // SAFETY: it has that many.
        unsafe { std::slice::from_raw_parts(self.0, self.1).to_vec() }
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        mdh_sim_free(self.0.cast());
    }
}

/// Arguments of a kernel.
#[repr(C)]
struct Context {
    input: *mut u32,
    output: *mut u32,
}

/// A thread's indices, and its memory.
struct Own {
    thread: *mut Thread,
    index: usize,
    block: usize,
    threads: usize,
    shared: *mut u32,
    input: *mut u32,
    output: *mut u32,
}

impl Own {
    unsafe fn new(context: *mut c_void, thread: *mut Thread) -> Own {
        // SAFETY: a kernel's arguments.
        unsafe {
            let (place, context) = ((*thread).place, &*context.cast::<Context>());
            Own {
                thread,
                index: place.thread[0] as usize,
                block: place.block[0] as usize,
                threads: place.threads[0] as usize,
                shared: place.shared.cast(),
                input: context.input,
                output: context.output,
            }
        }
    }

    unsafe fn load(&self, from: *mut u32, at: usize, site: Site) -> u32 {
        // SAFETY: checked before it is read.
        unsafe {
            mdh_sim_read(self.thread, from.wrapping_add(at) as usize, 4, site);
            *from.add(at)
        }
    }

    unsafe fn store(&self, to: *mut u32, at: usize, value: u32, site: Site) {
        // SAFETY: checked before it is written.
        unsafe {
            mdh_sim_write(self.thread, to.wrapping_add(at) as usize, 4, site);
            *to.add(at) = value;
        }
    }
}

fn launch(
    kernel: Kernel,
    blocks: i64,
    threads: i64,
    shared: i64,
    buffers: [&Numbers; 2],
) -> Report {
    let context = Context {
        input: buffers[0].0,
        output: buffers[1].0,
    };
    let context = (&raw const context).cast_mut().cast();
    Device::own().take_report();
    let run = mdhrt::failure::catch(|| {
        // SAFETY: a kernel of these tests.
        unsafe { mdh_sim_launch(kernel, context, &[blocks, 1, 1], &[threads, 1, 1], shared) }
    });
    let mut report = Device::own().take_report();
    if let Err(failure) = run {
        report.add(FindingKind::Outside, (site(c"the launch"), None), || {
            failure.message.clone()
        });
    }
    report
}

fn kinds(report: &Report) -> Vec<FindingKind> {
    let mut kinds: Vec<FindingKind> = report.findings.keys().map(|(kind, _)| *kind).collect();
    kinds.dedup();
    kinds
}

/// Turns the numbers of a block around, through shared memory; `barrier` or not.
unsafe fn turn_around(own: &Own, barrier: bool) {
    // SAFETY: within the buffers of the tests.
    unsafe {
        let first = own.block * own.threads;
        let value = own.load(own.input, first + own.index, site(c"load"));
        own.store(own.shared, own.index, value, site(c"store"));
        if barrier {
            mdh_sim_barrier(own.thread, site(c"barrier"));
        }
        let other = own.threads - 1 - own.index;
        let value = own.load(own.shared, other, site(c"turn"));
        own.store(own.output, first + own.index, value, site(c"result"));
    }
}

unsafe extern "C-unwind" fn reverse(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe { turn_around(&Own::new(context, thread), true) }
}

unsafe extern "C-unwind" fn no_barrier(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe { turn_around(&Own::new(context, thread), false) }
}

/// The sum of each block, by shuffles and shared memory.
unsafe extern "C-unwind" fn sum(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe {
        let device = Own::new(context, thread);
        let mut value = device.load(
            device.input,
            device.block * device.threads + device.index,
            site(c"load"),
        );
        let shuffle = |value: u32, operand: u32| {
            let bits = u64::from(value);
            let mode = Shuffle::Xor;
            mdh_sim_shuffle(thread, mode, bits, operand, 32, site(c"shuffle")).bits as u32
        };
        for distance in [16, 8, 4, 2, 1] {
            value += shuffle(value, distance);
        }
        if device.index.is_multiple_of(32) {
            device.store(device.shared, device.index / 32, value, site(c"partial"));
        }
        mdh_sim_barrier(thread, site(c"barrier"));
        if device.index < 32 {
            let is_one = device.index < device.threads / 32;
            let mut value = match is_one {
                true => device.load(device.shared, device.index, site(c"partials")),
                false => 0,
            };
            for distance in [16, 8, 4, 2, 1] {
                value += shuffle(value, distance);
            }
            if device.index == 0 {
                device.store(device.output, device.block, value, site(c"result"));
            }
        }
    }
}

/// Half of the threads leave before a barrier.
unsafe extern "C-unwind" fn leaves(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe {
        let device = Own::new(context, thread);
        if device.index < device.threads / 2 {
            mdh_sim_barrier(thread, site(c"barrier"));
        }
    }
}

/// Each branch has a barrier of its own.
unsafe extern "C-unwind" fn two_barriers(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe {
        let device = Own::new(context, thread);
        match device.index % 2 {
            0 => mdh_sim_barrier(thread, site(c"even")),
            _ => mdh_sim_barrier(thread, site(c"odd")),
        }
    }
}

/// Half of a warp shuffles.
unsafe extern "C-unwind" fn half_shuffles(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe {
        let device = Own::new(context, thread);
        if device.index < 16 {
            mdh_sim_warp_barrier(thread, site(c"warp"));
        } else {
            mdh_sim_barrier(thread, site(c"barrier"));
        }
        mdh_sim_barrier(thread, site(c"after"));
    }
}

/// The last thread reads past the end.
unsafe extern "C-unwind" fn past_the_end(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe {
        let device = Own::new(context, thread);
        device.load(device.input, device.index + 1, site(c"load"));
    }
}

/// All blocks write the same element.
unsafe extern "C-unwind" fn same_element(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe {
        let device = Own::new(context, thread);
        if device.index == 0 {
            device.store(device.output, 0, 1, site(c"store"));
        }
    }
}

/// Copies through shared memory, and waits for the copy or not.
unsafe fn copy(own: &Own, waits: bool) {
    // SAFETY: within the buffers of the tests.
    unsafe {
        let at = |base: *mut u32| base.add(own.index) as usize;
        let (to, from) = (at(own.shared), at(own.input));
        mdh_sim_copy(own.thread, to, from, 4, 4, site(c"copy"));
        mdh_sim_commit(own.thread);
        if waits {
            mdh_sim_wait(own.thread, 0);
        }
        let value = own.load(own.shared, own.index, site(c"load"));
        own.store(own.output, own.index, value, site(c"result"));
    }
}

unsafe extern "C-unwind" fn waits(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe { copy(&Own::new(context, thread), true) }
}

unsafe extern "C-unwind" fn does_not_wait(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe { copy(&Own::new(context, thread), false) }
}

/// Columns of a tile of 32 x 32 words.
unsafe extern "C-unwind" fn columns(context: *mut c_void, thread: *mut Thread) {
    // SAFETY: a kernel's arguments.
    unsafe {
        let device = Own::new(context, thread);
        device.store(device.shared, device.index * 32, 1, site(c"column"));
        device.store(device.output, device.index * 32, 1, site(c"stride"));
    }
}

#[test]
fn right_kernels_have_clean_reports() {
    let _one = ONE.lock();
    let values: Vec<u32> = (0..256).collect();
    let (input, output) = (Numbers::new(&values), Numbers::unwritten(256));
    let report = launch(reverse, 2, 128, 512, [&input, &output]);
    assert!(report.is_clean(), "{report}");
    let expected: Vec<u32> = (0..128).rev().chain((128..256).rev()).collect();
    assert_eq!(output.get(), expected);
    assert_eq!((report.launches, report.blocks), (1, 2));
    let report = launch(sum, 2, 128, 16, [&input, &output]);
    assert!(report.is_clean(), "{report}");
    assert_eq!(output.get()[..2], [8128, 24512]);
    let report = launch(waits, 1, 128, 512, [&input, &output]);
    assert!(report.is_clean(), "{report}");
    assert_eq!(output.get()[..128], values[..128]);
}

#[test]
fn mistakes_are_found() {
    let _one = ONE.lock();
    let numbers = vec![0; 1024];
    let (input, output) = (Numbers::new(&numbers), Numbers::new(&numbers));
    let empty = Numbers::unwritten(1024);
    let both = [&input, &output];
    type Planted<'a> = (&'a str, Kernel, i64, i64, [&'a Numbers; 2], FindingKind);
    let planted: [Planted; 8] = [
        ("no barrier", no_barrier, 1, 128, both, FindingKind::Race),
        ("leaves", leaves, 1, 64, both, FindingKind::Barrier),
        (
            "two barriers",
            two_barriers,
            1,
            64,
            both,
            FindingKind::Barrier,
        ),
        (
            "half shuffles",
            half_shuffles,
            1,
            32,
            both,
            FindingKind::Warp,
        ),
        (
            "past the end",
            past_the_end,
            1,
            1024,
            both,
            FindingKind::Outside,
        ),
        ("same element", same_element, 2, 32, both, FindingKind::Race),
        (
            "no wait",
            does_not_wait,
            1,
            32,
            both,
            FindingKind::Unwritten,
        ),
        (
            "unwritten",
            reverse,
            1,
            32,
            [&empty, &output],
            FindingKind::Unwritten,
        ),
    ];
    for (name, kernel, blocks, threads, buffers, kind) in planted {
        let report = launch(kernel, blocks, threads, 8192, buffers);
        assert!(kinds(&report).contains(&kind), "{name}: {report}");
    }
}

#[test]
fn banks_and_sectors_are_counted() {
    let _one = ONE.lock();
    let numbers = Numbers::new(&vec![0; 1024]);
    let report = launch(columns, 1, 32, 4096, [&numbers, &numbers]);
    assert!(report.is_clean(), "{report}");
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[2..],
        [
            "column: 1 accesses to shared memory in 32 rounds of banks, at best 1",
            "stride: 1 accesses to device memory moved 32 sectors, at best 4",
        ]
    );
}

#[test]
fn too_large_launches_are_refused() {
    let _one = ONE.lock();
    let numbers = Numbers::new(&[0]);
    for (blocks, threads, shared) in [(1, 1025, 0), (1, 32, 1 << 20), (-1, 32, 0)] {
        let report = launch(reverse, blocks, threads, shared, [&numbers, &numbers]);
        let text = report.to_string();
        assert!(text.contains("expected"), "{text}");
    }
}
