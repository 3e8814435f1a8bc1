// The shapes of an mdh.compute's results, for upstream's ReifyRankedShapedTypeOpInterface: those of
// operands, which Rust names (dialect/src/tiling.rs). Bounds of their sizes (ValueBoundsOpInterface)
// upstream takes from the destination style.
#include "Mdh.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

namespace {
struct ComputeShapes
    : ReifyRankedShapedTypeOpInterface::ExternalModel<ComputeShapes, mdh::ComputeOp> {
  LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) const {
    for (OpResult result : op->getResults()) {
      intptr_t operand = mdhRustShapeOperand(wrap(op), result.getResultNumber());
      if (operand < 0)
        return failure();
      shapes.push_back(tensor::getMixedSizes(builder, op->getLoc(), op->getOperand(operand)));
    }
    return success();
  }
};
} // namespace

void mdh::registerShapes(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mdh::MdhDialect *) {
    mdh::ComputeOp::attachInterface<ComputeShapes>(*context);
  });
}
