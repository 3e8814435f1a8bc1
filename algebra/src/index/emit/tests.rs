//! Emitted code is compiled or interpreted, and computes the value of the expressions.

use std::path::Path;
use std::process::Command;

use super::*;
use crate::index::parse::{Scope, expression};
use crate::index::simplify::simplify;
use crate::index::{Expr, Facts, IndexProgram, Interval, Name};
use crate::layout::parse::layout;

/// Functions whose inputs have few values each.
struct Case {
    name: String,
    inputs: Vec<Name>,
    sizes: Vec<i64>,
    outputs: Vec<Expr>,
    facts: Facts,
}

impl Case {
    fn function(&self) -> Function<'_> {
        Function {
            name: &self.name,
            inputs: &self.inputs,
            outputs: &self.outputs,
            facts: &self.facts,
        }
    }

    fn points(&self) -> Vec<Vec<i64>> {
        let mut points = vec![vec![]];
        for n in &self.sizes {
            let more = |p: &Vec<i64>, i: i64| [p.as_slice(), &[i]].concat();
            points = points
                .iter()
                .flat_map(|p| (0..*n).map(move |i| more(p, i)))
                .collect();
        }
        points
    }

    /// A line for each point.
    fn expected(&self) -> String {
        let program = IndexProgram::with_inputs(&self.inputs, &self.outputs);
        let line = |p: &Vec<i64>| {
            let values = program.run(p).unwrap();
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            values.join(" ") + "\n"
        };
        self.points().iter().map(line).collect()
    }
}

const LAYOUTS: [&str; 10] = [
    "OrderBy(RegP([2,2],[2,1]),GenP([3,3],antidiag)).OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])",
    "GroupBy([2,2,2,2,2]).OrderBy(RegP([2,2,2,2,2],[5,2,4,3,1]))",
    "GenP([17,17],antidiag)",
    "GenP([8,8],hilbert)",
    "GenP([4,16],morton)",
    "GenP([12,8],xor)",
    "GenP([8,8],swizzle(2,1,3))",
    "GenP([5,3],reverse)",
    "TileOrderBy(Col([3,1]),Col([4,5])).GroupBy([12,5])",
    "GenP([2,3],(i, j) -> max(i * 3, min(2, 7)) + j - select(i == 0, 2, 0), x -> (x / 3, x % 3))",
];

/// Negative dividends, conditions as numbers, and every precedence.
const EXPRESSIONS: [&str; 9] = [
    "(a - 5) / 3",
    "(a - 5) % 3",
    "(a - 9) / (b + 1) + (a - 9) % (b + 1)",
    "(a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b)",
    "select(a - b, a & b | 8 ^ a, (a | b) & 3)",
    "a - (b - 3) - (a - 1) * (b + 2) / 4 * 2",
    "select((a < 3) & (b < 3), min(a, b, 2), max(a, b) - -4)",
    "isqrt(a * b * 31) + (a + b) % 4 * 3 % 5",
    "let t = a * b + 1 in t * t / (t + 2) - (t < a)",
];

/// Both maps of each layout.
fn layout_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, text) in LAYOUTS.iter().enumerate() {
        let layout =
            layout(text, &Facts::new()).unwrap_or_else(|e| panic!("{}", e.in_source(text)));
        let inputs = layout.index_names();
        let index: Vec<Expr> = inputs.iter().map(|n| Expr::symbol(n)).collect();
        let facts = layout.facts_of_index(&inputs);
        let sizes = layout.numbers().unwrap();
        let total = sizes.iter().product();
        let outputs = simplify(&facts, &[layout.apply(&index)]);
        let name = format!("apply{n}");
        cases.push(Case {
            name,
            inputs,
            sizes,
            outputs,
            facts,
        });
        let x: Name = "x".into();
        let (facts, outputs) = (layout.facts_of_offset(&x), layout.inv(&Expr::symbol(&x)));
        let outputs = simplify(&facts, &outputs);
        let (name, sizes, inputs) = (format!("inv{n}"), vec![total], vec![x]);
        cases.push(Case {
            name,
            inputs,
            sizes,
            outputs,
            facts,
        });
    }
    cases
}

