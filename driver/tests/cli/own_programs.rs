//! `mdh bench FILE`: programs of one's own beside other files and functions of Python, at sizes so small that times mean
//! nothing.

use serde_json::Value;

use crate::support::{MDH, Session, example};

/// Exit code, rows and errors of a quick run.
fn bench(session: &Session, line: &str) -> (Option<i32>, Vec<Value>, String) {
    let mut command = session.command(MDH);
    command.args(["bench", "--quick", "--json", "rows.json"]);
    command.args(line.split_whitespace());
    if !line.contains("--peers") {
        command.args(["--peers", "none"]);
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let text = std::fs::read_to_string(session.path("rows.json")).unwrap_or("[]".to_string());
    let rows: Value = serde_json::from_str(&text).unwrap();
    (
        output.status.code(),
        rows.as_array().unwrap().clone(),
        errors,
    )
}

/// A session with programs for the same product.
fn session() -> Session {
    let session = Session::new();
    std::fs::copy(example("matmul"), session.path("matmul.mlir")).unwrap();
    std::fs::copy(example("matvec"), session.path("matvec.mlir")).unwrap();
    let other = "
func.func @matmul(%X: tensor<64x64xf32>, %Y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %init = tensor.empty() : tensor<64x64xf32>
  %Z = mdh.compute (p = 64, q = 64, r = 64)
      out_view(Z = %init[p, q] : tensor<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(X = %X[p, r] : tensor<64x64xf32>, Y = %Y[r, q] : tensor<64x64xf32>)
  return %Z : tensor<64x64xf32>
}
";
    session.file("other.mlir", other);
    session.file("small.mlir", other.replace("64", "32"));
    let transposed = other.replace("@matmul", "@transposed");
    let transposed = transposed.replace("[r, q]", "[q, r]");
    session.file("two.mlir", format!("{other}{transposed}"));
    session
}

#[test]
fn a_program_is_a_row() {
    let session = session();
    let (code, rows, errors) = bench(&session, "matmul.mlir --range 0.5..1.5 --svg rows.svg");
    assert_eq!(code, Some(0), "{errors}");
    let [row] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(
        (&row["workload"], &row["size"]),
        (&"matmul.mlir".into(), &"".into())
    );
    assert_eq!(
        (&row["dtype"], &row["checked"]),
        (&"f32".into(), &true.into())
    );
    assert_eq!(row["notes"], serde_json::json!([]), "{row}");
    assert!(row["ours_ms"].as_f64().unwrap() > 0.0, "{row}");
    assert!(row["limit"]["fraction"].as_f64().unwrap() > 0.0, "{row}");
    let picture = std::fs::read_to_string(session.path("rows.svg")).unwrap();
    assert!(picture.contains("matmul.mlir"), "{picture}");
    // Beside workloads it is a row more.
    let (code, rows, errors) = bench(&session, "matmul.mlir dot --range 0.5..1.5");
    assert_eq!(code, Some(0), "{errors}");
    let names: Vec<&Value> = rows.iter().map(|row| &row["workload"]).collect();
    assert_eq!(names, ["dot", "matmul.mlir"]);
}

#[test]
fn sizes_are_rows() {
    let session = session();
    let line = "matvec.mlir --size k=40,50 i=30 --range 0.5..1.5 --random 7";
    let (code, rows, errors) = bench(&session, line);
    assert_eq!(code, Some(0), "{errors}");
    let sizes: Vec<&Value> = rows.iter().map(|row| &row["size"]).collect();
    assert_eq!(sizes, ["40x30", "50x30"]);
    assert!(rows.iter().all(|row| row["checked"] == true), "{rows:?}");
}

#[test]
fn programs_of_the_tensor_language_have_rows() {
    let session = Session::new();
    let file = example("tdsl/matvec").replace(".mlir", ".tdsl");
    std::fs::copy(file, session.path("matvec.tdsl")).unwrap();
    let (code, rows, errors) = bench(&session, "matvec.tdsl --range w=0.5..1.5 v=0.5..1.5");
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(
        (&rows[0]["checked"], &rows[0]["notes"]),
        (&true.into(), &serde_json::json!([]))
    );
}

#[test]
fn schedules_are_taken() {
    let session = session();
    session.file("s.txt", "#mdh.schedule<layers = [L1 {i: *, j: *, k: *}]>");
    let line = "matmul.mlir --range 0.5..1.5 --schedule cores=s.txt";
    let (code, rows, errors) = bench(&session, line);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(rows[0]["schedules"][0]["name"], "cores");
    assert_eq!(rows[0]["schedules"][0]["failed"], Value::Null);
    let (code, rows, errors) = bench(&session, "matmul.mlir --range 0.5..1.5 --tuned=nowhere");
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("matmul.mlir: nothing is tuned"), "{errors}");
    assert!(rows[0]["tuned"].is_object(), "{rows:?}");
}

#[test]
fn other_programs_are_measured_beside() {
    let session = session();
    let line = "matmul.mlir --range 0.5..1.5 --against other.mlir two.mlir two.mlir:transposed";
    let (code, rows, errors) = bench(&session, line);
    let variants = rows[0]["variants"].as_array().unwrap();
    let names: Vec<&Value> = variants.iter().map(|variant| &variant["name"]).collect();
    assert_eq!(names, ["other.mlir", "two.mlir", "two.mlir:transposed"]);
    for variant in &variants[..2] {
        let ratio = variant["ms"].as_f64().unwrap() / rows[0]["ours_ms"].as_f64().unwrap();
        let given = variant["ratio"].as_f64().unwrap();
        assert!((given - ratio).abs() < 1e-9 * ratio, "{variant}");
    }
    // It computes something else, from the same arrays.
    let why = variants[2]["failed"].as_str().unwrap();
    assert!(
        why.starts_with("another result than ours in 'C': element "),
        "{why}"
    );
    assert_eq!(code, Some(3), "{errors}");
    let judged = "there are no times of matmul.mlir with 'two.mlir:transposed'";
    assert!(errors.contains(judged), "{errors}");
}

/// Arrays of ours have the sizes of another program, whatever its dimensions are called.
#[test]
fn sizes_of_other_programs_follow() {
    let session = session();
    let renamed = std::fs::read_to_string(example("matvec")).unwrap();
    session.file(
        "renamed.mlir",
        renamed
            .replace("(i = %rows, k", "(a = %rows, k")
            .replace("[i", "[a")
            .replace("(i, k)", "(a, k)"),
    );
    let line = "matvec.mlir --size i=30 k=40 --range 0.5..1.5 --against renamed.mlir";
    let (code, rows, errors) = bench(&session, line);
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        rows[0]["variants"][0]["ms"].as_f64().unwrap() > 0.0,
        "{rows:?}"
    );
}

