//! The names of operations that this project reads or makes, so that a typing error does not compile.
//!
//! A test asks MLIR whether each of them is registered.

/// Declares modules of names, one for each dialect, and the list of all.
macro_rules! names {
    ($($dialect:ident { $($constant:ident = $name:literal),* $(,)? })*) => {
        $(
            #[doc = concat!("Operations of the dialect `", stringify!($dialect), "`.")]
            pub mod $dialect {
                $(
                    #[doc = concat!("`", $name, "`")]
                    pub const $constant: &str = $name;
                )*
                /// All of them.
                pub const NAMES: &[&str] = &[$($name),*];
            }
        )*
        /// All names.
        pub const ALL: &[&str] = &[$($($name),*),*];
    };
}

names! {
    affine {
        APPLY = "affine.apply",
        FOR = "affine.for",
        IF = "affine.if",
        MAX = "affine.max",
        MIN = "affine.min",
        PARALLEL = "affine.parallel",
    }
    arith {
        ADDF = "arith.addf",
        ADDI = "arith.addi",
        ADDUI_EXTENDED = "arith.addui_extended",
        ANDI = "arith.andi",
        BITCAST = "arith.bitcast",
        CEILDIVSI = "arith.ceildivsi",
        CEILDIVUI = "arith.ceildivui",
        CMPF = "arith.cmpf",
        CMPI = "arith.cmpi",
        CONSTANT = "arith.constant",
        DIVF = "arith.divf",
        DIVSI = "arith.divsi",
        DIVUI = "arith.divui",
        EXTF = "arith.extf",
        EXTSI = "arith.extsi",
        EXTUI = "arith.extui",
        FLOORDIVSI = "arith.floordivsi",
        FPTOSI = "arith.fptosi",
        INDEX_CAST = "arith.index_cast",
        INDEX_CASTUI = "arith.index_castui",
        MAXIMUMF = "arith.maximumf",
        MAXNUMF = "arith.maxnumf",
        MAXSI = "arith.maxsi",
        MAXUI = "arith.maxui",
        MINIMUMF = "arith.minimumf",
        MINNUMF = "arith.minnumf",
        MINSI = "arith.minsi",
        MINUI = "arith.minui",
        MULF = "arith.mulf",
        MULI = "arith.muli",
        MULSI_EXTENDED = "arith.mulsi_extended",
        MULUI_EXTENDED = "arith.mului_extended",
        NEGF = "arith.negf",
        ORI = "arith.ori",
        REMF = "arith.remf",
        REMSI = "arith.remsi",
        REMUI = "arith.remui",
        SELECT = "arith.select",
        SHLI = "arith.shli",
        SHRSI = "arith.shrsi",
        SHRUI = "arith.shrui",
        SITOFP = "arith.sitofp",
        SUBF = "arith.subf",
        SUBI = "arith.subi",
        TRUNCF = "arith.truncf",
        TRUNCI = "arith.trunci",
        UITOFP = "arith.uitofp",
        XORI = "arith.xori",
    }
    bufferization {
        ALLOC_TENSOR = "bufferization.alloc_tensor",
        DEALLOC = "bufferization.dealloc",
        MATERIALIZE_IN_DESTINATION = "bufferization.materialize_in_destination",
        TO_BUFFER = "bufferization.to_buffer",
        TO_TENSOR = "bufferization.to_tensor",
    }
    builtin {
        MODULE = "builtin.module",
        UNREALIZED_CONVERSION_CAST = "builtin.unrealized_conversion_cast",
    }
    cf {
        ASSERT = "cf.assert",
        BR = "cf.br",
        COND_BR = "cf.cond_br",
        SWITCH = "cf.switch",
    }
    func {
        CALL = "func.call",
        CONSTANT = "func.constant",
        FUNC = "func.func",
        RETURN = "func.return",
    }
    gpu {
        ALLOC = "gpu.alloc",
        BARRIER = "gpu.barrier",
        BINARY = "gpu.binary",
        BLOCK_DIM = "gpu.block_dim",
        BLOCK_ID = "gpu.block_id",
        DEALLOC = "gpu.dealloc",
        DYNAMIC_SHARED_MEMORY = "gpu.dynamic_shared_memory",
        FUNC = "gpu.func",
        GRID_DIM = "gpu.grid_dim",
        LANE_ID = "gpu.lane_id",
        LAUNCH = "gpu.launch",
        LAUNCH_FUNC = "gpu.launch_func",
        MEMCPY = "gpu.memcpy",
        MODULE = "gpu.module",
        SHUFFLE = "gpu.shuffle",
        SUBGROUP_ID = "gpu.subgroup_id",
        SUBGROUP_SIZE = "gpu.subgroup_size",
        TERMINATOR = "gpu.terminator",
        THREAD_ID = "gpu.thread_id",
    }
    linalg {
        BROADCAST = "linalg.broadcast",
        FILL = "linalg.fill",
        GENERIC = "linalg.generic",
        INDEX = "linalg.index",
        MAP = "linalg.map",
        PACK = "linalg.pack",
        REDUCE = "linalg.reduce",
        SOFTMAX = "linalg.softmax",
        TRANSPOSE = "linalg.transpose",
        UNPACK = "linalg.unpack",
        WINOGRAD_FILTER_TRANSFORM = "linalg.winograd_filter_transform",
        WINOGRAD_INPUT_TRANSFORM = "linalg.winograd_input_transform",
        WINOGRAD_OUTPUT_TRANSFORM = "linalg.winograd_output_transform",
        YIELD = "linalg.yield",
    }
    llvm {
        ADD = "llvm.add",
        ADDRSPACECAST = "llvm.addrspacecast",
        ALLOCA = "llvm.alloca",
        ATOMICRMW = "llvm.atomicrmw",
        BITCAST = "llvm.bitcast",
        BR = "llvm.br",
        CALL = "llvm.call",
        CALL_INTRINSIC = "llvm.call_intrinsic",
        CMPXCHG = "llvm.cmpxchg",
        COND_BR = "llvm.cond_br",
        EXTRACTVALUE = "llvm.extractvalue",
        FENCE = "llvm.fence",
        FUNC = "llvm.func",
        GETELEMENTPTR = "llvm.getelementptr",
        INLINE_ASM = "llvm.inline_asm",
        INSERTVALUE = "llvm.insertvalue",
        INTTOPTR = "llvm.inttoptr",
        LOAD = "llvm.load",
        MLIR_ADDRESSOF = "llvm.mlir.addressof",
        MLIR_CONSTANT = "llvm.mlir.constant",
        MLIR_GLOBAL = "llvm.mlir.global",
        MLIR_UNDEF = "llvm.mlir.undef",
        MUL = "llvm.mul",
        PTRTOINT = "llvm.ptrtoint",
        STORE = "llvm.store",
        SUB = "llvm.sub",
        TRUNC = "llvm.trunc",
    }
    math {
        ABSF = "math.absf",
        ABSI = "math.absi",
        ACOS = "math.acos",
        ACOSH = "math.acosh",
        ASIN = "math.asin",
        ASINH = "math.asinh",
        ATAN = "math.atan",
        ATAN2 = "math.atan2",
        ATANH = "math.atanh",
        CBRT = "math.cbrt",
        CEIL = "math.ceil",
        CLAMPF = "math.clampf",
        COPYSIGN = "math.copysign",
        COS = "math.cos",
        COSH = "math.cosh",
        CTLZ = "math.ctlz",
        CTPOP = "math.ctpop",
        CTTZ = "math.cttz",
        ERF = "math.erf",
        ERFC = "math.erfc",
        EXP = "math.exp",
        EXP2 = "math.exp2",
        EXPM1 = "math.expm1",
        FLOOR = "math.floor",
        FMA = "math.fma",
        FPOWI = "math.fpowi",
        IPOWI = "math.ipowi",
        ISFINITE = "math.isfinite",
        ISINF = "math.isinf",
        ISNAN = "math.isnan",
        ISNORMAL = "math.isnormal",
        LOG = "math.log",
        LOG10 = "math.log10",
        LOG1P = "math.log1p",
        LOG2 = "math.log2",
        POWF = "math.powf",
        ROUND = "math.round",
        ROUNDEVEN = "math.roundeven",
        RSQRT = "math.rsqrt",
        SIN = "math.sin",
        SINCOS = "math.sincos",
        SINH = "math.sinh",
        SQRT = "math.sqrt",
        TAN = "math.tan",
        TANH = "math.tanh",
        TRUNC = "math.trunc",
    }
    mdh {
        COMBINE = "mdh.combine",
        COMPUTE = "mdh.compute",
        HOM = "mdh.hom",
        INDEX = "mdh.index",
        INP_VIEW = "mdh.inp_view",
        LAYOUT_APPLY = "mdh.layout.apply",
        LAYOUT_INV = "mdh.layout.inv",
        LAYOUT_VIEW = "mdh.layout.view",
        OUT_VIEW = "mdh.out_view",
        YIELD = "mdh.yield",
    }
    memref {
        ALLOC = "memref.alloc",
        ALLOCA = "memref.alloca",
        ASSUME_ALIGNMENT = "memref.assume_alignment",
        CAST = "memref.cast",
        COLLAPSE_SHAPE = "memref.collapse_shape",
        COPY = "memref.copy",
        DEALLOC = "memref.dealloc",
        DIM = "memref.dim",
        EXPAND_SHAPE = "memref.expand_shape",
        EXTRACT_ALIGNED_POINTER_AS_INDEX = "memref.extract_aligned_pointer_as_index",
        EXTRACT_STRIDED_METADATA = "memref.extract_strided_metadata",
        GET_GLOBAL = "memref.get_global",
        GLOBAL = "memref.global",
        LOAD = "memref.load",
        MEMORY_SPACE_CAST = "memref.memory_space_cast",
        PREFETCH = "memref.prefetch",
        RANK = "memref.rank",
        REINTERPRET_CAST = "memref.reinterpret_cast",
        RESHAPE = "memref.reshape",
        STORE = "memref.store",
        SUBVIEW = "memref.subview",
        TRANSPOSE = "memref.transpose",
        VIEW = "memref.view",
    }
    nvgpu {
        DEVICE_ASYNC_COPY = "nvgpu.device_async_copy",
        DEVICE_ASYNC_CREATE_GROUP = "nvgpu.device_async_create_group",
        DEVICE_ASYNC_WAIT = "nvgpu.device_async_wait",
    }
    nvvm {
        BAR_WARP_SYNC = "nvvm.bar.warp.sync",
        CP_ASYNC_COMMIT_GROUP = "nvvm.cp.async.commit.group",
        CP_ASYNC_WAIT_GROUP = "nvvm.cp.async.wait.group",
        MMA_SYNC = "nvvm.mma.sync",
    }
    scf {
        CONDITION = "scf.condition",
        EXECUTE_REGION = "scf.execute_region",
        FOR = "scf.for",
        FORALL = "scf.forall",
        FORALL_IN_PARALLEL = "scf.forall.in_parallel",
        IF = "scf.if",
        INDEX_SWITCH = "scf.index_switch",
        PARALLEL = "scf.parallel",
        REDUCE = "scf.reduce",
        REDUCE_RETURN = "scf.reduce.return",
        WHILE = "scf.while",
        YIELD = "scf.yield",
    }
    tensor {
        CAST = "tensor.cast",
        COLLAPSE_SHAPE = "tensor.collapse_shape",
        CONCAT = "tensor.concat",
        DIM = "tensor.dim",
        EMPTY = "tensor.empty",
        EXPAND_SHAPE = "tensor.expand_shape",
        EXTRACT = "tensor.extract",
        EXTRACT_SLICE = "tensor.extract_slice",
        FROM_ELEMENTS = "tensor.from_elements",
        GENERATE = "tensor.generate",
        INSERT = "tensor.insert",
        INSERT_SLICE = "tensor.insert_slice",
        PAD = "tensor.pad",
        PARALLEL_INSERT_SLICE = "tensor.parallel_insert_slice",
        RESHAPE = "tensor.reshape",
        SPLAT = "tensor.splat",
        YIELD = "tensor.yield",
    }
    transform {
        MDH_LOWER = "transform.mdh.lower",
        MDH_MATCH = "transform.mdh.match",
        NAMED_SEQUENCE = "transform.named_sequence",
        PARAM_CONSTANT = "transform.param.constant",
        SPLIT_HANDLE = "transform.split_handle",
        STRUCTURED_MATCH = "transform.structured.match",
        TUNE_KNOB = "transform.tune.knob",
        YIELD = "transform.yield",
    }
    ub {
        POISON = "ub.poison",
    }
    vector {
        BITCAST = "vector.bitcast",
        BROADCAST = "vector.broadcast",
        CREATE_MASK = "vector.create_mask",
        EXTRACT = "vector.extract",
        EXTRACT_STRIDED_SLICE = "vector.extract_strided_slice",
        FROM_ELEMENTS = "vector.from_elements",
        GATHER = "vector.gather",
        INSERT_STRIDED_SLICE = "vector.insert_strided_slice",
        LOAD = "vector.load",
        MASKEDLOAD = "vector.maskedload",
        MASKEDSTORE = "vector.maskedstore",
        REDUCTION = "vector.reduction",
        SCATTER = "vector.scatter",
        SHAPE_CAST = "vector.shape_cast",
        SHUFFLE = "vector.shuffle",
        STEP = "vector.step",
        STORE = "vector.store",
        TRANSFER_READ = "vector.transfer_read",
        TRANSFER_WRITE = "vector.transfer_write",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_that_of_an_operation() {
        let context = crate::context::program_context();
        context.load_all_available_dialects();
        let missing: Vec<&&str> = ALL
            .iter()
            .filter(|name| !context.is_registered_operation(name))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
