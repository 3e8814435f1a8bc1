// The shapes of an mdh.compute's results, for upstream's ReifyRankedShapedTypeOpInterface and
// ValueBoundsOpInterface: those of operands, which Rust names (dialect/src/tiling.rs).
#include "Mdh.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;

static Value shapeOperand(Operation *op, unsigned result) {
  intptr_t number = mdhRustShapeOperand(wrap(op), result);
  return number < 0 ? Value() : op->getOperand(number);
}

namespace {
struct ComputeShapes
    : ReifyRankedShapedTypeOpInterface::ExternalModel<ComputeShapes, mdh::ComputeOp> {
  LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) const {
    for (OpResult result : op->getResults()) {
      Value operand = shapeOperand(op, result.getResultNumber());
      if (!operand)
        return failure();
      shapes.push_back(tensor::getMixedSizes(builder, op->getLoc(), operand));
    }
    return success();
  }
};

struct ComputeBounds
    : ValueBoundsOpInterface::ExternalModel<ComputeBounds, mdh::ComputeOp> {
  void populateBoundsForShapedValueDim(Operation *op, Value value, int64_t dim,
                                       ValueBoundsConstraintSet &bounds) const {
    if (Value operand = shapeOperand(op, cast<OpResult>(value).getResultNumber()))
      bounds.bound(value)[dim] == bounds.getExpr(operand, dim);
  }
};
} // namespace

void mdh::registerShapes(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mdh::MdhDialect *) {
    mdh::ComputeOp::attachInterface<ComputeShapes, ComputeBounds>(*context);
  });
}
