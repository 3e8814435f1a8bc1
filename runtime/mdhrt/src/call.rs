//! The C function made of a compiled one: it checks its arguments as far as they can be, passes
//! them as compiled code takes them, and turns failures into a status.
//!
//! ```c
//! int f(const float *x, int64_t x_n0, float *y, int64_t y_n0)
//! {
//!     uint64_t values[] = {x, x_n0, y, y_n0};
//!     return mdh_call(code_of_f, &about_f, values);
//! }
//! ```
//!
//! Compiled code takes a pointer to each of its parameters (a memref's is a pointer to a pointer
//! to its descriptor), and then one to where its scalar result goes; several scalar results go
//! into a struct, a pointer to which comes first.

mod plan;

use std::ffi::{c_int, c_void};
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::failure::{self, Failure, Status, catch};
use crate::interface::Interface;
use plan::CallPlan;

/// A compiled function behind a wrapper that takes pointers to its arguments.
pub type Code = unsafe extern "C-unwind" fn(*mut *mut c_void);

/// Description of a function in compiled code: its [`Interface`] as text, room for the same as
/// it is used, which the first call fills in, and the code. A shared library shows it as
/// `mdh_about_NAME`, so that who loads the library can call the function without a prototype.
#[repr(C)]
pub struct About {
    plan: AtomicPtr<CallPlan>,
    text: *const u8,
    length: usize,
    code: Code,
}

impl About {
    /// The code that it describes.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The text of the function's [`Interface`].
    ///
    /// # Safety
    /// It is that of compiled code, which stays.
    pub unsafe fn text(&self) -> &str {
        // SAFETY: by this function's contract.
        let text = unsafe { slice::from_raw_parts(self.text, self.length) };
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// # Safety
    /// The text is that of an interface.
    unsafe fn plan(&self) -> Result<&CallPlan, Failure> {
        let plan = self.plan.load(Ordering::Acquire);
        // SAFETY: what is stored is never freed.
        if let Some(plan) = unsafe { plan.as_ref() } {
            return Ok(plan);
        }
        // SAFETY: by this function's contract.
        let interface = unsafe { self.text() }.parse::<Interface>();
        let interface = interface.map_err(|_| {
            Failure::new("error: libmdhrt is of another version than the code that calls it")
        })?;
        let plan = Box::into_raw(Box::new(CallPlan::new(interface)));
        // Two threads may come here first; both copies stay.
        self.plan.store(plan, Ordering::Release);
        // SAFETY: it is never freed.
        Ok(unsafe { &*plan })
    }
}

/// A compiled function that a Rust program calls as a C program would: with checked arguments, failures as values.
pub struct Callee {
    code: Code,
    plan: CallPlan,
}

impl Callee {
    /// # Safety
    /// The interface describes the code, which is there as long as calls are made.
    pub unsafe fn new(code: Code, interface: Interface) -> Callee {
        Callee {
            code,
            plan: CallPlan::new(interface),
        }
    }

    /// Returns the number of words that a call takes.
    pub fn arguments(&self) -> usize {
        self.plan.arguments()
    }

    /// Calls it: a word for each argument of its [`Interface`], in order.
    ///
    /// # Errors
    /// If arguments are not what the interface says, or a check fails in the code.
    ///
    /// # Panics
    /// If the number of words is another.
    ///
    /// # Safety
    /// Pointers point to as much memory as the numbers say.
    pub unsafe fn call(&self, values: &[u64]) -> Result<(), Failure> {
        assert_eq!(values.len(), self.arguments(), "words of a call");
        // SAFETY: by this function's contract, and that of `new`.
        unsafe { call(self.code, &self.plan, values) }
    }
}

/// Calls compiled code with the arguments of a C function: each a word, in their order. Gives a
/// [`Status`].
///
/// # Safety
/// `about` describes `code`, there are as many values as it has arguments, and the pointers among
/// them point to as much memory as the numbers say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdh_call(code: Code, about: *const About, values: *const u64) -> c_int {
    // SAFETY: by this function's contract.
    let done = unsafe {
        (*about).plan().and_then(|plan| {
            let values = slice::from_raw_parts(values, plan.arguments());
            call(code, plan, values)
        })
    };
    match done {
        Ok(()) => Status::Done as c_int,
        Err(failure) => failure::report(failure) as c_int,
    }
}

