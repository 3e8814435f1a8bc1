// Upstream's TilingInterface for mdh.compute: thunks to Rust (dialect/src/tiling.rs).
#include "Tiling.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mdh::tiling;

namespace {
struct ComputeTiling : TilingInterface::ExternalModel<ComputeTiling, mdh::ComputeOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    SmallVector<utils::IteratorType> types;
    mdhRustTilingIterators(wrap(op), &types, [](void *types, bool isParallel) {
      static_cast<SmallVector<utils::IteratorType> *>(types)->push_back(
          isParallel ? utils::IteratorType::parallel : utils::IteratorType::reduction);
    });
    return types;
  }

  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &builder) const {
    Indices offsets, sizes;
    Box box{builder, offsets, sizes};
    mdhRustTilingDomain(wrap(op), Place(builder), &box, Box::add);
    SmallVector<Range> ranges;
    for (auto [offset, size] : llvm::zip(offsets, sizes))
      ranges.push_back({offset, size, builder.getIndexAttr(1)});
    return ranges;
  }

  FailureOr<TilingResult> getTiledImplementation(Operation *op, OpBuilder &builder,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes) const {
    TilingResult tiled;
    SmallVector<MdhIndex> from = toRust(offsets), size = toRust(sizes);
    if (!mdhRustTile(wrap(op), Place(builder), from.data(), size.data(), from.size(), &tiled,
                     addTiled))
      return failure();
    return tiled;
  }

  using Positions = bool (*)(MlirOperation, MdhPlace, intptr_t, const MdhIndex *, const MdhIndex *,
                             intptr_t, void *, void (*)(void *, MdhIndex, MdhIndex));
  static LogicalResult position(Positions positions, Operation *op, OpBuilder &builder,
                                unsigned number, ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes,
                                SmallVectorImpl<OpFoldResult> &foundOffsets,
                                SmallVectorImpl<OpFoldResult> &foundSizes) {
    SmallVector<MdhIndex> from = toRust(offsets), size = toRust(sizes);
    Box box{builder, foundOffsets, foundSizes};
    return success(positions(wrap(op), Place(builder), number, from.data(), size.data(),
                             from.size(), &box, Box::add));
  }

  LogicalResult getResultTilePosition(Operation *op, OpBuilder &builder, unsigned number,
                                      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                      Indices &resultOffsets, Indices &resultSizes) const {
    return position(mdhRustResultTile, op, builder, number, offsets, sizes, resultOffsets,
                    resultSizes);
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *op, OpBuilder &builder, unsigned number, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes, SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    return position(mdhRustTileOfResult, op, builder, number, offsets, sizes, domainOffsets,
                    domainSizes);
  }

  FailureOr<TilingResult> generateResultTileValue(Operation *op, OpBuilder &builder,
                                                  unsigned number, ArrayRef<OpFoldResult> offsets,
                                                  ArrayRef<OpFoldResult> sizes) const {
    Indices from, size;
    if (failed(getIterationDomainTileFromResultTile(op, builder, number, offsets, sizes, from,
                                                    size)))
      return failure();
    FailureOr<TilingResult> tiled = getTiledImplementation(op, builder, from, size);
    if (succeeded(tiled))
      tiled->tiledValues = {Value(tiled->tiledValues[number])};
    return tiled;
  }

  LogicalResult generateScalarImplementation(Operation *op, OpBuilder &builder, Location,
                                             ValueRange point) const {
    SmallVector<MdhIndex> indices;
    for (Value index : point)
      indices.push_back(toRust(OpFoldResult(index)));
    return success(mdhRustTilePoint(wrap(op), Place(builder), indices.data(), indices.size()));
  }
};
} // namespace

extern "C" {
// A slice of a tensor, of stride 1.
MlirOperation mdhSlice(MdhPlace place, MlirLocation location, MlirValue source,
                       const MdhIndex *offsets, const MdhIndex *sizes, intptr_t rank) {
  OpBuilder builder(unwrap(location)->getContext());
  Block *block = unwrap(place.block);
  if (Operation *before = unwrap(place.before))
    builder.setInsertionPoint(before);
  else
    builder.setInsertionPointToEnd(block);
  Indices from, size, strides(rank, builder.getIndexAttr(1));
  for (intptr_t axis = 0; axis < rank; ++axis) {
    from.push_back(fromRust(builder, offsets[axis]));
    size.push_back(fromRust(builder, sizes[axis]));
  }
  return wrap(tensor::ExtractSliceOp::create(builder, unwrap(location), unwrap(source), from, size,
                                             strides)
                  .getOperation());
}
}

void mdh::registerTiling(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mdh::MdhDialect *) {
    mdh::ComputeOp::attachInterface<ComputeTiling>(*context);
    // What tiles are made of.
    context->getOrLoadDialect<affine::AffineDialect>();
    context->getOrLoadDialect<arith::ArithDialect>();
    context->getOrLoadDialect<memref::MemRefDialect>();
    context->getOrLoadDialect<scf::SCFDialect>();
    context->getOrLoadDialect<tensor::TensorDialect>();
  });
}
