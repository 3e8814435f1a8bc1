//! Work of LLVM's that does not end, and what is done instead.

use std::ffi::c_void;
use std::fmt::Write;
use std::ptr::from_mut;
use std::sync::Mutex;
use std::time::Duration;

use mdh_jit::{Level, Module, Slow, on_slow};

static SEEN: Mutex<Vec<Slow>> = Mutex::new(Vec::new());

/// Number of steps: from the last one, 3^30 ways lead to the first.
const STEPS: usize = 30;

/// For each of `n` elements of `%y` the same: from step to step the sum of what is so far and the next
/// element of `%x`, or what is so far if that is less.
fn chain() -> String {
    let mut text = "define void @_mlir_ciface_f(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s0 = load i64, ptr %x
"
    .to_string();
    for n in 0..STEPS {
        let step = format!(
            "  %p{n} = getelementptr i64, ptr %x, i64 {n}
  %x{n} = load i64, ptr %p{n}
  %c{n} = icmp slt i64 %s{n}, %x{n}
  %a{n} = add i64 %s{n}, %x{n}
  %s{} = select i1 %c{n}, i64 %s{n}, i64 %a{n}
",
            n + 1
        );
        text.write_str(&step).unwrap();
    }
    let end = format!(
        "  %q = getelementptr i64, ptr %y, i64 %i
  store i64 %s{STEPS}, ptr %q
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"
    );
    text + &end
}

#[test]
fn a_function_on_which_llvm_does_not_end_has_less_optimisation() {
    // SAFETY: no other thread is there yet.
    unsafe { std::env::set_var("MDH_LLVM_SECONDS", "0.5") };
    on_slow(|slow| SEEN.lock().unwrap().push(slow.clone()));
    let mut module = Module::parse("chain", &chain()).unwrap();
    module.add_entry("f").unwrap();
    let jit = module.optimise(Level::Full).unwrap().load().unwrap();
    let place = ("loop-vectorize".to_string(), "_mlir_ciface_f".to_string());
    let expected = Slow {
        limit: Duration::from_millis(500),
        place: Some(place),
    };
    assert_eq!(*SEEN.lock().unwrap(), [expected]);

    let x: Vec<i64> = (0..STEPS as i64).map(|n| n * 7 % 11 - 4).collect();
    let step = |so_far: i64, x: &i64| if so_far < *x { so_far } else { so_far + x };
    let folded = x.iter().fold(x[0], step);
    let mut y = [0i64; 5];
    let (mut from, mut to, mut n) = (x.as_ptr(), y.as_mut_ptr(), 5i64);
    let mut arguments = [
        from_mut(&mut from).cast::<c_void>(),
        from_mut(&mut to).cast(),
        from_mut(&mut n).cast(),
    ];
    // SAFETY: two pointers to as many elements as are accessed, and their number.
    unsafe { jit.function("f").unwrap().call(&mut arguments) }.unwrap();
    assert_eq!(y, [folded; 5]);
}
