//! Wrappers through which Rust calls functions of any signature.
//!
//! ```llvm
//! define void @_mdh_packed_f(ptr %arguments) {
//!   %slot = getelementptr ptr, ptr %arguments, i64 0     ; for each parameter
//!   %pointer = load ptr, ptr %slot
//!   %value = load float, ptr %pointer
//!   %result = call i64 @_mlir_ciface_f(float %value, ...)
//!   ; the pointer after the last parameter's says where the result goes
//! }
//! ```

use std::ffi::CStr;
use std::fmt;

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{
    LLVMAttributeRef, LLVMBuilderRef, LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef,
};

use crate::llvm::take_message;

/// The type of a parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackedType {
    /// A pointer: a memref's descriptor, or where a result of several words goes.
    Pointer,
    /// An integer of that many bits; `i1` is a byte in memory.
    Integer(u32),
    /// IEEE half precision.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Anything else, as LLVM spells it (`{ float, i64 }`).
    Other(String),
}

impl fmt::Display for PackedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackedType::Pointer => f.write_str("ptr"),
            PackedType::Integer(bits) => write!(f, "i{bits}"),
            PackedType::F16 => f.write_str("f16"),
            PackedType::BF16 => f.write_str("bf16"),
            PackedType::F32 => f.write_str("f32"),
            PackedType::F64 => f.write_str("f64"),
            PackedType::Other(text) => f.write_str(text),
        }
    }
}

/// Signature of a function at the level of LLVM.
///
/// MLIR's C interfaces pass memrefs as pointers to descriptors and return several results, or a
/// memref, through a pointer that comes first; those are ordinary pointer parameters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The parameters.
    pub parameters: Vec<PackedType>,
    /// The result, if it returns one directly.
    pub result: Option<PackedType>,
}

impl Signature {
    /// Returns the number of pointers that a call passes: one for each parameter, one more for the
    /// result.
    pub fn pointers(&self) -> usize {
        self.parameters.len() + usize::from(self.result.is_some())
    }
}

/// The wrapper's symbol.
pub fn symbol(name: &str) -> String {
    format!("_mdh_packed_{name}")
}

/// Adds the wrapper of `function` to its module.
///
/// # Safety
/// `function` is a function of `module`, which is in `context`.
pub unsafe fn wrap(
    module: LLVMModuleRef,
    context: LLVMContextRef,
    function: LLVMValueRef,
    wrapper: &CStr,
) -> Signature {
    // SAFETY: by this function's contract; everything made here goes into the module.
    unsafe {
        let ty = LLVMGlobalGetValueType(function);
        let mut parameters = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
        LLVMGetParamTypes(ty, parameters.as_mut_ptr());
        let returned = LLVMGetReturnType(ty);

        let pointer = LLVMPointerTypeInContext(context, 0);
        let void = LLVMVoidTypeInContext(context);
        let wrapper_type = LLVMFunctionType(void, [pointer].as_mut_ptr(), 1, 0);
        let wrapper = LLVMAddFunction(module, wrapper.as_ptr(), wrapper_type);
        let block = LLVMAppendBasicBlockInContext(context, wrapper, c"entry".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, block);
        let slots = Slots {
            builder,
            context,
            array: LLVMGetParam(wrapper, 0),
        };

        let mut values: Vec<LLVMValueRef> = parameters
            .iter()
            .enumerate()
            .map(|(i, &ty)| slots.load(i, ty))
            .collect();
        let (count, unnamed) = (values.len() as u32, c"".as_ptr());
        let call = LLVMBuildCall2(builder, ty, function, values.as_mut_ptr(), count, unnamed);
        LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
        copy_attributes(function, call, count);
        let result =
            (LLVMGetTypeKind(returned) != LLVMTypeKind::LLVMVoidTypeKind).then(|| kind(returned));
        if result.is_some() {
            slots.store(parameters.len(), returned, call);
        }
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
        Signature {
            parameters: parameters.into_iter().map(|ty| kind(ty)).collect(),
            result,
        }
    }
}

