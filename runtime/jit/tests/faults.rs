//! Ends of the process through compiled code that fails: each case runs this binary again.

use std::process::{Command, Output};

use mdh_jit::faults::{MEMORY_FAULT, PROGRAM_FAILED, running};
use mdh_jit::{Arguments, Level, Module};

const CASE: &str = "MDH_FAULT_CASE";

/// Calls `@_mlir_ciface_f(i64 %x)` of `ir` in a process of its own, where the pool has two
/// threads.
fn outcome(ir: &str, argument: i64) -> Output {
    child("compiled", &format!("{argument}\n{ir}"))
}

/// Runs one test of this file in a process of its own.
fn child(test: &str, case: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CASE, case)
        .env("MDH_THREADS", "2")
        .output()
        .unwrap()
}

#[test]
fn compiled() {
    let Ok(case) = std::env::var(CASE) else {
        return;
    };
    let (argument, ir) = case.split_once('\n').unwrap();
    let mut module = Module::parse("fault", ir).unwrap();
    module.add_entry("f").unwrap();
    let jit = module.optimise(Level::Full).unwrap().load().unwrap();
    let mut arguments = Arguments::new();
    arguments
        .scalar(argument.parse::<i64>().unwrap() as u64)
        .result_slot();
    let function = jit.function("f").unwrap();
    // SAFETY: a scalar and a scalar result. That it fails is the test.
    running(|| unsafe { function.call_with(&mut arguments) }).unwrap();
    println!("result {}", arguments.result(8));
}

/// The exit code and what was said.
#[track_caller]
fn assert_ends(output: &Output, code: i32, words: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(words), "{text}");
}

#[test]
fn division_by_zero_says_so() {
    let ir = "define i64 @_mlir_ciface_f(i64 %x) { %r = sdiv i64 100, %x ret i64 %r }";
    let output = outcome(ir, 0);
    assert_ends(
        &output,
        PROGRAM_FAILED,
        "error: the compiled program divided an integer by zero",
    );
    let output = outcome(ir, 7);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("result 14"));
}

#[test]
fn a_failed_assertion_gives_its_text() {
    let ir = r#"
        @text = private constant [36 x i8] c"reads 0 to 9 of %a, which has 5 (a)\00"
        declare i32 @puts(ptr)
        declare void @abort()
        define i64 @_mlir_ciface_f(i64 %x) {
          %ok = icmp ne i64 %x, 0
          br i1 %ok, label %fine, label %failed
        fine:
          ret i64 1
        failed:
          %n = call i32 @puts(ptr @text)
          call void @abort()
          unreachable
        }"#;
    assert_ends(
        &outcome(ir, 0),
        PROGRAM_FAILED,
        "error: reads 0 to 9 of %a, which has 5 (a)\n",
    );
    assert_ends(&outcome(ir, 1), 0, "");
}

#[test]
fn a_wild_access_is_reported() {
    let ir = "define i64 @_mlir_ciface_f(i64 %x) {
        %p = inttoptr i64 %x to ptr
        %r = load volatile i64, ptr %p
        ret i64 %r
      }";
    assert_ends(&outcome(ir, 64), MEMORY_FAULT, "memory that is not its own");
}

#[test]
fn endless_recursion_is_reported() {
    let ir = "define i64 @_mlir_ciface_f(i64 %x) {
        %m = alloca [4096 x i64]
        %p = getelementptr i64, ptr %m, i64 %x
        store volatile i64 %x, ptr %p
        %y = call i64 @_mlir_ciface_f(i64 %x)
        %z = load volatile i64, ptr %p
        %r = add i64 %y, %z
        ret i64 %r
      }";
    assert_ends(&outcome(ir, 1), PROGRAM_FAILED, "calls itself too often");
}