/// Expressions of `a` and `b`.
fn expression_cases() -> Vec<Case> {
    let case = |(n, text): (usize, &&str)| {
        let (mut facts, sizes) = (Facts::new(), vec![9, 7]);
        facts.index("a", &9.into()).index("b", &7.into());
        Case {
            name: format!("e{n}"),
            inputs: vec!["a".into(), "b".into()],
            sizes,
            outputs: vec![expression(text, &Scope::default()).unwrap()],
            facts,
        }
    };
    EXPRESSIONS.iter().enumerate().map(case).collect()
}

fn cases() -> Vec<Case> {
    let mut cases = layout_cases();
    cases.extend(expression_cases());
    cases
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn run_c(folder: &Path, width: Width) {
    let (mut main, mut expected) = (String::new(), String::new());
    let cases = cases();
    for case in &cases {
        for point in case.points() {
            let arguments: Vec<String> = point.iter().map(i64::to_string).collect();
            let arguments = arguments.join(", ");
            main += &match case.outputs.len() {
                1 => format!(
                    "  printf(\"%lld\\n\", (long long){}({arguments}));\n",
                    case.name
                ),
                n => {
                    let show = (0..n).map(|k| format!("(long long)r[{k}]"));
                    let show: Vec<String> = show.collect();
                    let format = vec!["%lld"; n].join(" ");
                    let (name, show) = (&case.name, show.join(", "));
                    format!("  {name}({arguments}, r); printf(\"{format}\\n\", {show});\n")
                }
            };
        }
        expected += &case.expected();
    }
    let functions: Vec<Function> = cases.iter().map(Case::function).collect();
    let code = c(&functions, width).unwrap();
    let ty = match width {
        Width::Bits32 => "int32_t",
        Width::Bits64 => "int64_t",
    };
    let program = format!(
        "#include <stdio.h>\n{code}\nint main(void) {{\n  {ty} r[8];\n{main}  return 0;\n}}\n"
    );
    let (file, binary) = (folder.join("a.c"), folder.join("a.out"));
    std::fs::write(&file, program).unwrap();
    let mut cc = Command::new("cc");
    run(cc
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-parameter",
            "-ftrapv",
            "-o",
        ])
        .arg(&binary)
        .arg(&file));
    assert_eq!(run(&mut Command::new(&binary)), expected);
}

#[test]
fn c_computes_the_same() {
    for width in [Width::Bits32, Width::Bits64] {
        run_c(tempfile::tempdir().unwrap().path(), width);
    }
}

