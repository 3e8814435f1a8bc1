//! Functions of every kind of signature, from textual LLVM IR to their results.

use half::{bf16, f16};
use mdh_jit::{Arguments, Buffer, Descriptor, Emit, Error, Jit, Level, Module, PackedType};

/// Compiles and loads `ir`, with `entry` callable.
fn compile(ir: &str, entry: &str) -> Jit {
    let mut module = Module::parse("test", ir).unwrap();
    module.add_entry(entry).unwrap();
    module.optimise(Level::Full).unwrap().load().unwrap()
}

/// A buffer that holds `values`.
fn buffer(values: &[f32]) -> Buffer {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect();
    Buffer::copy_of(&bytes).unwrap()
}

/// The numbers in a buffer.
fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks(4)
        .map(|b| f32::from_ne_bytes(b.try_into().unwrap()))
        .collect()
}

/// `c[i,j] += a[i,k] * b[k,j]` over descriptors of rank 2, as MLIR's C interface passes them.
const MATMUL: &str = include_str!("matmul.ll");

#[test]
fn matmul_of_strided_buffers() {
    let jit = compile(MATMUL, "matmul");
    let matmul = jit.function("matmul").unwrap();
    assert_eq!(
        matmul.signature().parameters,
        [
            PackedType::Pointer,
            PackedType::Pointer,
            PackedType::Pointer
        ]
    );
    assert_eq!(matmul.signature().result, None);
    let (rows, columns, depth) = (5i64, 7i64, 3i64);
    let mut a = buffer(&(0..15).map(|x| x as f32).collect::<Vec<_>>());
    // Stored transposed, after an offset of two elements.
    let mut b = buffer(&(0..23).map(|x| (x * x % 11) as f32).collect::<Vec<_>>());
    let mut c = buffer(&[0.0; 35]);
    let mut arguments = Arguments::new();
    arguments
        .memref(Descriptor::dense(a.as_mut_ptr(), &[rows, depth]))
        .memref(Descriptor::strided(
            b.as_mut_ptr(),
            2,
            &[depth, columns],
            &[1, depth],
        ))
        .memref(Descriptor::dense(c.as_mut_ptr(), &[rows, columns]));
    // SAFETY: the descriptors describe the buffers.
    unsafe { matmul.call_with(&mut arguments) }.unwrap();
    let (a, b) = (floats(a.bytes()), floats(b.bytes()));
    for (i, found) in floats(c.bytes()).into_iter().enumerate() {
        let (i, j) = (i / columns as usize, i % columns as usize);
        let expected: f32 = (0..3).map(|k| a[i * 3 + k] * b[2 + k + 3 * j]).sum();
        assert_eq!(found, expected, "c[{i}, {j}]");
    }
    assert!(c.is_intact());
}

#[test]
fn scalars_by_value_of_every_type() {
    // Mixes all of them into one double, so that a wrong one shows.
    let ir = r#"
        define double @_mlir_ciface_mix(i1 %p, i8 %a, i16 %b, i32 %c, i64 %d,
                                        half %e, bfloat %f, float %g, double %h) {
          %a1 = sitofp i8 %a to double
          %b1 = sitofp i16 %b to double
          %c1 = sitofp i32 %c to double
          %d1 = sitofp i64 %d to double
          %e1 = fpext half %e to double
          %f1 = fpext bfloat %f to double
          %g1 = fpext float %g to double
          %s0 = fadd double %a1, %b1
          %s1 = fadd double %s0, %c1
          %s2 = fadd double %s1, %d1
          %s3 = fadd double %s2, %e1
          %s4 = fadd double %s3, %f1
          %s5 = fadd double %s4, %g1
          %s6 = fadd double %s5, %h
          %s7 = fneg double %s6
          %r = select i1 %p, double %s6, double %s7
          ret double %r
        }"#;
    let jit = compile(ir, "mix");
    let mix = jit.function("mix").unwrap();
    let kinds: Vec<String> = mix
        .signature()
        .parameters
        .iter()
        .map(PackedType::to_string)
        .collect();
    assert_eq!(
        kinds,
        ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]
    );
    let sum = -3.0 - 300.0 + 70000.0 - 5e9 + 0.5 + 1.5 - 2.25 + 1e-3;
    // Only the lowest bit of an i1's byte counts.
    for (bit, expected) in [(1u64, sum), (0xfe, -sum)] {
        let mut arguments = Arguments::new();
        arguments
            .scalar(bit)
            .scalar((-3i8) as u8 as u64)
            .scalar((-300i16) as u16 as u64)
            .scalar(70000)
            .scalar(-5_000_000_000i64 as u64)
            .scalar(f16::from_f32(0.5).to_bits() as u64)
            .scalar(bf16::from_f32(1.5).to_bits() as u64)
            .scalar((-2.25f32).to_bits() as u64)
            .scalar(1e-3f64.to_bits())
            .result_slot();
        // SAFETY: nine scalars and a result, as the signature says.
        unsafe { mix.call_with(&mut arguments) }.unwrap();
        assert_eq!(f64::from_bits(arguments.result(8)), expected);
    }
}

