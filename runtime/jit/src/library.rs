//! Compiled functions as C functions, in a module that is linked with `libmdhrt`.
//!
//! ```llvm
//! define i32 @f(ptr %x, i64 %x_n0, float %a) {
//!   %values = alloca [3 x i64]               ; every argument, as a word
//!   store ..
//!   %status = call i32 @mdh_call(ptr @_mdh_packed_f, ptr @about_f, ptr %values)
//!   ret i32 %status
//! }
//! ```
//!
//! Everything else becomes internal to the module, so that two of them can be linked together.
//! What code calls of the C library to fail, and to get memory, is replaced at last, after
//! optimisations that know what `malloc` is. A failure unwinds, so that all functions have unwind
//! tables.

use std::collections::HashSet;
use std::ffi::{CStr, CString};

use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};

use mdhrt::interface::{Argument, Element, Interface, ParameterPart};

use crate::Result;
use crate::llvm::c_string;

/// Functions that code calls, and those of `libmdhrt` that it calls instead.
const REPLACED: [(&CStr, &CStr); 6] = [
    (c"malloc", c"mdh_allocate"),
    (c"calloc", c"mdh_allocate_zeroed"),
    (c"free", c"mdh_release"),
    (c"puts", c"mdh_say"),
    (c"abort", c"mdh_stop"),
    (c"memrefCopy", c"mdh_copy"),
];

/// Adds the C function of an interface, which calls `code`.
///
/// # Safety
/// `code` is a wrapper of `crate::packed` in `module`, for a function of that interface, and the
/// module is in `context`.
pub unsafe fn add(
    module: LLVMModuleRef,
    context: LLVMContextRef,
    interface: &Interface,
    code: LLVMValueRef,
) -> Result<()> {
    let arguments = interface.arguments();
    let name = c_string(&interface.name)?;
    let types = Types::new(context);
    // SAFETY: by this function's contract; everything made here goes into the module.
    unsafe {
        let mut parameters: Vec<LLVMTypeRef> = arguments
            .iter()
            .map(|argument| types.argument(interface, argument))
            .collect();
        let ty = LLVMFunctionType(
            types.i32,
            parameters.as_mut_ptr(),
            parameters.len() as u32,
            0,
        );
        let function = LLVMAddFunction(module, name.as_ptr(), ty);
        let block = LLVMAppendBasicBlockInContext(context, function, c"entry".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, block);
        let array = LLVMArrayType2(types.i64, arguments.len() as u64);
        let values = LLVMBuildAlloca(builder, array, c"values".as_ptr());
        for (i, argument) in arguments.iter().enumerate() {
            let value = LLVMGetParam(function, i as u32);
            let label = c_string(&argument.name)?;
            LLVMSetValueName2(value, label.as_ptr(), argument.name.len());
            let mut index = LLVMConstInt(types.i64, i as u64, 0);
            let slot = LLVMBuildGEP2(builder, types.i64, values, &mut index, 1, c"".as_ptr());
            LLVMBuildStore(builder, types.word(builder, value), slot);
        }
        let about = about(module, context, interface, code)?;
        let (ty, call) = callee(module, &types);
        let mut passed = [code, about, values];
        let status = LLVMBuildCall2(
            builder,
            ty,
            call,
            passed.as_mut_ptr(),
            3,
            c"status".as_ptr(),
        );
        LLVMBuildRet(builder, status);
        LLVMDisposeBuilder(builder);
    }
    Ok(())
}

/// The types that wrappers use.
struct Types {
    pointer: LLVMTypeRef,
    i8: LLVMTypeRef,
    i16: LLVMTypeRef,
    i32: LLVMTypeRef,
    i64: LLVMTypeRef,
    f32: LLVMTypeRef,
    f64: LLVMTypeRef,
}

impl Types {
    fn new(context: LLVMContextRef) -> Types {
        // SAFETY: the context is alive.
        unsafe {
            Types {
                pointer: LLVMPointerTypeInContext(context, 0),
                i8: LLVMInt8TypeInContext(context),
                i16: LLVMInt16TypeInContext(context),
                i32: LLVMInt32TypeInContext(context),
                i64: LLVMInt64TypeInContext(context),
                f32: LLVMFloatTypeInContext(context),
                f64: LLVMDoubleTypeInContext(context),
            }
        }
    }

    /// The type of a C function's argument.
    fn argument(&self, interface: &Interface, argument: &Argument) -> LLVMTypeRef {
        match argument.part {
            ParameterPart::Pointer => self.pointer,
            ParameterPart::Extent(_) | ParameterPart::Stride(_) => self.i64,
            ParameterPart::Value => match interface.parameters[argument.parameter].element {
                Element::I1 | Element::I8 => self.i8,
                Element::I16 | Element::F16 | Element::BF16 => self.i16,
                Element::I32 => self.i32,
                Element::I64 => self.i64,
                Element::F32 => self.f32,
                Element::F64 => self.f64,
            },
        }
    }

