// The operations of the mdh dialect. What each attribute holds is the same in every operation:
//
//   dims            the names of the dimensions
//   static_bounds   lower, upper, step and width of each dimension, kDynamic where an operand
//   combine         #mdh.cc, #mdh.pw<...> or #mdh.ps<...> for each dimension
//   names, maps     for each buffer: its name, and the index functions of its accesses
//   static_origins  for each buffer: the global index of its first element, kDynamic where an
//                   operand
//   pads            for each input: the value read outside of it, or unit
//   components      for each access of an output: the tuple's component that is stored
//   schedule        how the computation is cut over a machine
//   in_place        proved: an element that it reads and writes is read before it is replaced
//   cooperative     all threads of a block do it
//   asynchronous    what it copies is waited for later
//   matrix          the dimensions of rows and columns of a warp-level MMA
//   lanes           a dimension whose points are threads of a warp, and the level of these
//
// Operations on layouts:
//
//   layout          a bijection between indices and offsets
//   symbols         the names of the symbols that the operands `sizes` are
#ifndef MDH_OPS
#define MDH_OPS

include "MdhBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Mdh_MapsAttr : TypedArrayAttrBase<TypedArrayAttrBase<AffineMapAttr, "index functions">,
                                      "index functions of each buffer">;
def Mdh_OriginsAttr : TypedArrayAttrBase<DenseI64ArrayAttr, "origin of each buffer">;

// Calls in a region, verified with the module's symbols: other functions may be in the hands of
// another thread while a function is verified by itself.
def Mdh_Calls : DeclareOpInterfaceMethods<SymbolUserOpInterface>;

def Mdh_CombineOp : Mdh_Op<"combine", [Symbol, IsolatedFromAbove, SingleBlock, Mdh_Calls]> {
  let summary = "a combine operator's function, on the whole tuple";
  let description = [{
    The region takes the left tuple, then the right one, and yields the combined tuple. The
    laws are declared, not proven; `neutral` gives one value for each component.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
                       UnitAttr:$commutative, UnitAttr:$associative,
                       OptionalAttr<ArrayAttr>:$neutral);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
}

def Mdh_InpViewOp : Mdh_Op<"inp_view", [Pure, AttrSizedOperandSegments]> {
  let summary = "an MDA as a view of input buffers";
  let arguments = (ins Variadic<AnyType>:$ins, Variadic<Index>:$bounds, Variadic<Index>:$origins,
                       StrArrayAttr:$dims, DenseI64ArrayAttr:$static_bounds,
                       StrArrayAttr:$names, Mdh_MapsAttr:$maps,
                       Mdh_OriginsAttr:$static_origins, ArrayAttr:$pads);
  let results = (outs Mdh_MdaType:$result);
  let hasCustomAssemblyFormat = 1;
}

def Mdh_HomOp : Mdh_Op<"hom", [Pure, SingleBlock, Mdh_Calls]> {
  let summary = "md_hom: a scalar function at every point, combined in every dimension";
  let arguments = (ins Mdh_MdaType:$source, ArrayAttr:$combine,
                       OptionalAttr<Mdh_ScheduleAttr>:$schedule);
  let results = (outs Mdh_MdaType:$result);
  let regions = (region AnyRegion:$scalar);
  let hasCustomAssemblyFormat = 1;
}

def Mdh_OutViewOp : Mdh_Op<"out_view", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "stores an MDA through a view of output buffers";
  let arguments = (ins Mdh_MdaType:$source, Variadic<AnyType>:$outs,
                       Variadic<AnyType>:$carry_outs, Variadic<AnyType>:$carries,
                       Variadic<I1>:$valids, Variadic<Index>:$origins,
                       StrArrayAttr:$dims, StrArrayAttr:$names, Mdh_MapsAttr:$maps,
                       Mdh_OriginsAttr:$static_origins, DenseI64ArrayAttr:$components,
                       DenseI64ArrayAttr:$carry_dims, DenseI64ArrayAttr:$carry_valids,
                       DenseI64ArrayAttr:$carry_has_outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCustomAssemblyFormat = 1;
}

def Mdh_ComputeOp : Mdh_Op<"compute", [AttrSizedOperandSegments, IsolatedFromAbove, Mdh_Calls,
    DeclareOpInterfaceMethods<DestinationStyleOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a whole out_view . md_hom . inp_view, in destination style";
  let arguments = (ins Variadic<AnyType>:$ins, Variadic<AnyType>:$outs,
                       Variadic<AnyType>:$carry_outs, Variadic<AnyType>:$carries,
                       Variadic<I1>:$valids, Variadic<Index>:$bounds, Variadic<Index>:$origins,
                       StrArrayAttr:$dims, DenseI64ArrayAttr:$static_bounds, ArrayAttr:$combine,
                       StrArrayAttr:$names, Mdh_MapsAttr:$maps,
                       Mdh_OriginsAttr:$static_origins, ArrayAttr:$pads,
                       DenseI64ArrayAttr:$components, DenseI64ArrayAttr:$carry_dims,
                       DenseI64ArrayAttr:$carry_valids, DenseI64ArrayAttr:$carry_has_outs,
                       UnitAttr:$commutative, UnitAttr:$associative,
                       OptionalAttr<ArrayAttr>:$neutral,
                       OptionalAttr<Mdh_ScheduleAttr>:$schedule,
                       UnitAttr:$in_place, UnitAttr:$cooperative, UnitAttr:$asynchronous,
                       OptionalAttr<StrArrayAttr>:$matrix, OptionalAttr<StrArrayAttr>:$lanes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  // No second region where the operator is built in: upstream's patterns cannot clone empty ones.
  let regions = (region AnyRegion:$scalar, VariadicRegion<AnyRegion>:$combiner);
  let hasCustomAssemblyFormat = 1;
}

def Mdh_IndexOp : Mdh_Op<"index", [Pure]> {
  let summary = "the point's global index in one dimension";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
}

def Mdh_YieldOp : Mdh_Op<"yield", [Pure, ReturnLike, Terminator,
    ParentOneOf<["CombineOp", "HomOp", "ComputeOp"]>]> {
  let summary = "ends a scalar function or a combine operator";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Mdh_LayoutApplyOp : Mdh_Op<"layout.apply", [Pure, AttrSizedOperandSegments]> {
  let summary = "the offset of an index";
  let arguments = (ins Mdh_LayoutAttr:$layout, Variadic<Index>:$index, Variadic<Index>:$sizes,
                       StrArrayAttr:$symbols);
  let results = (outs Index:$offset);
  let assemblyFormat = [{
    custom<LayoutText>($layout) `[` $index `]` `` custom<LayoutSizes>($sizes, $symbols) attr-dict
  }];
}

def Mdh_LayoutInvOp : Mdh_Op<"layout.inv", [Pure]> {
  let summary = "the index of an offset";
  let arguments = (ins Mdh_LayoutAttr:$layout, Index:$offset, Variadic<Index>:$sizes,
                       StrArrayAttr:$symbols);
  let results = (outs Variadic<Index>:$index);
  let assemblyFormat = [{
    custom<LayoutText>($layout) `[` $offset `]` `` custom<LayoutSizes>($sizes, $symbols) attr-dict
    `:` type($index)
  }];
}

def Mdh_LayoutViewOp : Mdh_Op<"layout.view", [Pure,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "memory under the indices of a layout, which is the memory space of its type";
  let arguments = (ins AnyMemRef:$memory);
  let results = (outs AnyMemRef:$view);
  let assemblyFormat = "$memory attr-dict `:` type($memory) `to` type($view)";
}

#endif