#[test]
fn small_results() {
    let ir = "
        define i1 @_mlir_ciface_not(i1 %x) { %r = xor i1 %x, true ret i1 %r }
        define half @_mlir_ciface_twice(half %x) { %r = fadd half %x, %x ret half %r }
        define bfloat @_mlir_ciface_same(bfloat %x) { ret bfloat %x }";
    let run = |entry: &str, bits: u64, bytes: usize| {
        let jit = compile(ir, entry);
        let mut arguments = Arguments::new();
        arguments.scalar(bits).result_slot();
        // SAFETY: one scalar and a scalar result.
        unsafe { jit.function(entry).unwrap().call_with(&mut arguments) }.unwrap();
        arguments.result(bytes)
    };
    assert_eq!(run("not", 0, 1), 1);
    assert_eq!(run("not", 1, 1), 0);
    let half = f16::from_f32(0.75);
    assert_eq!(
        run("twice", half.to_bits() as u64, 2),
        f16::from_f32(1.5).to_bits() as u64
    );
    assert_eq!(run("same", 0x7fc1, 2), 0x7fc1);
}

#[test]
fn results_through_a_pointer_and_directly() {
    // MLIR returns a memref, or several values, through a pointer that comes first.
    let ir = "
        define void @_mlir_ciface_view(ptr %result, ptr %argument, i64 %offset) {
          %all = load { ptr, ptr, i64, [1 x i64], [1 x i64] }, ptr %argument
          %moved = insertvalue { ptr, ptr, i64, [1 x i64], [1 x i64] } %all, i64 %offset, 2
          store { ptr, ptr, i64, [1 x i64], [1 x i64] } %moved, ptr %result
          ret void
        }
        define { float, i64 } @_mlir_ciface_pair(i64 %x) {
          %f = sitofp i64 %x to float
          %a = insertvalue { float, i64 } poison, float %f, 0
          %b = insertvalue { float, i64 } %a, i64 %x, 1
          ret { float, i64 } %b
        }";
    let jit = compile(ir, "view");
    let mut data = buffer(&[1.0, 2.0, 3.0, 4.0]);
    let mut arguments = Arguments::new();
    arguments
        .result_area(Descriptor::words_of(1))
        .memref(Descriptor::dense(data.as_mut_ptr(), &[2]))
        .scalar(2);
    // SAFETY: room for a descriptor, a descriptor, a scalar.
    unsafe { jit.function("view").unwrap().call_with(&mut arguments) }.unwrap();
    let result = Descriptor::from_words(arguments.area(0));
    assert_eq!(
        (result.offset(), result.sizes(), result.strides()),
        (2, &[2][..], &[1][..])
    );
    // SAFETY: elements 2 and 3 of 4.
    assert_eq!(floats(&unsafe { result.gather(4) }.unwrap()), [3.0, 4.0]);

    let jit = compile(ir, "pair");
    let pair = jit.function("pair").unwrap();
    assert_eq!(
        pair.signature().result,
        Some(PackedType::Other("{ float, i64 }".to_string()))
    );
    #[repr(C)]
    struct Pair(f32, i64);
    let (mut input, mut output) = (-7i64, Pair(0.0, 0));
    // SAFETY: a scalar, and room for the result.
    unsafe { pair.call(&mut [(&raw mut input).cast(), (&raw mut output).cast()]) }.unwrap();
    assert_eq!((output.0, output.1), (-7.0, -7));
}

