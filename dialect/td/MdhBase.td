// The mdh dialect, its type and its attributes.
#ifndef MDH_BASE
#define MDH_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Dialect/SCF/IR/DeviceMappingInterface.td"

def Mdh_Dialect : Dialect {
  let name = "mdh";
  let cppNamespace = "::mdh";
  let summary = "multi-dimensional homomorphisms";
  let description = [{
    Data-parallel computations as `out_view . md_hom . inp_view` (Rasch, "(De/Re)-Composition of
    Data-Parallel Computations via Multi-Dimensional Homomorphisms", section 2). The language
    reference is docs/langref.md.
  }];
  let useDefaultAttributePrinterParser = 0; // schedules, layouts, mappings take their text as it stands
  let useDefaultTypePrinterParser = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

// The semantics of every operation is in Rust; these traits hand it over. `VerifiedInRust` runs
// once the operations nested in the regions have been verified.
def Mdh_VerifiedInRust : NativeOpTrait<"VerifiedInRust"> {
  let cppNamespace = "::mdh";
}

class Mdh_Op<string mnemonic, list<Trait> traits = []>
    : Op<Mdh_Dialect, mnemonic, !listconcat(traits, [Mdh_VerifiedInRust])>;

def Mdh_MdaType : TypeDef<Mdh_Dialect, "Mda"> {
  let mnemonic = "mda";
  let summary = "multi-dimensional array: a lazy function from indices to tuples";
  let description = [{
    `!mdh.mda<8x?, f32, i64>`: the number of points in each dimension, then the types of the
    tuple's components. A value of this type is an alias of buffers and never materialised.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        ArrayRefParameter<"::mlir::Type">:$components);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class Mdh_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Mdh_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Mdh_CcAttr : Mdh_Attr<"Cc", "cc"> {
  let summary = "combine operator: concatenation";
}

// `operators` is an array of strings (built-in operators, one for each component), a symbol (an
// mdh.combine) or a string (the label of the operator region of an mdh.compute).
def Mdh_PwAttr : Mdh_Attr<"Pw", "pw"> {
  let summary = "combine operator: point-wise combination";
  let parameters = (ins "::mlir::Attribute":$operators);
  let hasCustomAssemblyFormat = 1;
}

def Mdh_PsAttr : Mdh_Attr<"Ps", "ps"> {
  let summary = "combine operator: prefix-sum";
  let parameters = (ins "::mlir::Attribute":$operators);
  let hasCustomAssemblyFormat = 1;
}

// The notation is Rust's; what is held here is the canonical text between `<` and `>`.
def Mdh_ScheduleAttr : Mdh_Attr<"Schedule", "schedule"> {
  let summary = "tiling, orders and staging of a computation on a machine";
  let parameters = (ins "::mlir::StringAttr":$text);
  let hasCustomAssemblyFormat = 1;
}

// The notation is the algebra's; what is held here is the text between `<` and `>`.
def Mdh_LayoutAttr : Mdh_Attr<"Layout", "layout"> {
  let summary = "a bijection between the indices of a view and the offsets from 0 on";
  let parameters = (ins "::mlir::StringAttr":$text);
  let hasCustomAssemblyFormat = 1;
}

// As above: a space, and what it becomes step by step.
def Mdh_MappingAttr : Mdh_Attr<"Mapping", "mapping"> {
  let summary = "a space of indices as another one: a bijection, but for indices that are discarded";
  let parameters = (ins "::mlir::StringAttr":$text);
  let hasCustomAssemblyFormat = 1;
}

def Mdh_MemoryAttr : Mdh_Attr<"Memory", "memory"> {
  let summary = "memory space: a region of the machine, and whose part of it the memory is";
  let description = [{
    `#mdh.memory<"L2">`: memory that is meant to stay in the region `L2`. `#mdh.memory<"shared",
    block>`: each block of threads has it alone; `thread`: each thread.
  }];
  let parameters = (ins "::mlir::StringAttr":$region, OptionalParameter<"::mlir::StringAttr">:$owner);
  let hasCustomAssemblyFormat = 1;
}

def Mdh_CoreAttr
    : Mdh_Attr<"Core", "core", [DeclareAttrInterfaceMethods<DeviceMappingAttrInterface>]> {
  let summary = "the parts of an scf.forall are given to the cores of a machine";
  let description = [{
    `#mdh.core<"core", 0>`: the layer of the machine whose cores have the parts, and the axis of that
    layer along which they lie. Blocks, warps and threads of a GPU have upstream's `#gpu.block<x>`,
    `#gpu.warp<x>` and `#gpu.thread<x>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$layer, "int64_t":$axis);
  let assemblyFormat = "`<` $layer `,` $axis `>`";
  let genVerifyDecl = 1;
}

#endif
