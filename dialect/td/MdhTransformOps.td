// The schedule's third spelling: transform operations, each of which changes one part of the
// attribute `schedule` of the computations of its handle, and nothing else. The attributes are
// the fields of `mdh_schedule`'s edits (`edit`).
#ifndef MDH_TRANSFORM_OPS
#define MDH_TRANSFORM_OPS

include "MdhBase.td"
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// `apply` and the effects on handles.
def Mdh_AppliedInRust : NativeOpTrait<"AppliedInRust"> {
  let cppNamespace = "::mdh";
}

class Mdh_TransformOp<string mnemonic>
    : Op<Transform_Dialect, "mdh." # mnemonic,
         [TransformOpInterface, MemoryEffectsOpInterface, Mdh_AppliedInRust,
          Mdh_VerifiedInRust]> {
  let cppNamespace = "::mdh::edits";
}

def Mdh_MatchOp : Mdh_TransformOp<"match"> {
  let summary = "the computation of that position, from 0, or of that first output";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$computation);
  let results = (outs TransformHandleTypeInterface:$result);
  let assemblyFormat = [{
    custom<Key>($computation) `in` $target attr-dict `:` functional-type(operands, results)
  }];
}

def Mdh_EditScheduleOp : Mdh_TransformOp<"schedule"> {
  let summary = "the whole schedule is this one";
  let arguments = (ins TransformHandleTypeInterface:$target, Mdh_ScheduleAttr:$schedule);
  let assemblyFormat = "$target `(` custom<Schedule>($schedule) `)` attr-dict `:` type($target)";
}

def Mdh_EditAsmOp : Mdh_TransformOp<"asm"> {
  let summary = "the machine that the schedule is made for";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$machine);
  let assemblyFormat = "$target custom<Name>($machine) attr-dict `:` type($target)";
}

def Mdh_EditPartsOp : Mdh_TransformOp<"parts"> {
  let summary = "part counts of a layer (0)";
  let description = [{
    Counts are numbers, `*` or parameters. Those of other dimensions stay. A layer that the
    schedule has not yet becomes the innermost one; `outside` puts it (or moves it) to where it
    is the next one outside of another layer.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<TransformParamTypeInterface>:$params, StrAttr:$layer,
                       DictionaryAttr:$counts, OptionalAttr<StrAttr>:$outside);
  let assemblyFormat = [{
    $target custom<Name>($layer) custom<Counts>($counts, $params)
    (`outside` custom<Name>($outside)^)? attr-dict `:` type($target) (`,` type($params)^)?
  }];
}

def Mdh_EditOrderOp : Mdh_TransformOp<"order"> {
  let summary = "the order of a phase (D1, S1, R1)";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$phase, AnyAttr:$levels);
  let assemblyFormat = [{
    $target custom<Name>($phase) custom<Value>($levels) attr-dict `:` type($target)
  }];
}

def Mdh_EditAssignOp : Mdh_TransformOp<"assign"> {
  let summary = "assignments of a phase (D2, S2, R2)";
  let description = "Assignments of other levels stay.";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$phase, AnyAttr:$levels);
  let assemblyFormat = [{
    $target custom<Name>($phase) custom<Value>($levels) attr-dict `:` type($target)
  }];
}

def Mdh_EditTileOrderOp : Mdh_TransformOp<"tile_order"> {
  let summary = "the order of the tiles of neighbouring levels: a layout of their part counts";
  let arguments = (ins TransformHandleTypeInterface:$target, AnyAttr:$levels, AnyAttr:$layout);
  let assemblyFormat = [{
    $target custom<Value>($levels) `layout` custom<Value>($layout) attr-dict `:` type($target)
  }];
}

def Mdh_EditStageOp : Mdh_TransformOp<"stage"> {
  let summary = "region and layout of an input's tiles from a level on (D3, D4)";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$input, StrAttr:$at,
                       OptionalAttr<StrAttr>:$region, OptionalAttr<AnyAttr>:$layout);
  let assemblyFormat = [{
    $target custom<Name>($input) `at` custom<Name>($at) (`in` custom<Name>($region)^)?
    (`layout` custom<Value>($layout)^)? attr-dict `:` type($target)
  }];
}

def Mdh_EditStagesOp : Mdh_TransformOp<"stages"> {
  let summary = "buffers for an input's tiles, which are copied asynchronously";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$input, I64Attr:$count);
  let assemblyFormat = [{
    $target custom<Name>($input) $count attr-dict `:` type($target)
  }];
}

def Mdh_EditCombineOp : Mdh_TransformOp<"combine"> {
  let summary = "region and layout of an output's partial results from a level on (R3, R4)";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$output, StrAttr:$at,
                       OptionalAttr<StrAttr>:$region, OptionalAttr<AnyAttr>:$layout);
  let assemblyFormat = [{
    $target custom<Name>($output) `at` custom<Name>($at) (`in` custom<Name>($region)^)?
    (`layout` custom<Value>($layout)^)? attr-dict `:` type($target)
  }];
}

def Mdh_EditScalarOp : Mdh_TransformOp<"scalar"> {
  let summary = "region and layout of a buffer for the scalar function (S3 to S6)";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$role, StrAttr:$buffer,
                       OptionalAttr<StrAttr>:$region, OptionalAttr<AnyAttr>:$layout);
  let assemblyFormat = [{
    $target custom<Name>($role) custom<Name>($buffer) (`in` custom<Name>($region)^)?
    (`layout` custom<Value>($layout)^)? attr-dict `:` type($target)
  }];
}

def Mdh_EditTailsOp : Mdh_TransformOp<"tails"> {
  let summary = "code for points that do not fill a tile";
  let description = "Other dimensions stay.";
  let arguments = (ins TransformHandleTypeInterface:$target, AnyAttr:$dimensions);
  let assemblyFormat = "$target custom<Value>($dimensions) attr-dict `:` type($target)";
}

def Mdh_EditComputeAtOp : Mdh_TransformOp<"compute_at"> {
  let summary = "fuses a computation into a loop of another one";
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$consumer, StrAttr:$level);
  let assemblyFormat = [{
    $target custom<Name>($consumer) `at` custom<Name>($level) attr-dict `:` type($target)
  }];
}

def Mdh_EditDeterministicOp : Mdh_TransformOp<"deterministic"> {
  let summary = "makes the combine tree depend on sizes and schedule only, or not";
  let arguments = (ins TransformHandleTypeInterface:$target, BoolAttr:$value);
  let assemblyFormat = "$target $value attr-dict `:` type($target)";
}

def Mdh_LowerOp : Mdh_TransformOp<"lower"> {
  let summary = "checks every constraint of the schedules, which are then complete";
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

#endif