#[test]
fn mathematics_and_strided_copies_are_found() {
    let ir = r#"
        declare double @tgamma(double)
        declare void @memrefCopy(i64, ptr, ptr)
        define void @_mlir_ciface_f(ptr %from, ptr %to, ptr %number) {
          %x = load double, ptr %number
          %y = call double @tgamma(double %x)
          store double %y, ptr %number
          %source = alloca { i64, ptr }
          %target = alloca { i64, ptr }
          store i64 2, ptr %source
          store i64 2, ptr %target
          %s = getelementptr { i64, ptr }, ptr %source, i32 0, i32 1
          %t = getelementptr { i64, ptr }, ptr %target, i32 0, i32 1
          store ptr %from, ptr %s
          store ptr %to, ptr %t
          call void @memrefCopy(i64 4, ptr %source, ptr %target)
          ret void
        }"#;
    let jit = compile(ir, "f");
    let (mut from, mut to) = (buffer(&[1., 2., 3., 4., 5., 6.]), buffer(&[0.0; 6]));
    let mut arguments = Arguments::new();
    arguments
        .memref(Descriptor::strided(from.as_mut_ptr(), 0, &[3, 2], &[1, 3]))
        .memref(Descriptor::dense(to.as_mut_ptr(), &[3, 2]));
    let mut number = 5.0f64;
    arguments.scalar((&raw mut number) as u64);
    // SAFETY: two descriptors of six elements, a pointer to a double.
    unsafe { jit.function("f").unwrap().call_with(&mut arguments) }.unwrap();
    assert_eq!(number, 24.0);
    assert_eq!(floats(to.bytes()), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

#[test]
fn everything_is_emitted() {
    let mut module = Module::parse("test", MATMUL).unwrap();
    assert!(module.ir().contains("define void @_mlir_ciface_matmul"));
    assert_eq!(
        module.functions(),
        ["matmul", "element", "_mlir_ciface_matmul"]
    );
    module.add_entry("matmul").unwrap();
    let optimised = module.optimise(Level::Full).unwrap();
    let text = |emit| String::from_utf8(optimised.emit(emit).unwrap()).unwrap();
    let ir = text(Emit::LlvmIr);
    assert!(
        ir.contains("\"target-cpu\"=") && ir.contains("@_mdh_packed_matmul"),
        "{ir}"
    );
    assert!(
        !ir.contains("fadd fast") && !ir.contains("reassoc"),
        "no licence was given"
    );
    let assembly = text(Emit::Assembly);
    assert!(assembly.contains("matmul:"), "{assembly}");
    assert!(
        optimised
            .emit(Emit::Object)
            .unwrap()
            .starts_with(b"\x7fELF")
    );
    assert_eq!(text(Emit::Assembly), assembly, "emitting changes nothing");
}

#[test]
fn flags_in_the_ir_are_what_counts() {
    let sum = |flags: &str| {
        let ir = format!(
            "define float @_mlir_ciface_sum(ptr %p) {{
             entry:
               br label %loop
             loop:
               %i = phi i64 [ 0, %entry ], [ %next, %loop ]
               %s = phi float [ 0.0, %entry ], [ %t, %loop ]
               %q = getelementptr float, ptr %p, i64 %i
               %x = load float, ptr %q
               %t = fadd {flags} float %s, %x
               %next = add i64 %i, 1
               %done = icmp eq i64 %next, 4096
               br i1 %done, label %exit, label %loop
             exit:
               ret float %t
             }}"
        );
        let optimised = Module::parse("sum", &ir)
            .unwrap()
            .optimise(Level::Full)
            .unwrap();
        String::from_utf8(optimised.emit(Emit::LlvmIr).unwrap()).unwrap()
    };
    assert!(
        !sum("").contains("x float>"),
        "a sum in order is not vectorised"
    );
    assert!(sum("reassoc").contains("x float>"), "a licensed one is");
}

