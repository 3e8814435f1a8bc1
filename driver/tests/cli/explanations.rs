//! `mdh explain`, on machines from files: what it says does not depend on this one.

use crate::support::{MDH, Session, example};

/// A machine with two cores.
fn machine(session: &Session) {
    session.file("machine.json", MACHINE);
}

/// The same with vectors of 16 bytes.
fn narrow(session: &Session) {
    session.file("narrow.json", MACHINE.replace("64,", "16,"));
}

const MACHINE: &str = r#"{"name": "cpu", "layers": [
        {"memory": {"name": "main"}},
        {"core": {"name": "core", "count": 2, "combine_in": [{"region": "main"}]}},
        {"memory": {"name": "L3", "capacity": 33554432, "kind": "cache"}},
        {"memory": {"name": "L2", "capacity": 1048576, "kind": "cache"}},
        {"memory": {"name": "L1", "capacity": 32768, "kind": "cache"}},
        {"memory": {"name": "register", "capacity": 2048}},
        {"core": {"name": "simd", "width": 64, "combine_in": [{"region": "register"}]}}]}"#;

const PRODUCT: &str = "
func.func @product(%A: tensor<1024x1024xf32>, %B: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %init = tensor.empty() : tensor<1024x1024xf32>
  %C = mdh.compute (i = 1024, j = 1024, k = 1024)
    out_view(C = %init[i, j] : tensor<1024x1024xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : tensor<1024x1024xf32>, B = %B[k, j] : tensor<1024x1024xf32>)
  return %C : tensor<1024x1024xf32>
}
";

/// Of statements everything is said but why the model chooses so many threads.
#[test]
fn statements_of_the_tensor_language() {
    let session = Session::new();
    machine(&session);
    let mut accounts = String::new();
    for name in [
        "trace",
        "weighted",
        "interpolation",
        "dead",
        "inplace_matmul",
        "layer",
    ] {
        let file = format!("{name}.tdsl");
        let path = example(&format!("tdsl/{name}")).replace(".mlir", ".tdsl");
        session.file(&file, std::fs::read(path).unwrap());
        let text = explained(&session, &[&file]);
        let (before, _) = text.split_once("\ncomputation").unwrap();
        let mut parts = before.splitn(3, "\n\n");
        let [head, _, statements] = [(); 3].map(|()| parts.next().unwrap());
        for line in head.lines().chain(statements.lines()) {
            let is_choice = line.starts_with("  threads of ");
            let end = line.find(" (").filter(|_| is_choice);
            accounts += &line[..end.unwrap_or(line.len())];
            accounts += "\n";
        }
    }
    insta::assert_snapshot!(accounts);
}

/// Checks: what the model chooses changes with the model; that everything is said does not.
#[test]
fn what_the_model_chooses() {
    let session = Session::new();
    machine(&session);
    session.file("product.mlir", PRODUCT.trim_start());
    for name in ["softmax", "scan"] {
        session.file(
            &format!("{name}.mlir"),
            std::fs::read(example(name)).unwrap(),
        );
    }
    for (name, computations) in [("product", 1), ("softmax", 3), ("scan", 1)] {
        let file = format!("{name}.mlir");
        let text = explained(&session, &[&file]);
        let count = |line: &str| text.matches(line).count();
        assert_eq!(
            count("  schedule: chosen by the model for 'cpu'\n    - "),
            computations,
            "{text}"
        );
        assert_eq!(
            count("    #mdh.schedule<\n      asm = cpu,"),
            computations,
            "{text}"
        );
        // The chosen block need not be that of the fewest loads; then it is said why.
        let compared = "takes the fewest cycles a core, of [";
        assert_eq!(count(compared), usize::from(name == "product"), "{text}");
        // Without sizes there is nothing to add up, but the model has to assume some.
        let assumed = "    - sizes that are not known count as 4096 points: 'i'\n";
        assert_eq!(count(assumed), usize::from(name == "scan"), "{text}");
        let bounds = if name == "scan" { 0 } else { computations };
        assert_eq!(count("\n  bound by "), bounds, "{text}");
        assert_eq!(
            count("  work: not known before the sizes are: expected --size i=N\n"),
            computations - bounds,
            "{text}"
        );
        assert_eq!(count("    L2        "), bounds, "{text}");
    }
}

