// Upstream's decompositions of what is linalg but no loops over elements: it offers them to scripts of
// the transform dialect and to C++ only.
#include "Mdh.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

// An operation on memrefs as the same one on tensors, whose results are put there. They are of all that
// is read before any of it is written.
static Operation *onTensors(RewriterBase &rewriter, Operation *op) {
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destinations)
    return op;
  SmallVector<Value> operands(op->getOperands()), memory;
  SmallVector<Type> results;
  for (OpOperand &operand : op->getOpOperands()) {
    Value buffer = operand.get();
    if (!isa<MemRefType>(buffer.getType()))
      continue;
    Type type = memref::getTensorTypeFromMemRefType(buffer.getType());
    operands[operand.getOperandNumber()] =
        bufferization::ToTensorOp::create(rewriter, op->getLoc(), type, buffer, /*restrict=*/true);
    if (!destinations.isDpsInit(&operand))
      continue;
    memory.push_back(buffer);
    results.push_back(type);
  }
  if (memory.empty())
    return op;
  OperationState state(op->getLoc(), op->getName(), operands, results, op->getAttrs());
  Operation *own = rewriter.create(state);
  for (auto [value, buffer] : llvm::zip(own->getResults(), memory))
    bufferization::MaterializeInDestinationOp::create(rewriter, op->getLoc(), TypeRange(), value,
                                                      buffer, /*restrict=*/true, /*writable=*/true);
  rewriter.eraseOp(op);
  rewriter.setInsertionPoint(own);
  return own;
}

// Upstream makes results of the input's type, into a destination of its own: both are of one here.
static void ofOneType(RewriterBase &rewriter, linalg::SoftmaxOp op) {
  Type type = op.getInput().getType(), own = op.getOutput().getType();
  if (type == own)
    return;
  Value output = tensor::CastOp::create(rewriter, op.getLoc(), type, op.getOutput());
  rewriter.modifyOpInPlace(op, [&] {
    op.getOutputMutable().assign(output);
    op->getResult(0).setType(type);
  });
  rewriter.setInsertionPointAfter(op);
  auto result = tensor::CastOp::create(rewriter, op.getLoc(), own, op->getResult(0));
  rewriter.replaceAllUsesExcept(op->getResult(0), result, result);
  rewriter.setInsertionPoint(op);
}

extern "C" {
// Replaces an operation by what upstream says that it is made of; returns whether it has.
bool mdhDecompose(MlirOperation raw) {
  Operation *op = unwrap(raw);
  if (!isa<linalg::PackOp, linalg::UnPackOp, linalg::WinogradFilterTransformOp,
           linalg::WinogradInputTransformOp, linalg::WinogradOutputTransformOp,
           linalg::AggregatedOpInterface>(op))
    return false;
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  op = onTensors(rewriter, op);
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return succeeded(linalg::lowerPack(rewriter, pack));
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
    return succeeded(linalg::lowerUnPack(rewriter, unpack));
  if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
    return succeeded(linalg::decomposeWinogradFilterTransformOp(rewriter, filter));
  if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
    return succeeded(linalg::decomposeWinogradInputTransformOp(rewriter, input));
  if (auto output = dyn_cast<linalg::WinogradOutputTransformOp>(op))
    return succeeded(linalg::decomposeWinogradOutputTransformOp(rewriter, output));
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    ofOneType(rewriter, softmax);
  FailureOr<SmallVector<Value>> values =
      cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
  if (failed(values))
    return false;
  rewriter.replaceOp(op, *values);
  return true;
}
}
