//! Kernels of NVIDIA's GPUs: from LLVM IR to PTX.
//!
//! What the lanes of a warp do together must stay where all lanes come. LLVM keeps a call there if
//! it is *convergent*, but not all of its intrinsics are declared so: products of matrices
//! (`NVVM_MMA` of LLVM 22's `IntrinsicsNVVM.td`) are not, and sink under branches that depend on the
//! lane. So such calls are marked before anything is optimised:
//!
//! ```llvm
//! %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(..)
//! ; becomes
//! %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(..) #0
//! attributes #0 = { convergent }
//! ```
//!
//! LLVM 22's instructions for a truth value as a signed bfloat16 give 1 where -1 is meant (the pattern
//! for `sitofp i1` in `NVPTXInstrInfo.td`). So it is a choice, once all is optimised:
//!
//! ```llvm
//! %x = sitofp i1 %c to bfloat
//! ; becomes
//! %x = select i1 %c, bfloat -1.0, bfloat 0.0
//! ```

use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMValueRef};
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMTypeKind};

use crate::Result;
use crate::module::{Emit, Level, Module, enum_attribute, name_of};
use crate::target::Target;

/// Prefixes of the intrinsics that the lanes of a warp, or the threads of a block, execute
/// together. Some of them LLVM declares convergent itself.
const COLLECTIVE: [&str; 17] = [
    "llvm.nvvm.activemask",
    "llvm.nvvm.bar.",
    "llvm.nvvm.barrier",
    "llvm.nvvm.clusterlaunchcontrol.",
    "llvm.nvvm.elect.",
    "llvm.nvvm.ldmatrix.",
    "llvm.nvvm.match.",
    "llvm.nvvm.mma.",
    "llvm.nvvm.redux.",
    "llvm.nvvm.setmaxnreg.",
    "llvm.nvvm.shfl.",
    "llvm.nvvm.stmatrix.",
    "llvm.nvvm.tcgen05.",
    "llvm.nvvm.vote.",
    "llvm.nvvm.wgmma.",
    "llvm.nvvm.wmma.",
    "llvm.nvvm.sp.mma.",
];

