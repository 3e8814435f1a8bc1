//! Masked stores of a single lane become plain stores of an element.
//!
//! LLVM's x86 backend makes a store of one element out of a masked store whose mask is a constant
//! with one lane. Where the value was truncated it takes the element's type before that, and
//! writes beyond the element:
//!
//! ```text
//! %narrow = trunc <8 x i64> %wide to <8 x i32>
//! call void @llvm.masked.store(<8 x i32> %narrow, ptr %p, <8 x i1> <i1 true, i1 false, ..>)
//! ; becomes, instead of a store of 8 bytes
//! %element = extractelement <8 x i32> %narrow, i64 0
//! store i32 %element, ptr %p, align 1
//! ```

use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMValueRef};

/// Replaces an instruction if it is one of those stores.
///
/// # Safety
///
/// The instruction is alive, has a place in a block, and belongs to the context.
pub unsafe fn replace(context: LLVMContextRef, instruction: LLVMValueRef) {
    // SAFETY: by this function's contract.
    unsafe {
        if let Some(lane) = single_lane(instruction) {
            store(context, instruction, lane);
        }
    }
}

/// The lane that a masked store writes if its mask is a constant with one.
unsafe fn single_lane(instruction: LLVMValueRef) -> Option<u32> {
    const NAME: &str = "llvm.masked.store";
    // SAFETY: the instruction is alive; operands are asked for where there are as many.
    unsafe {
        if LLVMIsACallInst(instruction).is_null() {
            return None;
        }
        let called = LLVMIsAFunction(LLVMGetCalledValue(instruction));
        let wanted = LLVMLookupIntrinsicID(NAME.as_ptr().cast(), NAME.len());
        if called.is_null() || LLVMGetIntrinsicID(called) != wanted {
            return None;
        }
        let last = LLVMGetNumArgOperands(instruction) - 1;
        let mask = LLVMGetOperand(instruction, last);
        if LLVMIsConstant(mask) == 0 {
            return None;
        }
        let mut single = None;
        for lane in 0..LLVMGetVectorSize(LLVMTypeOf(mask)) {
            let element = LLVMGetAggregateElement(mask, lane);
            if element.is_null() || LLVMIsAConstantInt(element).is_null() {
                return None;
            }
            if LLVMConstIntGetZExtValue(element) != 0 && single.replace(lane).is_some() {
                return None;
            }
        }
        single
    }
}

unsafe fn store(context: LLVMContextRef, instruction: LLVMValueRef, lane: u32) {
    // SAFETY: a masked store's first operands are its vector and its pointer.
    unsafe {
        let (value, pointer) = (
            LLVMGetOperand(instruction, 0),
            LLVMGetOperand(instruction, 1),
        );
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, instruction);
        let mut number = LLVMConstInt(LLVMInt64TypeInContext(context), u64::from(lane), 0);
        let element = LLVMBuildExtractElement(builder, value, number, c"".as_ptr());
        let ty = LLVMTypeOf(element);
        let place = LLVMBuildGEP2(builder, ty, pointer, &mut number, 1, c"".as_ptr());
        let store = LLVMBuildStore(builder, element, place);
        LLVMSetAlignment(store, 1);
        LLVMInstructionEraseFromParent(instruction);
        LLVMDisposeBuilder(builder);
    }
}
