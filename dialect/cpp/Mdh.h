// The dialect's C++ side: what ODS generates, and the functions that Rust implements.
#ifndef MDH_H
#define MDH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/DeviceMappingInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

// Implemented in Rust (dialect/src/hooks.rs).
extern "C" {
// Verifies one operation of the dialect; emits diagnostics and returns whether it holds.
bool mdhRustVerify(MlirOperation op);
// Verifies the functions that an operation's regions call, where the whole module is there.
bool mdhRustVerifyCalls(MlirOperation op);
// Verifies a discardable attribute of the dialect on an operation (0), one of its arguments (1) or
// of its results (2); emits a diagnostic and returns whether it holds.
bool mdhRustVerifyMark(MlirOperation op, int host, MlirStringRef name, MlirAttribute value);
// Returns whether a dimension may have that name.
bool mdhRustIsIdentifier(MlirStringRef name);
// Returns whether a name is one of the built-in combine operators.
bool mdhRustIsBuiltin(MlirStringRef name);
// Reads the text of a schedule and calls `each` once: with the canonical text, or with what is
// wrong and where. Returns whether it is a schedule.
bool mdhRustSchedule(MlirStringRef text, void *data,
                     void (*each)(void *data, MlirStringRef said, intptr_t offset));
// The same of a layout, and of the text that its attribute keeps.
bool mdhRustLayout(MlirStringRef text, void *data,
                   void (*each)(void *data, MlirStringRef said, intptr_t offset));
// The same of a mapping.
bool mdhRustMapping(MlirStringRef text, void *data,
                    void (*each)(void *data, MlirStringRef said, intptr_t offset));
// Verifies the type of a component of an MDA; calls `each` with what is wrong, and returns whether
// that is nothing.
bool mdhRustVerifyComponent(MlirType type, void *data,
                            void (*each)(void *data, MlirStringRef said));
// The number of canonicalisation patterns, and the root's name and body of each.
intptr_t mdhRustNumCanonicalizations(void);
MlirStringRef mdhRustCanonicalizationRoot(intptr_t index);
// Returns whether each point of a computation accesses the same element of these operands, so that
// they may be one buffer.
bool mdhRustIsElementwise(MlirOperation op, const intptr_t *operands, intptr_t count);
bool mdhRustCanonicalize(intptr_t index, MlirOperation op, MlirRewriterBase rewriter);
// Applies a transform operation (Transform.cpp has what it may do with the application); false if
// it cannot be applied, which has been said.
struct MdhApplication;
bool mdhRustTransform(MlirOperation op, MdhApplication *application);
// Effects of a transform operation on its operands and on the payload.
enum MdhTransformEffects { MDH_CONSUMES_HANDLE = 1, MDH_CHANGES_PAYLOAD = 2 };
int mdhRustTransformEffects(MlirOperation op);
// The number of upstream's transform operations that refuse what is of this dialect, and the name of each. Whether one
// refuses an operation, and one that it would be fused into or null; calls `each` with the message (Instead.cpp).
intptr_t mdhRustNumInstead(void);
MlirStringRef mdhRustInsteadName(intptr_t index);
bool mdhRustInstead(MlirOperation transform, MlirOperation payload, MlirOperation container,
                    void *data, void (*each)(void *data, MlirStringRef said));
// A number, or a value of type index.
struct MdhIndex {
  MlirValue value; // null: the number
  int64_t number;
};
// Place where operations are inserted; null: at the block's end.
struct MdhPlace {
  MlirBlock block;
  MlirOperation before;
};
// Upstream's TilingInterface (Tiling.cpp). What returns a truth value returns whether it could be
// done; else it has been said why not. Dimensions and axes are given to `each` in their order.
void mdhRustTilingIterators(MlirOperation op, void *data, void (*each)(void *data, bool isParallel));
bool mdhRustTilingDomain(MlirOperation op, MdhPlace place, void *data,
                         void (*each)(void *data, MdhIndex offset, MdhIndex size));
// Gives `each` the computation of a tile, and then the slices that it takes.
bool mdhRustTile(MlirOperation op, MdhPlace place, const MdhIndex *offsets, const MdhIndex *sizes,
                 intptr_t rank, void *data, void (*each)(void *data, MlirOperation created));
// Part of a result that a tile computes.
bool mdhRustResultTile(MlirOperation op, MdhPlace place, intptr_t result, const MdhIndex *offsets,
                       const MdhIndex *sizes, intptr_t rank, void *data,
                       void (*each)(void *data, MdhIndex offset, MdhIndex size));
// Tile that computes a part of a result.
bool mdhRustTileOfResult(MlirOperation op, MdhPlace place, intptr_t result, const MdhIndex *offsets,
                         const MdhIndex *sizes, intptr_t rank, void *data,
                         void (*each)(void *data, MdhIndex offset, MdhIndex size));
// Upstream's PartialReductionOpInterface (PartialReduction.cpp): a part of the domain, the dimensions
// of it that are cut though they combine, the numbers of the part in these, and the tensors of the
// partial results, one for each component. Parts either follow each other, with a partial result for
// each of them, or every part has an element for each partial result.
struct MdhSplit {
  const MdhIndex *offsets, *sizes;
  intptr_t rank;
  const intptr_t *dims;
  intptr_t count;
  const MdhIndex *numbers;
  bool hasResultForEachPart;
  const MlirValue *partials;
  intptr_t components;
};
// Gives `each` the operations whose result is the start of the partial results; the sizes are those
// of the domain, and of the partial results in the dimensions that are cut.
bool mdhRustPartialStart(MlirOperation op, MdhPlace place, const MdhSplit *split, void *data,
                         void (*each)(void *data, MlirOperation created));
// As mdhRustTile.
bool mdhRustPartialTile(MlirOperation op, MdhPlace place, const MdhSplit *split, void *data,
                        void (*each)(void *data, MlirOperation created));
// Part of the partial results of a component that a part of the domain computes.
bool mdhRustPartialPosition(MlirOperation op, MdhPlace place, intptr_t component,
                            const MdhSplit *split, void *data,
                            void (*each)(void *data, MdhIndex offset, MdhIndex size));
// Gives `each` the computation of the result.
bool mdhRustPartialMerge(MlirOperation op, MdhPlace place, const MdhSplit *split, void *data,
                         void (*each)(void *data, MlirOperation created));
// The number of the operand whose shape a result has; -1 if there is none.
intptr_t mdhRustShapeOperand(MlirOperation op, intptr_t result);
// The code of one point.
bool mdhRustTilePoint(MlirOperation op, MdhPlace place, const MdhIndex *point, intptr_t rank);
}

namespace mdh {
template <typename ConcreteOp>
struct VerifiedInRust : mlir::OpTrait::TraitBase<ConcreteOp, VerifiedInRust> {
  static llvm::LogicalResult verifyRegionTrait(mlir::Operation *op) {
    return llvm::success(mdhRustVerify(wrap(op)));
  }
};

void registerBufferization(mlir::DialectRegistry &registry);
void registerTransforms(mlir::DialectRegistry &registry);
void registerInstead(mlir::DialectRegistry &registry);
void registerTiling(mlir::DialectRegistry &registry);
void registerPartialReduction(mlir::DialectRegistry &registry);
void registerShapes(mlir::DialectRegistry &registry);
} // namespace mdh

#include "MdhDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "MdhTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "MdhAttrs.h.inc"
#define GET_OP_CLASSES
#include "MdhOps.h.inc"

#endif