/// The output of a command that succeeds, with everything.
fn explained(session: &Session, arguments: &[&str]) -> String {
    let options = ["--asm", "machine.json", "--verbose"];
    let command = [&["explain"][..], arguments, &options].concat();
    let output = session.output(&command);
    assert_eq!(output.status.code(), Some(0), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A session with some of the examples.
fn session_of(names: &[&str]) -> Session {
    let session = Session::new();
    machine(&session);
    for name in names {
        let text = std::fs::read(example(name)).unwrap();
        session.file(&format!("{name}.mlir"), text);
    }
    session
}

#[test]
fn sizes_that_a_program_leaves_open() {
    let session = session_of(&["dot", "matvec"]);
    let text = explained(&session, &["dot.mlir", "--size", "i=1048576"]);
    for part in [
        "  points: i = 1048576 pw(addf)\n",
        "  reads x[i] of 1048576xf32, 4.00 MiB\n",
        "on 8.00 MiB, 0.25 operations for each byte\n",
        "  bound by moving from main",
    ] {
        assert!(text.contains(part), "{part} {text}");
    }
    let wrong = session.output(&["explain", "dot.mlir", "--size", "k=3"]);
    let wrong = String::from_utf8(wrong.stderr).unwrap();
    assert!(wrong.contains("there is no dimension 'k'"), "{wrong}");
    let some = explained(&session, &["matvec.mlir", "--size", "i=64"]);
    let open = "  levels: not known before the sizes are: expected --size k=N\n";
    assert!(some.contains(open), "{some}");
}

#[test]
fn histograms_have_bounds() {
    let session = session_of(&["histo"]);
    let text = explained(&session, &["histo.mlir"]);
    for part in [
        "  schedule: none, a histogram",
        "    - one core: from 32768 values on",
        "  cycles: updating bins 1.00 thousand, moving from main 508\n",
        "  bound by updating bins",
    ] {
        assert!(text.contains(part), "{part} {text}");
    }
}

/// Checks: what `--schedule` does not know has no number.
#[test]
fn positions_are_those_of_schedules() {
    let session = session_of(&["mbbs"]);
    let text = explained(&session, &["mbbs.mlir"]);
    for part in [
        "mbbs: 2 computations, and 1 that the compiler made of parts of them\n",
        "\ncomputation of the compiler's: sum_0 ",
        "\ncomputation 0: hom0_0 ",
        "\ncomputation 1: m ",
    ] {
        assert!(text.contains(part), "{part} {text}");
    }
    session.file("s.json", "{\"computations\": {\"1\": {\"asm\": \"cpu\"}}}");
    let text = explained(&session, &["mbbs.mlir", "--schedule", "s.json"]);
    let (_, last) = text.split_once("\ncomputation 1: m ").unwrap();
    assert!(last.contains("  schedule: given by 's.json'\n"), "{text}");
}

/// Rows of a softmax: what is computed in the loops of another computation is bounded with it.
#[test]
fn a_chain_has_one_bound() {
    let session = session_of(&[]);
    let rows = String::from_utf8(std::fs::read(example("softmax")).unwrap()).unwrap();
    let large = rows
        .replace("6x20x", "4096x4096x")
        .replace("tensor<6x", "tensor<4096x");
    let large = large.replace("i = 6, j = 20", "i = 4096, j = 4096");
    let large = large
        .replace("mda<6x20", "mda<4096x4096")
        .replace("mda<6x1,", "mda<4096x1,");
    session.file("softmax.mlir", large);
    let text = explained(&session, &["softmax.mlir"]);
    assert!(!text.contains("one core"), "{text}");
    let inside = "computed for each tile of 'y', by the core that has the tile: ";
    assert_eq!(text.matches(inside).count(), 3, "{text}");
    // It reads x and writes y; what is in between stays.
    let (_, last) = text.split_once("\ncomputation 2: y ").unwrap();
    let besides = "which move x 64.0 MiB besides\n";
    assert!(last.contains(besides), "{text}");
    assert!(last.contains("moving from main 16.8 million"), "{text}");
}

#[test]
fn schedules_and_machines_of_others() {
    let mut session = Session::new();
    machine(&session);
    session.file("product.mlir", PRODUCT.trim_start());
    session.file("s.txt", "#mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: 64, j: *}, L1 {i: 8, k: 1024}, simd {j: 16}]>");
    session.mdh("explain product.mlir --asm machine.json --schedule s.txt");
    session.mdh("explain product.mlir --asm machine.json --schedule s.txt --verbose");
    session.file("other.json", r#"{"name": "toy", "layers": [{"memory": {"name": "main"}}, {"core": {"name": "core", "combine_in": [{"region": "main"}]}}]}"#);
    session.mdh("explain product.mlir --asm other.json");
    session.mdh("explain product.mlir --asm other.json --schedule s.txt --verbose");
    narrow(&session);
    session.mdh("explain product.mlir --asm narrow.json --schedule s.txt");
    let end = "\n  return";
    let heading = format!("\n    schedule(#mdh.schedule<layers = [L1 {{i: *, j: *, k: *}}]>){end}");
    session.file("own.mlir", PRODUCT.trim_start().replace(end, &heading));
    session.mdh("explain own.mlir --asm machine.json");
    session.mdh("explain own.mlir --asm machine.json --schedule s.txt");
    session.mdh("explain product.mlir --asm machine.json --entry nothing");
    session.mdh("explain nowhere.mlir");
    insta::assert_snapshot!(session.text());
}

#[test]
fn on_this_machine() {
    let session = Session::new();
    session.file("product.mlir", PRODUCT.trim_start());
    let output = session.output(&["explain", "product.mlir"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text.contains("  0 C          2.15 billion  12.0 MiB  "),
        "{text}"
    );
}

/// Standard output of a shell command that succeeds, for the machine of `machine.json`.
fn shell(session: &Session, line: &str) -> String {
    let mut command = session.command("bash");
    command.env("MDH", MDH);
    command.env("MDH_ASM", "machine.json");
    let output = command.args(["-ec", line]).output().unwrap();
    assert!(output.status.success(), "{line} {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Checks: a program's schedules, whoever chose them, are a file that `--schedule` takes as it is, in each spelling.
#[test]
fn what_was_chosen_is_a_file() {
    let session = session_of(&["softmax", "matmul", "mbbs"]);
    session.file("product.mlir", PRODUCT.trim_start());
    for (name, spelling) in [
        ("product", "json"),
        ("product", "attr"),
        ("softmax", "json"),
        ("softmax", "attr"),
    ] {
        let printed = shell(
            &session,
            &format!(
                "$MDH explain {name}.mlir --emit {spelling} -o s.{spelling}; cat s.{spelling}"
            ),
        );
        let other = format!("$MDH schedule {name}.mlir --emit {spelling}");
        assert_eq!(shell(&session, &other), printed);
        let scheduled = format!("$MDH compile {name}.mlir --emit scheduled");
        let given = format!("{scheduled} --schedule s.{spelling}");
        assert_eq!(shell(&session, &given), shell(&session, &scheduled));
    }
    let script = "$MDH explain matmul.mlir --emit transform > s.mlir; \
                  $MDH run matmul.mlir --schedule s.mlir --check";
    assert!(shell(&session, script).contains("check  passed"));
    // What the compiler makes of parts of a program is left out.
    let rest = "$MDH schedule mbbs.mlir --emit json > s.json 2> notes; \
                $MDH run mbbs.mlir --schedule s.json --check; cat notes";
    let text = shell(&session, rest);
    assert!(text.contains("check  passed"), "{text}");
    assert!(
        text.contains("note: the file has no schedule for 'sum_0', 'hom0_0', which"),
        "{text}"
    );
    for wrong in [&["-o", "s.json"][..], &["--emit", "json", "--json"]] {
        let command = [&["explain", "matmul.mlir"], wrong].concat();
        assert_eq!(session.output(&command).status.code(), Some(2), "{wrong:?}");
    }
}

/// Checks: programs and pages have the numbers of the table.
#[test]
fn json_and_pages() {
    let session = session_of(&["softmax"]);
    session.file("product.mlir", PRODUCT.trim_start());
    let base = ["explain", "product.mlir", "--asm", "machine.json"];
    let json = session.output(&[&base[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["function"], &json["machine"]),
        (&"product".into(), &"cpu".into())
    );
    let computation = &json["computations"][0];
    assert_eq!(computation["origin"], "model");
    assert_eq!(computation["points"], 1024f64.powi(3));
    assert!(
        computation["schedule"]["layers"].is_array(),
        "{computation}"
    );
    let cost = &computation["cost"];
    let times = cost["parts"].as_array().unwrap().iter();
    let longest = times
        .map(|part| part["time"].as_f64().unwrap())
        .fold(0.0, f64::max);
    assert_eq!(cost["time"], longest);
    for (file, pictures) in [("product", 2), ("softmax", 6)] {
        let (file, page) = (format!("{file}.mlir"), format!("{file}.html"));
        let done = session.output(&["explain", &file, "--asm", "machine.json", "--html", &page]);
        assert!(done.stdout.is_empty() && done.status.success());
        let page = std::fs::read_to_string(session.path(&page)).unwrap();
        assert_eq!(page.matches("<svg ").count(), pictures, "{page}");
        for outside in ["http:", "https:", "<script", "<link"] {
            let page = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!page.contains(outside), "{outside} {page}");
        }
    }
}