#[test]
fn instructions_for_lanes_in_reverse_order_are_selected() {
    // Five of 64 bytes: with a permutation of bytes, LLVM's selection does not end.
    let lanes = (0..64).map(|n| match n {
        0..5 => format!("i32 {}", 63 - n),
        _ => "i32 poison".to_owned(),
    });
    let lanes = lanes.collect::<Vec<_>>().join(", ");
    let ir = format!(
        "define <64 x i8> @f(<64 x i8> %x) {{
           %y = sub <64 x i8> zeroinitializer, %x
           %z = shufflevector <64 x i8> %y, <64 x i8> zeroinitializer, <64 x i32> <{lanes}>
           ret <64 x i8> %z
         }}"
    );
    let module = Module::parse("lanes", &ir).unwrap();
    let optimised = module.optimise(Level::Full).unwrap();
    optimised.emit(Emit::Object).unwrap();
}

#[test]
fn both_levels_run() {
    for level in [Level::Quick, Level::Full] {
        let ir = "define i32 @_mlir_ciface_f(i32 %x) { %r = mul i32 %x, 3 ret i32 %r }";
        let mut module = Module::parse("test", ir).unwrap();
        module.add_entry("f").unwrap();
        let jit = module.optimise(level).unwrap().load().unwrap();
        let mut arguments = Arguments::new();
        arguments.scalar(14).result_slot();
        // SAFETY: one scalar and a scalar result.
        unsafe { jit.function("f").unwrap().call_with(&mut arguments) }.unwrap();
        assert_eq!(arguments.result(4), 42);
    }
}

#[test]
fn mistakes_are_errors() {
    let message = |error: Error| error.to_string();
    let syntax = Module::parse("test", "define f32 @f()")
        .err()
        .map(message)
        .unwrap();
    assert!(
        syntax.starts_with("parsing LLVM IR: ") && syntax.contains("1:8"),
        "{syntax}"
    );
    let broken = "define i32 @f(i1 %c) {
          br i1 %c, label %a, label %b
        a:
          %x = add i32 1, 2
          br label %b
        b:
          ret i32 %x
        }";
    let broken = Module::parse("test", broken).err().map(message).unwrap();
    assert!(broken.contains("does not dominate all uses"), "{broken}");

    let mut module =
        Module::parse("test", "define void @_mlir_ciface_f(i32 %x) { ret void }").unwrap();
    let unknown = module.add_entry("g").unwrap_err();
    assert_eq!(message(unknown), "no compiled function 'g'; there are: f");
    module.add_entry("f").unwrap();
    let jit = module.optimise(Level::Full).unwrap().load().unwrap();
    assert!(matches!(
        jit.function("g").err(),
        Some(Error::UnknownFunction { .. })
    ));
    // SAFETY: refused before anything is called.
    let count = unsafe { jit.function("f").unwrap().call(&mut []) }.unwrap_err();
    assert_eq!(
        message(count),
        "calling 'f': found 0 argument pointers, expected 1"
    );

    let ir = "declare void @nowhere()
        define void @_mlir_ciface_f() { call void @nowhere() ret void }";
    let mut module = Module::parse("test", ir).unwrap();
    module.add_entry("f").unwrap();
    let jit = module.optimise(Level::Full).unwrap().load().unwrap();
    let missing = jit.function("f").err().map(message).unwrap();
    assert_eq!(
        missing,
        "linking compiled code: Symbols not found: [ nowhere ]"
    );
}

#[test]
fn a_translation_that_fails_is_an_error() {
    // SAFETY: null is allowed.
    let result = unsafe { Module::translate(|_| std::ptr::null_mut()) };
    assert!(matches!(result.err(), Some(Error::Llvm { .. })));
}

#[test]
fn the_version_is_the_linked_one() {
    assert!(
        mdh_jit::version().starts_with("22."),
        "{}",
        mdh_jit::version()
    );
}