    /// The bits of an argument as a word.
    ///
    /// # Safety
    /// The builder stands in the function whose argument it is.
    unsafe fn word(&self, builder: LLVMBuilderRef, value: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: by this function's contract.
        unsafe {
            let ty = LLVMTypeOf(value);
            let unnamed = c"".as_ptr();
            if ty == self.pointer {
                return LLVMBuildPtrToInt(builder, value, self.i64, unnamed);
            }
            let bits = if ty == self.f32 {
                LLVMBuildBitCast(builder, value, self.i32, unnamed)
            } else if ty == self.f64 {
                LLVMBuildBitCast(builder, value, self.i64, unnamed)
            } else {
                value
            };
            LLVMBuildZExt(builder, bits, self.i64, unnamed)
        }
    }
}

/// The symbol of the global that describes a function.
pub fn about_symbol(name: &str) -> String {
    format!("mdh_about_{name}")
}

/// The global that tells `mdh_call` of a function; its layout is that of `mdhrt::call::About`.
///
/// # Safety
/// As for [`add`].
unsafe fn about(
    module: LLVMModuleRef,
    context: LLVMContextRef,
    interface: &Interface,
    code: LLVMValueRef,
) -> Result<LLVMValueRef> {
    let types = Types::new(context);
    let text = interface.to_string();
    let symbol = c_string(&about_symbol(&interface.name))?;
    // SAFETY: the text is copied; the rest by this function's contract.
    unsafe {
        let characters = LLVMConstStringInContext2(context, text.as_ptr().cast(), text.len(), 1);
        let string = LLVMAddGlobal(module, LLVMTypeOf(characters), c"interface".as_ptr());
        LLVMSetInitializer(string, characters);
        LLVMSetGlobalConstant(string, 1);
        LLVMSetLinkage(string, LLVMLinkage::LLVMInternalLinkage);
        let mut fields = [
            LLVMConstNull(types.pointer),
            string,
            LLVMConstInt(types.i64, text.len() as u64, 0),
            code,
        ];
        let value = LLVMConstStructInContext(context, fields.as_mut_ptr(), 4, 0);
        let about = LLVMAddGlobal(module, LLVMTypeOf(value), symbol.as_ptr());
        LLVMSetInitializer(about, value);
        Ok(about)
    }
}

/// The declaration of `mdh_call`, with its type.
///
/// # Safety
/// As for [`add`].
unsafe fn callee(module: LLVMModuleRef, types: &Types) -> (LLVMTypeRef, LLVMValueRef) {
    let mut parameters = [types.pointer; 3];
    // SAFETY: by this function's contract.
    unsafe {
        let ty = LLVMFunctionType(types.i32, parameters.as_mut_ptr(), 3, 0);
        let known = LLVMGetNamedFunction(module, c"mdh_call".as_ptr());
        let function = match known.is_null() {
            true => LLVMAddFunction(module, c"mdh_call".as_ptr(), ty),
            false => known,
        };
        (ty, function)
    }
}

/// Makes everything internal that is defined here and not named, and gives all functions unwind
/// tables.
///
/// # Safety
/// The module is alive and in `context`.
pub unsafe fn close(module: LLVMModuleRef, context: LLVMContextRef, exported: &[CString]) {
    const UNWIND: &str = "uwtable";
    /// Tables that are right at every instruction.
    const ASYNCHRONOUS: u64 = 2;
    // SAFETY: by this function's contract; the lists are not changed.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(UNWIND.as_ptr().cast(), UNWIND.len());
        let unwind = LLVMCreateEnumAttribute(context, kind, ASYNCHRONOUS);
        let exported_values: HashSet<LLVMValueRef> = exported
            .iter()
            .flat_map(|name| {
                [
                    LLVMGetNamedFunction(module, name.as_ptr()),
                    LLVMGetNamedGlobal(module, name.as_ptr()),
                ]
            })
            .collect();
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            if LLVMIsDeclaration(function) == 0 {
                let whole = llvm_sys::LLVMAttributeFunctionIndex;
                LLVMAddAttributeAtIndex(function, whole, unwind);
                if !exported_values.contains(&function) {
                    LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
                }
            }
            function = LLVMGetNextFunction(function);
        }
        let mut global = LLVMGetFirstGlobal(module);
        while !global.is_null() {
            let is_private = LLVMGetLinkage(global) == LLVMLinkage::LLVMPrivateLinkage;
            if LLVMIsDeclaration(global) == 0 && !is_private && !exported_values.contains(&global) {
                LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
            }
            global = LLVMGetNextGlobal(global);
        }
    }
}

/// Has optimised code call `libmdhrt` where it calls the C library.
///
/// # Safety
/// The module is alive.
pub unsafe fn replace_calls(module: LLVMModuleRef) {
    for (theirs, ours) in REPLACED {
        // SAFETY: by this function's contract.
        unsafe {
            let function = LLVMGetNamedFunction(module, theirs.as_ptr());
            if !function.is_null() && LLVMIsDeclaration(function) != 0 {
                LLVMSetValueName2(function, ours.as_ptr(), ours.count_bytes());
            }
        }
    }
}
