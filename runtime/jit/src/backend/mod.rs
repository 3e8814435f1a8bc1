//! Faults of LLVM's code generation for x86: instructions that meet one are written in another way.

mod bfloats;
mod single_lanes;

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMValueRef};

/// Rewrites the instructions of a function that code generation would get wrong.
///
/// # Safety
///
/// The function is alive, has a body, and belongs to the context.
pub unsafe fn avoid_faults(context: LLVMContextRef, function: LLVMValueRef) {
    // SAFETY: blocks and instructions belong to the function; the next one is asked for before
    // one is erased.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let mut instruction = LLVMGetFirstInstruction(block);
            while !instruction.is_null() {
                let next = LLVMGetNextInstruction(instruction);
                match LLVMGetInstructionOpcode(instruction) {
                    LLVMOpcode::LLVMCall => single_lanes::replace(context, instruction),
                    _ => bfloats::replace(context, instruction),
                }
                instruction = next;
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
}