/// # Safety
/// As for [`mdh_call`].
unsafe fn call(code: Code, plan: &CallPlan, values: &[u64]) -> Result<(), Failure> {
    /// Number of words on the stack, enough for most calls.
    const USUAL: usize = 128;
    let mut few = [0; USUAL];
    let mut many = Vec::new();
    let words = match few.get_mut(..plan.words()) {
        Some(words) => words,
        None => {
            many.resize(plan.words(), 0);
            &mut many[..]
        }
    };
    let pointers = plan.fill(values, words)?;
    // SAFETY: by this function's contract, and what has been checked.
    catch(|| unsafe { code(pointers) })?;
    // SAFETY: likewise.
    unsafe { plan.store_results(values, words) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::ptr;

    use super::*;
    use crate::memory::mdh_allocate;
    use crate::pool::mdh_parallel_for;

    const SCALE: &str = "\
scale 2
value factor i16
buffer x f32 read ? rows
buffer y f32 written ?=1.0 rows
result sum f32
result count i64";

    /// The words of a descriptor of one dimension that a pointer's pointer points to.
    unsafe fn words<'a>(pointer: *mut c_void) -> &'a [u64] {
        // SAFETY: by contract.
        unsafe { slice::from_raw_parts(*pointer.cast::<*const u64>(), 5) }
    }

    /// `y[i] = factor * x[i]`, in parallel; fails at a negative element.
    unsafe extern "C-unwind" fn scale(pointers: *mut *mut c_void) {
        unsafe extern "C-unwind" fn part(pointers: *mut c_void, i: i64) {
            // SAFETY: the pointers are those of a call, which lives on.
            unsafe {
                let pointers = pointers.cast::<*mut c_void>();
                let factor = *(*pointers.add(1)).cast::<i16>();
                let (x, y) = (words(*pointers.add(2)), words(*pointers.add(3)));
                let x = *(x[1] as *const f32).add(i as usize);
                mdh_allocate(100);
                if x < 0.0 {
                    failure::mdh_say(c"a.mlir:1:2: error: negative".as_ptr());
                    failure::mdh_stop();
                }
                *(y[1] as *mut f32).add(i as usize) = f32::from(factor) * x;
            }
        }
        // SAFETY: the call has these pointers.
        unsafe {
            let (x, y) = (words(*pointers.add(2)), words(*pointers.add(3)));
            mdh_parallel_for(part, pointers.cast(), x[3] as i64);
            let sum = (0..y[3] as usize)
                .map(|i| *(y[1] as *const f32).add(i))
                .sum();
            let area = *(*pointers).cast::<*mut c_void>();
            *area.cast::<f32>() = sum;
            *area.cast::<i64>().add(1) = x[3] as i64;
        }
    }

    /// The status, the message and the results of a call.
    fn call_scale(values: &mut [u64; 7]) -> (c_int, String, f32, i64) {
        let (mut sum, mut count) = (0f32, 0i64);
        if values[5] == 1 {
            values[5] = (&raw mut sum).expose_provenance() as u64;
        }
        values[6] = (&raw mut count).expose_provenance() as u64;
        let about = About {
            plan: AtomicPtr::default(),
            text: SCALE.as_ptr(),
            length: SCALE.len(),
            code: scale,
        };
        // SAFETY: what is wrong with the arguments is found out.
        let status = unsafe { mdh_call(scale, &about, values.as_ptr()) };
        // SAFETY: the message stays until the next failure.
        let message = unsafe { CStr::from_ptr(failure::mdh_error()) };
        let message = match status {
            0 => String::new(),
            _ => message.to_string_lossy().into_owned(),
        };
        (status, message, sum, count)
    }

    fn address<T>(slice: &mut [T]) -> u64 {
        slice.as_mut_ptr().expose_provenance() as u64
    }

    #[test]
    fn arguments_arrive_and_results_come_back() {
        let (mut x, mut y) = ([1f32, 2.0, 3.0], [0f32; 3]);
        // What stands above an argument's bits is of no account.
        let factor = 0xabcd_0000 | u64::from((-2i16) as u16);
        let mut values = [factor, address(&mut x), 3, address(&mut y), 3, 1, 1];
        let outcome = call_scale(&mut values);
        assert_eq!(outcome, (0, String::new(), -12.0, 3));
        assert_eq!(y, [-2.0, -4.0, -6.0]);
    }

    #[test]
    fn a_check_that_fails_on_a_thread_is_a_status() {
        for n in [1, 2, 1000] {
            let (mut x, mut y) = (vec![1f32; n], vec![0f32; n]);
            x[n - 1] = -1.0;
            let n = n as u64;
            let mut values = [1, address(&mut x), n, address(&mut y), n, 1, 1];
            for _ in 0..3 {
                let (status, message, sum, _) = call_scale(&mut values);
                assert_eq!((status, sum), (1, 0.0));
                assert_eq!(message, "a.mlir:1:2: error: negative");
            }
        }
    }

    #[test]
    fn wrong_arguments() {
        let (mut x, mut y) = ([1f32; 4], [0f32; 4]);
        let right = [1, address(&mut x), 4, address(&mut y), 4, 1, 1];
        let with = |changes: &[(usize, u64)]| {
            let mut values = right;
            changes.iter().for_each(|&(at, value)| values[at] = value);
            let (status, message, ..) = call_scale(&mut values);
            assert_eq!(status, c_int::from(!message.is_empty()));
            message
        };
        assert_eq!(with(&[]), "");
        assert_eq!(with(&[(1, 0)]), "error: scale: 'x' is a null pointer");
        assert_eq!(with(&[(5, 0)]), "error: scale: 'sum' is a null pointer");
        assert_eq!(
            with(&[(4, 3)]),
            "error: scale: y_n0 is 3, expected 4, which is x_n0"
        );
        assert_eq!(
            with(&[(2, u64::MAX)]),
            "error: scale: 'x' has the extent -1 along axis 0, expected at least 0"
        );
        assert_eq!(
            with(&[(2, 1 << 62)]),
            "error: scale: 'x' is larger than memory can be"
        );
        assert_eq!(
            with(&[(3, right[1] + 4)]),
            "error: scale: 'y', which is written, overlaps 'x' in memory: pass memory of its \
             own for one of the two"
        );
        assert_eq!(
            with(&[(5, right[1] + 4)]),
            "error: scale: 'sum', which is written, overlaps 'x' in memory: pass memory of its \
             own for one of the two"
        );
        assert_eq!(
            with(&[(5, right[3])]),
            "error: scale: 'y', which is written, overlaps 'sum' in memory: pass memory of its \
             own for one of the two"
        );
        assert_eq!(
            with(&[(5, right[1] + 2)]),
            "error: scale: 'sum' is at an address that is no multiple of 4, the size of its elements"
        );
        assert_eq!(
            with(&[(3, right[3] + 2)]),
            "error: scale: 'y' is at an address that is no multiple of 4, the size of its elements"
        );
        assert_eq!(with(&[(1, 0), (2, 0), (3, 0), (4, 0)]), "");
    }

    #[test]
    fn code_of_another_version() {
        let about = About {
            plan: AtomicPtr::default(),
            text: c"f 0\nsomething new".as_ptr().cast(),
            length: 17,
            code: scale,
        };
        // SAFETY: no value is looked at.
        let status = unsafe { mdh_call(scale, &about, ptr::null()) };
        assert_eq!(status, 1);
    }
}
