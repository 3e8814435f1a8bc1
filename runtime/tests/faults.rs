//! How compiled code that fails ends the process: each case runs this binary again.

use std::process::{Command, Output};

use mdh_runtime::faults::{MEMORY_FAULT, PROGRAM_FAILED, running};
use mdh_runtime::{Arguments, Level, Module};

const CASE: &str = "MDH_FAULT_CASE";

/// Calls `@_mlir_ciface_f(i64 %x)` of `ir` in a process of its own.
fn outcome(ir: &str, argument: i64) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CASE, format!("{argument}\n{ir}"))
        .output()
        .unwrap()
}

#[test]
fn child() {
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
