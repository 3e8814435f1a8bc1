//! C functions: what a module that is for a file shows, hides and calls.

use mdh_jit::interface::Interface;
use mdh_jit::{Emit, Error, Level, Module};

/// `f` has a temporary, a check that may fail, and a helper that others may have too.
const PROGRAM: &str = r#"
@message = private constant [3 x i8] c"no\00"
@table = constant [2 x i64] [i64 1, i64 2]

declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @puts(ptr)
declare void @abort()
declare void @use(ptr)

define void @helper(ptr %p) noinline {
  call void @use(ptr %p)
  ret void
}

define float @f(float %x, i64 %n) {
  %positive = icmp sgt i64 %n, 0
  br i1 %positive, label %go, label %stop
go:
  %p = call ptr @malloc(i64 %n)
  call void @helper(ptr %p)
  call void @use(ptr @table)
  call void @free(ptr %p)
  ret float %x
stop:
  %said = call i32 @puts(ptr @message)
  call void @abort()
  unreachable
}

define float @_mlir_ciface_f(float %x, i64 %n) {
  %y = call float @f(float %x, i64 %n)
  ret float %y
}
"#;

fn library() -> Module {
    let mut module = Module::parse("test", PROGRAM).unwrap();
    module.add_entry("f").unwrap();
    let interface = "g 1\nvalue x f32\nvalue n i64\nresult y f32";
    let interface: Interface = interface.parse().unwrap();
    module.add_c_function("f", &interface).unwrap();
    module
}

#[test]
fn only_c_functions_are_to_be_seen() {
    let optimised = library().optimise(Level::Full).unwrap();
    let text = String::from_utf8(optimised.emit(Emit::LlvmIr).unwrap()).unwrap();
    let defined: Vec<&str> = text.lines().filter(|l| l.starts_with("define ")).collect();
    let shown = defined.iter().filter(|line| !line.contains(" internal "));
    let shown: Vec<&&str> = shown.collect();
    assert!(
        shown.len() == 1 && shown[0].contains("i32 @g(float %x, i64 %n, ptr %y)"),
        "{text}"
    );
    assert!(text.contains("@table = internal"), "{text}");
    assert!(text.contains("c\"g 1\\0Avalue x f32\\0Avalue n i64\\0Aresult y f32\""));
    let tables = text.lines().filter(|line| line.starts_with("attributes #"));
    assert!(
        tables.clone().any(|line| line.contains("uwtable")),
        "{text}"
    );
}

#[test]
fn the_run_time_library_is_called() {
    let optimised = library().optimise(Level::Full).unwrap();
    let text = String::from_utf8(optimised.emit(Emit::LlvmIr).unwrap()).unwrap();
    for ours in ["@mdh_allocate(", "@mdh_release(", "@mdh_say(", "@mdh_stop("] {
        assert!(text.contains(ours), "{ours} in {text}");
    }
    for theirs in ["@malloc(", "@free(", "@puts(", "@abort("] {
        assert!(!text.contains(theirs), "{theirs} in {text}");
    }
}

#[test]
fn a_c_function_is_made_of_an_entry() {
    let mut module = library();
    let interface = "h 0".parse::<Interface>().unwrap();
    let error = module.add_c_function("helper", &interface).unwrap_err();
    let known = vec!["f".to_string()];
    let name = "helper".to_string();
    assert_eq!(error, Error::UnknownFunction { name, known });
}
