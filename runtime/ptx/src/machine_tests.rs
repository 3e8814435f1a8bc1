//! Kernels that access what lies behind their memory.

use super::*;
use crate::parse::parse;

/// Runs one thread of a kernel with that code, an array of 6 bytes in shared memory, and the
/// address of 6 more in the device's.
fn run_code(code: &str) -> Result<(), Failure> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.visible .entry f(.param .u64 f_param_0)\n{{\n\
         .reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.shared .align 16 .b8 own[6];\n\
         ld.param.b64 %rd1, [f_param_0];\n{code}\nret;\n}}"
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = Memory::new(1 << 20);
    let address = memory.allocate(6).unwrap();
    run(&Launch {
        kernel: &module.kernels["f"],
        blocks: [1; 3],
        threads: [1; 3],
        arguments: &address.to_le_bytes(),
        dynamic: 0,
        memory: &memory,
        steps: 100,
    })
}

#[test]
fn loads_end_where_the_widest_one_does() {
    for (space, base) in [("shared", "own"), ("global", "%rd1")] {
        for (access, is_right) in [
            ("ld.SPACE.b32 %r1, [BASE]", true),
            ("ld.SPACE.v2.b32 {%r1, %r2}, [BASE]", true),
            ("ld.SPACE.v4.b32 {%r1, %r2, %r3, %r4}, [BASE]", true),
            ("ld.SPACE.b32 %r1, [BASE+4]", true),
            ("ld.SPACE.b16 %r1, [BASE+6]", false),
            ("ld.SPACE.b32 %r1, [BASE+8]", false),
            ("ld.SPACE.b32 %r1, [BASE+-4]", false),
            ("st.SPACE.b32 [BASE], 1", true),
            ("st.SPACE.b32 [BASE+4], 1", false),
            ("st.SPACE.v2.b32 [BASE], {%r1, %r2}", false),
        ] {
            let code = access.replace("SPACE", space).replace("BASE", base) + ";";
            let results = run_code(&code);
            let expected = if is_right {
                Ok(())
            } else {
                Err(Failure::Address(9))
            };
            assert_eq!(results, expected, "{code}");
        }
    }
}