/// Arguments, the exit code, and a part of what is said.
const REFUSED: &[(&str, i32, &str)] = &[
    ("none.mlir", 1, "cannot read 'none.mlir'"),
    ("a/none", 1, "cannot read 'a/none'"),
    ("matmul.mlir matmul.mlir", 2, "found 'matmul.mlir' twice"),
    (
        "matmul.mlir --entry f",
        1,
        "there is no function 'f' with a body",
    ),
    ("two.mlir", 1, "'two.mlir': which function is meant?"),
    ("dot --entry dot", 2, "--entry is for programs"),
    ("dot --against matmul.mlir", 2, "--against is for programs"),
    ("matmul.mlir --size z=4", 1, "there is no dimension 'z'"),
    (
        "matmul.mlir --size i=4",
        1,
        "dimension 'i' has the upper bound 64",
    ),
    ("matmul.mlir --range Q=0..1", 1, "there is no argument 'Q'"),
    (
        "matvec.mlir",
        1,
        "the program leaves the size of i, k open: expected --size i=N k=N",
    ),
    (
        "matvec.mlir --size i=4",
        1,
        "the program leaves the size of k open: expected --size k=N",
    ),
    (
        "matvec.mlir --size i=0 k=4",
        1,
        "found i=0, for which nothing is computed",
    ),
    ("matvec.mlir --size i=4 i=5 k=4", 2, "found 'i' twice"),
    (
        "matvec.mlir --size i=1,2 k=1,2,3",
        2,
        "found 2 sizes of 'i' and 3 of 'k'",
    ),
    (
        "matmul.mlir --against none.mlir",
        1,
        "cannot read 'none.mlir'",
    ),
    (
        "matmul.mlir --against small.mlir",
        1,
        "'small.mlir' has another signature than 'matmul.mlir': found the input 'X' of type 32x32xf32, expected \
         64x64xf32 as 'A' of ours",
    ),
    (
        "matmul.mlir --against matvec.mlir",
        1,
        "found the input 'v' of type ?xf32, expected 64x64xf32 as 'B' of ours",
    ),
    (
        "matmul.mlir --device cuda",
        2,
        "'matmul.mlir' is measured on CPUs only",
    ),
    (
        "matmul.mlir --peers numpy:none.py",
        1,
        "cannot read 'none.py'",
    ),
    (
        "matmul.mlir --peers perl:plain.txt",
        2,
        "found a function of 'perl', expected one of numpy",
    ),
];

