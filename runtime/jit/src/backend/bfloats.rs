//! Elements of vectors of `bfloat` are moved as integers.
//!
//! Without AVX512-BF16 (which is never used, see [`crate::target`]), LLVM 22's code generation for
//! x86 gets some shuffles of them wrong: of those that feed each other, a lane is taken from another
//! place. The same shuffles of `i16` are right, and are the same instructions:
//!
//! ```text
//! %v = shufflevector <16 x bfloat> %a, <16 x bfloat> %b, <8 x i32> <i32 0, i32 20, ..>
//! ; becomes
//! %x = bitcast <16 x bfloat> %a to <16 x i16>
//! %y = bitcast <16 x bfloat> %b to <16 x i16>
//! %z = shufflevector <16 x i16> %x, <16 x i16> %y, <8 x i32> <i32 0, i32 20, ..>
//! %v = bitcast <8 x i16> %z to <8 x bfloat>
//! ```
//!
//! Code generation makes shuffles of single elements that are taken out and put in, too, so that
//! these are written in the same way.

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMTypeRef, LLVMValueRef};

use super::LLVMOpcode;

/// Replaces an instruction if it moves elements of such vectors.
///
/// # Safety
///
/// The instruction is alive, has a place in a block, and belongs to the context.
pub unsafe fn replace(context: LLVMContextRef, instruction: LLVMValueRef) {
    // SAFETY: the opcode says how many operands there are; what is built has the type of what it
    // replaces.
    unsafe {
        let opcode = LLVMGetInstructionOpcode(instruction);
        let moves = matches!(
            opcode,
            LLVMOpcode::LLVMShuffleVector
                | LLVMOpcode::LLVMInsertElement
                | LLVMOpcode::LLVMExtractElement
        );
        let operand = |n| LLVMGetOperand(instruction, n);
        if !moves || integers_for(context, LLVMTypeOf(operand(0))).is_none() {
            return;
        }
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, instruction);
        let integer = |n| as_integers(context, builder, operand(n));
        let name = c"".as_ptr();
        let moved = match opcode {
            LLVMOpcode::LLVMInsertElement => {
                LLVMBuildInsertElement(builder, integer(0), integer(1), operand(2), name)
            }
            LLVMOpcode::LLVMExtractElement => {
                LLVMBuildExtractElement(builder, integer(0), operand(1), name)
            }
            _ => {
                let lanes = mask(context, instruction);
                LLVMBuildShuffleVector(builder, integer(0), integer(1), lanes, name)
            }
        };
        let ty = LLVMTypeOf(instruction);
        LLVMReplaceAllUsesWith(instruction, LLVMBuildBitCast(builder, moved, ty, name));
        LLVMInstructionEraseFromParent(instruction);
        LLVMDisposeBuilder(builder);
    }
}

/// The integers of the same bits, of `bfloat` or of a vector of it.
unsafe fn integers_for(context: LLVMContextRef, ty: LLVMTypeRef) -> Option<LLVMTypeRef> {
    // SAFETY: the type is one of the context's, and its kind says what it has.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMBFloatTypeKind => Some(LLVMInt16TypeInContext(context)),
            LLVMTypeKind::LLVMVectorTypeKind => {
                let element = integers_for(context, LLVMGetElementType(ty))?;
                Some(LLVMVectorType(element, LLVMGetVectorSize(ty)))
            }
            _ => None,
        }
    }
}

unsafe fn as_integers(
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    value: LLVMValueRef,
) -> LLVMValueRef {
    // SAFETY: the value, the builder and its place are of the context.
    unsafe {
        match integers_for(context, LLVMTypeOf(value)) {
            Some(ty) => LLVMBuildBitCast(builder, value, ty, c"".as_ptr()),
            None => value,
        }
    }
}

/// The lanes that a shuffle takes, as a constant.
unsafe fn mask(context: LLVMContextRef, shuffle: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the instruction is a shuffle, and is asked for as many lanes as it has.
    unsafe {
        let i32_type = LLVMInt32TypeInContext(context);
        let lane = |n| match LLVMGetMaskValue(shuffle, n) {
            n if n == LLVMGetUndefMaskElem() => LLVMGetPoison(i32_type),
            n => LLVMConstInt(i32_type, n as u64, 0),
        };
        let mut lanes: Vec<_> = (0..LLVMGetNumMaskElements(shuffle)).map(lane).collect();
        LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32)
    }
}
