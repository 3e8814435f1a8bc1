// Transform operations: one thunk from the transform interface to Rust for all of them.
#ifndef MDH_TRANSFORM_H
#define MDH_TRANSFORM_H

#include "Mdh.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

namespace mdh {
mlir::DiagnosedSilenceableFailure applyInRust(mlir::Operation *op,
                                              mlir::transform::TransformResults &results,
                                              mlir::transform::TransformState &state);
void effectsInRust(mlir::Operation *op,
                   llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

template <typename ConcreteOp>
struct AppliedInRust : mlir::OpTrait::TraitBase<ConcreteOp, AppliedInRust> {
  mlir::DiagnosedSilenceableFailure apply(mlir::transform::TransformRewriter &,
                                          mlir::transform::TransformResults &results,
                                          mlir::transform::TransformState &state) {
    return applyInRust(this->getOperation(), results, state);
  }
  void getEffects(llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects) {
    effectsInRust(this->getOperation(), effects);
  }
};
} // namespace mdh

#define GET_OP_CLASSES
#include "MdhTransformOps.h.inc"

#endif