/// Nothing is measured and nothing is written.
#[test]
fn what_is_refused_before() {
    let session = session();
    session.file("plain.txt", "found");
    for (line, code, expected) in REFUSED {
        let (status, rows, errors) = bench(&session, line);
        assert_eq!(status, Some(*code), "{line}: {errors}");
        assert!(errors.contains(expected), "{line}: {errors}");
        assert!(rows.is_empty(), "{line}");
    }
}

const FUNCTIONS: &str = "
def run(A, B):
    columns = list(zip(*B))
    return [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in A]

def fails(A, B):
    return A[64]

def small(A, B):
    return run(A, B)[1:]

def pair(A, B):
    return A, B

def other(A, B):
    return A

def endless(A, B):
    while True:
        pass

def gone(A, B):
    import os
    os._exit(7)
";

#[test]
fn functions_of_python_are_peers() {
    let session = session();
    session.file("own.py", FUNCTIONS);
    let line = "matmul.mlir --range 0.5..1.5 --peers python:own.py";
    let (code, rows, errors) = bench(&session, line);
    assert_eq!(code, Some(0), "{errors}");
    let row = &rows[0];
    assert!(
        row["peers"]["python:own.py"].as_f64().unwrap() > 0.0,
        "{row}"
    );
    assert_eq!(row["best_peer"], "python:own.py");
    assert!(row["ratio"].as_f64().unwrap() > 0.0, "{row}");
    // Nothing is left beside the file.
    assert!(!session.names().contains(&"__pycache__".to_string()));
}

#[test]
fn functions_that_fail_say_why() {
    let session = session();
    session.file("own.py", FUNCTIONS);
    session.file("broken.py", "def run(A, B:\n    pass\n");
    session.file("needy.py", "import nothing_of_this_name\n");
    for (peer, expected) in [
        (
            "own.py:fails",
            "IndexError: list index out of range (own.py, line 7)",
        ),
        (
            "own.py:small",
            "'own.py' returns lists of shape (63, 64) as 'C', expected shape (64, 64)",
        ),
        ("own.py:pair", "'own.py' returns 2 arrays, expected 1: C"),
        (
            "own.py:other",
            "another result than ours in 'C': element 0 is ",
        ),
        (
            "own.py:none",
            "found no function 'none' in 'own.py', expected one",
        ),
        ("own.py:gone", "its process has ended (exit status: 7)"),
        ("broken.py", "SyntaxError: "),
        (
            "needy.py",
            "ModuleNotFoundError: No module named 'nothing_of_this_name' (needy.py, line 1)",
        ),
    ] {
        let line = format!("matmul.mlir --range 0.5..1.5 --peers python:{peer}");
        let (code, rows, errors) = bench(&session, &line);
        assert_eq!(code, Some(3), "{peer}: {errors}");
        let judged = format!("there are no times of matmul.mlir with 'python:{peer}'");
        assert!(errors.contains(&judged), "{peer}: {errors}");
        let notes = rows[0]["notes"].to_string();
        let note = format!("python:{peer}: {expected}");
        assert!(notes.contains(&note), "{peer}: {notes}");
        assert!(rows[0]["ours_ms"].as_f64().unwrap() > 0.0, "{peer}");
    }
}

#[test]
fn nobody_waits_for_a_function_without_end() {
    let session = session();
    session.file("own.py", FUNCTIONS);
    let line = "matmul.mlir --range 0.5..1.5 --time-limit 15 --peers python:own.py:endless";
    let (code, rows, errors) = bench(&session, line);
    assert_eq!(code, Some(3), "{errors}");
    let note = "python:own.py:endless: no answer within 15 s";
    assert_eq!(rows[0]["notes"], serde_json::json!([note]));
}

/// As of packages: what a machine lacks is said, and no error.
#[test]
fn a_python_that_is_missing_is_named() {
    let session = session();
    session.file("own.py", FUNCTIONS);
    let mut command = session.command(MDH);
    command.args(["bench", "matmul.mlir", "--quick", "--peers", "numpy:own.py"]);
    let output = command.env("MDH_PEERS", "nowhere").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let note = "note: numpy:own.py is not here: there is no 'nowhere/bin/python'";
    assert!(errors.contains(note), "{errors}");
    assert_eq!(output.status.code(), Some(0));
}