/// Triton's functions, on numbers, with its division that rounds to 0.
const STAND_IN: &str = "
import math
class int_(int):
    def __floordiv__(a, b): return int_(abs(int(a)) // int(b) * (1 if a >= 0 else -1))
    def __mod__(a, b): return int_(int(a) - int(a // b) * int(b))
    def __add__(a, b): return int_(int(a) + int(b))
    def __sub__(a, b): return int_(int(a) - int(b))
    def __mul__(a, b): return int_(int(a) * int(b))
    def __rsub__(a, b): return int_(int(b) - int(a))
    __radd__, __rmul__ = __add__, __mul__
class tl:
    int32 = int64 = 'int'
    float64 = 'float'
    cast = staticmethod(lambda x, ty: int_(x) if ty == 'int' else float(x))
    sqrt = staticmethod(math.sqrt)
    where = staticmethod(lambda c, a, b: int_(a if c else b))
    minimum = staticmethod(lambda a, b: int_(min(a, b)))
    maximum = staticmethod(lambda a, b: int_(max(a, b)))
";

#[test]
fn python_computes_the_same_with_both_divisions() {
    for stand_in in [
        STAND_IN.to_string(),
        STAND_IN.replace("class int_(int):", "int_ = int\nclass unused(int):"),
    ] {
        let (mut program, mut expected) = (stand_in, String::new());
        for case in cases() {
            let arguments = vec![Argument::Name; case.inputs.len()];
            let body = triton(&case.function(), &arguments, Width::Bits32).unwrap();
            let (name, inputs) = (&case.name, case.inputs.join(", "));
            let body = body.replace('\n', "\n    ");
            program += &format!("def f_{name}({inputs}):\n    {body}return {name}\n");
            for point in case.points() {
                let point: Vec<String> = point.iter().map(|i| format!("int_({i})")).collect();
                let (call, star) = (
                    point.join(", "),
                    if case.outputs.len() > 1 { "*" } else { "" },
                );
                program += &format!("print({star}f_{name}({call}))\n");
            }
            expected += &case.expected();
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.py");
        std::fs::write(&file, program).unwrap();
        assert_eq!(run(Command::new("python3").arg(&file)), expected);
    }
}

#[test]
fn slices_are_broadcast() {
    let tiles = layout(
        "OrderBy(Row([M,K])).TileBy([m,k],[BM,BK])"
            .replace("M,K", "m*BM,k*BK")
            .as_str(),
        &Facts::new(),
    )
    .unwrap();
    let inputs: Vec<Name> = ["pid_m", "kk", "i", "j"].map(Name::from).to_vec();
    let index: Vec<Expr> = inputs.iter().map(|n| Expr::symbol(n)).collect();
    let mut facts = tiles.facts_of_index(&inputs);
    for size in ["m", "k", "BM", "BK"] {
        facts.within(size, Interval::new(1, 128));
    }
    let facts = {
        let mut bounded = facts.clone();
        for (name, size) in inputs.iter().zip(tiles.dims()) {
            bounded.index(name, &size);
        }
        bounded
    };
    let outputs = simplify(&facts, &[tiles.apply(&index)]);
    let function = Function {
        name: "offsets",
        inputs: &inputs,
        outputs: &outputs,
        facts: &facts,
    };
    let slice = |name: &str| Argument::Slice(Expr::symbol(name));
    let arguments = [
        Argument::Name,
        Argument::Text("k0 // 2".into()),
        slice("BM"),
        slice("BK"),
    ];
    let text = triton(&function, &arguments, Width::Bits32).unwrap();
    assert_eq!(
        text,
        "offsets = ((tl.arange(0, BM)[:, None] + pid_m * BM) * k + (k0 // 2)) * BK + \
         tl.arange(0, BK)[None, :]\n"
    );
}

#[test]
fn text_reads_back() {
    for case in cases() {
        let text = text(&case.function());
        let read = text
            .lines()
            .map(|line| expression(line, &Scope::default()).unwrap());
        let read = Case {
            outputs: read.collect(),
            ..case
        };
        assert_eq!(
            read.expected(),
            Case {
                outputs: read.outputs.clone(),
                ..read
            }
            .expected()
        );
    }
    let facts = Facts::new();
    let e = expression("let t = a * b in t + t / 3", &Scope::default()).unwrap();
    let function = Function {
        name: "f",
        inputs: &[],
        outputs: &[e],
        facts: &facts,
    };
    assert_eq!(text(&function), "let t0 = a * b in t0 + t0 / 3\n");
}

#[test]
fn mlir_is_affine_where_it_can_be() {
    let mut facts = Facts::new();
    facts.index("i", &64.into()).index("n", &64.into());
    let print = |text: &str| {
        let outputs = [expression(text, &Scope::default()).unwrap()];
        let inputs = ["i".into()];
        let function = Function {
            name: "f",
            inputs: &inputs,
            outputs: &outputs,
            facts: &facts,
        };
        mlir(&function).unwrap()
    };
    assert_eq!(
        print("(i - 3) / 4 * 8 + i % 4"),
        "func.func @f(%i: index) -> (index) {\n  %t0 = affine.apply affine_map<(d0) -> \
         (((((d0 - 3) floordiv 4) * 8) + (d0 mod 4)))>(%i)\n  return %t0 : index\n}\n"
    );
    assert_eq!(
        print("(i - 3) / (n + 1) + (i < n)"),
        "func.func @f(%i: index, %n: index) -> (index) {\n  %t0 = arith.constant 3 : index\n  \
         %t1 = arith.subi %i, %t0 : index\n  %t2 = arith.constant 1 : index\n  \
         %t3 = arith.addi %n, %t2 : index\n  %t4 = arith.floordivsi %t1, %t3 : index\n  \
         %t5 = arith.cmpi slt, %i, %n : index\n  %t6 = arith.index_castui %t5 : i1 to index\n  \
         %t7 = arith.addi %t4, %t6 : index\n  return %t7 : index\n}\n"
    );
}

#[test]
fn overflow_is_refused() {
    let fails = |text: &str, facts: &Facts| {
        let outputs = [expression(text, &Scope::default()).unwrap()];
        let function = Function {
            name: "f",
            inputs: &[],
            outputs: &outputs,
            facts,
        };
        c(&[function], Width::Bits32).unwrap_err().to_string()
    };
    let mut facts = Facts::new();
    facts
        .index("i", &65536.into())
        .index("j", &65536.into())
        .size("n");
    assert_eq!(
        fails("i * j", &facts),
        "'*' in 'f' may leave 32 bits (from 0 to 4294836225), expected smaller sizes, or wider \
         integers"
    );
    assert_eq!(
        fails("i + n", &facts),
        "'n' in 'f' may leave 32 bits (from 1 to no bound), expected an upper bound for 'n'"
    );
    facts.index("k", &Expr::symbol("n"));
    assert_eq!(
        fails("k + i", &facts),
        "'k' in 'f' may leave 32 bits (from 0 to no bound), expected an upper bound for 'k'"
    );
    assert_eq!(
        fails("isqrt(i - 1)", &facts),
        "the argument of 'isqrt' is not proved to be from 0 to 2^52, expected bounds for the \
         symbols that say so"
    );
}

#[test]
fn tables_are_arrays() {
    let text = "OrderBy(GenP([4],table([2,0,3,1])),GenP([2],table([1,0]))).GroupBy([8])";
    let layout = layout(text, &Facts::new()).unwrap();
    let inputs = layout.index_names();
    let index: Vec<Expr> = inputs.iter().map(|n| Expr::symbol(n)).collect();
    let facts = layout.facts_of_index(&inputs);
    let outputs = [layout.apply(&index)];
    let function = Function {
        name: "f",
        inputs: &inputs,
        outputs: &outputs,
        facts: &facts,
    };
    let code = c(&[function], Width::Bits64).unwrap();
    assert!(
        code.contains("const int64_t table[4] = {2, 0, 3, 1};"),
        "{code}"
    );
    assert!(
        code.contains("const int64_t table_1[2] = {1, 0};"),
        "{code}"
    );
    assert!(
        code.contains("return table[i / 2] * 2 + table_1[i % 2];"),
        "{code}"
    );
    let code = mlir(&function).unwrap();
    assert!(code.contains("memref.global \"private\" constant @table_1 : memref<2xindex>"));
    assert_eq!(
        triton(&function, &[Argument::Name], Width::Bits32)
            .unwrap_err()
            .to_string(),
        "the table 'table' of 4 entries cannot be written into a kernel, expected one that is \
         given at run time"
    );
}

/// That the argument of a root is not negative may be a matter of symbols.
#[test]
fn roots_of_symbols() {
    for (text, target) in [("GenP([n,n],antidiag)", 0), ("GenP([m,n],antidiag)", 1)] {
        let mut facts = Facts::new();
        for symbol in &["n", "m"][..=target] {
            facts.within(symbol, Interval::new(1, 64));
        }
        let layout = layout(text, &facts).unwrap();
        let inputs = [layout.offset_name()];
        let facts = layout.facts_of_offset(&inputs[0]);
        let outputs = simplify(&facts, &layout.inv(&Expr::symbol(&inputs[0])));
        let sizes = layout.symbols();
        let function = Function {
            name: "f",
            inputs: &[&inputs[..], &sizes].concat(),
            outputs: &outputs,
            facts: &facts,
        };
        for code in [c(&[function], Width::Bits64), mlir(&function)] {
            let code = code.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(code.contains("sqrt"), "{code}");
        }
    }
}

/// Checks: what is given at run time is an offset of its tile, so that no operation on it overflows.
#[test]
fn tables_of_run_time_are_bounded() {
    let mut facts = Facts::new();
    facts.within("n", Interval::new(1, 64));
    let text = "OrderBy(GenP([n],table(p,q)),Col([2,4])).GroupBy([n,8])";
    let layout = layout(text, &facts).unwrap();
    let inputs = layout.index_names();
    let index: Vec<Expr> = inputs.iter().map(|n| Expr::symbol(n)).collect();
    let facts = layout.facts_of_index(&inputs);
    let outputs = simplify(&facts, &[layout.apply(&index)]);
    let function = Function {
        name: "f",
        inputs: &inputs,
        outputs: &outputs,
        facts: &facts,
    };
    let code = c(&[function], Width::Bits32).unwrap();
    assert!(code.contains("p[i] * 4"), "{code}");
}