impl Module {
    /// Compiles kernels for a chip (`sm_90a`), and returns their PTX.
    pub fn into_ptx(self, chip: &str) -> Result<String> {
        self.mark_collective();
        let optimised = self.optimise_with(Target::nvidia(chip)?, Level::Full)?;
        for function in optimised.module().defined() {
            // SAFETY: the function is alive and has a body.
            unsafe { replace_truths(optimised.module().context(), function) };
        }
        let text = optimised.emit(Emit::Assembly)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn mark_collective(&self) {
        for function in self.defined() {
            // SAFETY: the function is alive; marking a call changes no list of instructions.
            unsafe { mark(self.context(), function) };
        }
    }
}

/// Marks the calls of a function.
///
/// # Safety
/// The function is alive, has a body, and belongs to the context.
unsafe fn mark(context: LLVMContextRef, function: LLVMValueRef) {
    // SAFETY: blocks and instructions belong to the function.
    unsafe {
        let convergent = enum_attribute(context, "convergent");
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let mut instruction = LLVMGetFirstInstruction(block);
            while !instruction.is_null() {
                if !LLVMIsACallInst(instruction).is_null() && is_collective(instruction) {
                    LLVMAddCallSiteAttribute(instruction, LLVMAttributeFunctionIndex, convergent);
                }
                instruction = LLVMGetNextInstruction(instruction);
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
}

/// Returns whether threads may do together what a call does. Of assembly, and of functions that are none of
/// LLVM's, nothing is known.
///
/// # Safety
/// The call is alive.
unsafe fn is_collective(call: LLVMValueRef) -> bool {
    // SAFETY: by this function's contract.
    unsafe {
        let called = LLVMIsAFunction(LLVMGetCalledValue(call));
        if called.is_null() || LLVMGetIntrinsicID(called) == 0 {
            return true;
        }
        let name = name_of(called);
        COLLECTIVE.iter().any(|known| name.starts_with(known))
    }
}

/// Replaces truth values as signed bfloat16.
///
/// # Safety
/// The function is alive, has a body, and belongs to the context.
unsafe fn replace_truths(context: LLVMContextRef, function: LLVMValueRef) {
    // SAFETY: blocks and instructions belong to the function; the next one is asked for before one is
    // erased.
    unsafe {
        let builder = LLVMCreateBuilderInContext(context);
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let mut instruction = LLVMGetFirstInstruction(block);
            while !instruction.is_null() {
                let next = LLVMGetNextInstruction(instruction);
                if !LLVMIsASIToFPInst(instruction).is_null() {
                    replace_truth(context, builder, instruction);
                }
                instruction = next;
            }
            block = LLVMGetNextBasicBlock(block);
        }
        LLVMDisposeBuilder(builder);
    }
}

unsafe fn replace_truth(
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    conversion: LLVMValueRef,
) {
    // SAFETY: a conversion has one operand; both it and the result are of scalars or vectors.
    unsafe {
        let (truth, ty) = (LLVMGetOperand(conversion, 0), LLVMTypeOf(conversion));
        let element = |ty| match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMVectorTypeKind => LLVMGetElementType(ty),
            _ => ty,
        };
        let is_truth = element(LLVMTypeOf(truth)) == LLVMInt1TypeInContext(context);
        if !is_truth || element(ty) != LLVMBFloatTypeInContext(context) {
            return;
        }
        LLVMPositionBuilderBefore(builder, conversion);
        let [yes, no] = [-1.0, 0.0].map(|number| LLVMConstReal(ty, number));
        let choice = LLVMBuildSelect(builder, truth, yes, no, c"".as_ptr());
        LLVMReplaceAllUsesWith(conversion, choice);
        LLVMInstructionEraseFromParent(conversion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A product whose results half of the lanes store.
    const PRODUCT: &str = r#"
target triple = "nvptx64-nvidia-cuda"
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @f(ptr addrspace(1) %p, <2 x half> %a) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %a, <2 x half> %a, <2 x half> %a, <2 x half> %a, <2 x half> %a, <2 x half> %a, float 0.0, float 0.0, float 0.0, float 0.0)
  %half = icmp ult i32 %lane, 16
  br i1 %half, label %store, label %end
store:
  %x = extractvalue { float, float, float, float } %d, 0
  %q = getelementptr float, ptr addrspace(1) %p, i32 %lane
  store float %x, ptr addrspace(1) %q
  br label %end
end:
  ret void
}
"#;

    #[test]
    fn products_stay_outside_of_branches() {
        let module = Module::parse("product", PRODUCT).unwrap();
        let text = module.into_ptx("sm_90a").unwrap();
        assert!(text.contains(".target sm_90a"), "{text}");
        let (before, behind) = text.split_once("bra").unwrap();
        assert!(before.contains("mma.sync"), "{text}");
        assert!(!behind.contains("mma.sync"), "{text}");
    }

    #[test]
    fn what_lanes_do_alone_is_not_marked() {
        let module = Module::parse("product", PRODUCT).unwrap();
        module.mark_collective();
        let text = module.ir();
        let marked = text.lines().filter(|line| line.contains("= call"));
        let marked: Vec<bool> = marked.map(|line| line.contains(") #")).collect();
        assert_eq!(marked, [false, true], "{text}");
    }

    #[test]
    fn truth_values_are_minus_one() {
        let text = r#"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @f(ptr addrspace(1) %p, i1 %c) {
  %x = sitofp i1 %c to bfloat
  store bfloat %x, ptr addrspace(1) %p
  ret void
}
"#;
        let module = Module::parse("truth", text).unwrap();
        let text = module.into_ptx("sm_90").unwrap();
        // -1 is 0xbf80.
        assert!(
            text.contains("0xBF80") && !text.contains("cvt.rn.bf16.s32"),
            "{text}"
        );
    }
}