/// Calls `body` for two parts on two threads: the caller sleeps in part 0, so part 1 is the
/// worker's, and the only one that does what `worker` says.
fn on_a_worker(worker: &str) -> String {
    format!(
        r#"
        @text = private constant [23 x i8] c"reads 9 of %a (size 5)\00"
        declare void @mdh_parallel_for(ptr, ptr, i64)
        declare i32 @sleep(i32)
        declare i32 @puts(ptr)
        declare void @abort()
        declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
        define i64 @endless(i64 %x) {{
          %m = alloca [4096 x i64]
          %p = getelementptr i64, ptr %m, i64 %x
          store volatile i64 %x, ptr %p
          %y = call i64 @endless(i64 %x)
          %z = load volatile i64, ptr %p
          %r = add i64 %y, %z
          ret i64 %r
        }}
        define void @body(ptr %context, i64 %part) {{
          %first = icmp eq i64 %part, 0
          br i1 %first, label %caller, label %worker
        caller:
          %s = call i32 @sleep(i32 20)
          ret void
        worker:
          {worker}
          ret void
        }}
        define i64 @_mlir_ciface_f(i64 %x) {{
          call void @mdh_parallel_for(ptr @body, ptr null, i64 2)
          ret i64 0
        }}"#
    )
}

#[test]
fn a_wild_access_on_a_worker_is_reported() {
    // A page of its own that nothing may touch.
    let ir = on_a_worker(
        "%page = call ptr @mmap(ptr null, i64 4096, i32 0, i32 34, i32 -1, i64 0)
         %r = load volatile i64, ptr %page",
    );
    let output = outcome(&ir, 0);
    assert_ends(&output, MEMORY_FAULT, "memory that is not its own");
}

#[test]
fn a_failed_assertion_on_a_worker_gives_its_text() {
    let ir = on_a_worker(
        "%n = call i32 @puts(ptr @text)
         call void @abort()",
    );
    assert_ends(
        &outcome(&ir, 0),
        PROGRAM_FAILED,
        "error: reads 9 of %a (size 5)\n",
    );
}

#[test]
fn division_by_zero_on_a_worker_says_so() {
    let ir = on_a_worker(
        "%zero = load volatile i64, ptr @zero
         %r = sdiv i64 100, %zero
         store volatile i64 %r, ptr @zero",
    ) + "\n@zero = global i64 0";
    assert_ends(
        &outcome(&ir, 0),
        PROGRAM_FAILED,
        "divided an integer by zero",
    );
}

#[test]
fn endless_recursion_on_a_worker_is_reported() {
    let ir = on_a_worker("%r = call i64 @endless(i64 1)");
    assert_ends(&outcome(&ir, 0), PROGRAM_FAILED, "calls itself too often");
}

#[test]
fn assertions_that_fail_on_all_threads_are_one_message() {
    let ir = r#"
        @text = private constant [9 x i8] c"too many\00"
        declare void @mdh_parallel_for(ptr, ptr, i64)
        declare i32 @puts(ptr)
        declare void @abort()
        define void @body(ptr %context, i64 %part) {
          %n = call i32 @puts(ptr @text)
          call void @abort()
          ret void
        }
        define i64 @_mlir_ciface_f(i64 %x) {
          call void @mdh_parallel_for(ptr @body, ptr null, i64 100)
          ret i64 0
        }"#;
    for _ in 0..20 {
        let output = outcome(ir, 0);
        assert_ends(&output, PROGRAM_FAILED, "error: too many\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "error: too many\n");
    }
}

#[test]
fn memory_beside_a_stack_is_not_the_stack() {
    let output = child("beside_the_stack", "1");
    assert_ends(&output, MEMORY_FAULT, "memory that is not its own");
}

/// Reads just below this thread's stack, which is nearly empty.
#[test]
fn beside_the_stack() {
    if std::env::var(CASE).is_err() {
        return;
    }
    std::thread::spawn(|| {
        running(|| {
            // SAFETY: the attributes are initialised by the first call. That the access fails
            // is the test.
            unsafe {
                let mut attributes = std::mem::zeroed();
                libc::pthread_getattr_np(libc::pthread_self(), &mut attributes);
                let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
                libc::pthread_attr_getstack(&attributes, &mut lowest, &mut size);
                assert!(size > 1 << 20, "the stack's top is far from its end");
                lowest.cast::<u8>().sub(8).read_volatile();
            }
        });
    });
    std::thread::sleep(std::time::Duration::from_secs(20));
}