/// The array of pointers that the wrapper is given, and the place where its code is built.
struct Slots {
    builder: LLVMBuilderRef,
    context: LLVMContextRef,
    array: LLVMValueRef,
}

impl Slots {
    /// The `i`-th pointer.
    ///
    /// # Safety
    /// The builder stands in the wrapper.
    unsafe fn pointer(&self, i: usize) -> LLVMValueRef {
        // SAFETY: by this function's contract.
        unsafe {
            let pointer = LLVMPointerTypeInContext(self.context, 0);
            let mut index = LLVMConstInt(LLVMInt64TypeInContext(self.context), i as u64, 0);
            let slot = LLVMBuildGEP2(
                self.builder,
                pointer,
                self.array,
                &mut index,
                1,
                c"slot".as_ptr(),
            );
            LLVMBuildLoad2(self.builder, pointer, slot, c"pointer".as_ptr())
        }
    }

    /// The value of type `ty` that the `i`-th pointer points to. An `i1` is the lowest bit of a
    /// byte, whatever the others are.
    ///
    /// # Safety
    /// As for [`Slots::pointer`].
    unsafe fn load(&self, i: usize, ty: LLVMTypeRef) -> LLVMValueRef {
        // SAFETY: by this function's contract.
        unsafe {
            let pointer = self.pointer(i);
            if kind(ty) != PackedType::Integer(1) {
                return LLVMBuildLoad2(self.builder, ty, pointer, c"value".as_ptr());
            }
            let byte = LLVMInt8TypeInContext(self.context);
            let byte = LLVMBuildLoad2(self.builder, byte, pointer, c"byte".as_ptr());
            LLVMBuildTrunc(self.builder, byte, ty, c"value".as_ptr())
        }
    }

    /// Stores a value of type `ty` where the `i`-th pointer points to.
    ///
    /// # Safety
    /// As for [`Slots::pointer`].
    unsafe fn store(&self, i: usize, ty: LLVMTypeRef, mut value: LLVMValueRef) {
        // SAFETY: by this function's contract.
        unsafe {
            if kind(ty) == PackedType::Integer(1) {
                let byte = LLVMInt8TypeInContext(self.context);
                value = LLVMBuildZExt(self.builder, value, byte, c"byte".as_ptr());
            }
            let pointer = self.pointer(i);
            LLVMBuildStore(self.builder, value, pointer);
        }
    }
}

/// Repeats at the call what the callee's parameters and result are declared with: `byval`,
/// `sret`, `zeroext` are part of how a value is passed.
///
/// # Safety
/// `call` calls `function`, which has `count` parameters.
unsafe fn copy_attributes(function: LLVMValueRef, call: LLVMValueRef, count: u32) {
    // Index 0 is the result.
    for index in 0..=count {
        // SAFETY: by this function's contract; the array has room for all attributes.
        unsafe {
            let many = LLVMGetAttributeCountAtIndex(function, index) as usize;
            let mut attributes: Vec<LLVMAttributeRef> = vec![std::ptr::null_mut(); many];
            LLVMGetAttributesAtIndex(function, index, attributes.as_mut_ptr());
            for attribute in attributes {
                LLVMAddCallSiteAttribute(call, index, attribute);
            }
        }
    }
}

/// # Safety
/// `ty` is alive.
unsafe fn kind(ty: LLVMTypeRef) -> PackedType {
    // SAFETY: by this function's contract.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMPointerTypeKind => PackedType::Pointer,
            LLVMTypeKind::LLVMIntegerTypeKind => PackedType::Integer(LLVMGetIntTypeWidth(ty)),
            LLVMTypeKind::LLVMHalfTypeKind => PackedType::F16,
            LLVMTypeKind::LLVMBFloatTypeKind => PackedType::BF16,
            LLVMTypeKind::LLVMFloatTypeKind => PackedType::F32,
            LLVMTypeKind::LLVMDoubleTypeKind => PackedType::F64,
            _ => PackedType::Other(take_message(LLVMPrintTypeToString(ty))),
        }
    }
}
