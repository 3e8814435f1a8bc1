// Upstream's TilingInterface for mdh.compute: thunks to Rust (dialect/src/tiling.rs).
#include "Mdh.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;

using Indices = SmallVector<OpFoldResult>;

static MdhIndex toRust(OpFoldResult index) {
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return {MlirValue{nullptr}, *number};
  return {wrap(cast<Value>(index)), 0};
}

static OpFoldResult fromRust(Builder &builder, MdhIndex index) {
  if (index.value.ptr)
    return unwrap(index.value);
  return builder.getIndexAttr(index.number);
}

static SmallVector<MdhIndex> toRust(ArrayRef<OpFoldResult> indices) {
  return llvm::map_to_vector(indices, [](OpFoldResult index) { return toRust(index); });
}

namespace {
// Where Rust inserts. It does so by the C API, of which a builder's listener hears nothing: that is
// told at the end.
struct Place {
  OpBuilder &builder;
  Operation *last;

  explicit Place(OpBuilder &builder) : builder(builder) {
    Block *block = builder.getInsertionBlock();
    Block::iterator point = builder.getInsertionPoint();
    last = point == block->begin() ? nullptr : &*std::prev(point);
  }
  operator MdhPlace() const {
    Block *block = builder.getInsertionBlock();
    Block::iterator point = builder.getInsertionPoint();
    return {wrap(block), wrap(point == block->end() ? nullptr : &*point)};
  }
  ~Place() {
    OpBuilder::Listener *listener = builder.getListener();
    if (!listener)
      return;
    Block *block = builder.getInsertionBlock();
    Block::iterator at = last ? std::next(Block::iterator(last)) : block->begin();
    for (; at != builder.getInsertionPoint(); ++at)
      at->walk<WalkOrder::PreOrder>(
          [&](Operation *op) { listener->notifyOperationInserted(op, {}); });
  }
};

// A part of a domain or tensor, which Rust says axis by axis.
struct Box {
  Builder &builder;
  SmallVectorImpl<OpFoldResult> &offsets, &sizes;

  static void add(void *box, MdhIndex offset, MdhIndex size) {
    Box &self = *static_cast<Box *>(box);
    self.offsets.push_back(fromRust(self.builder, offset));
    self.sizes.push_back(fromRust(self.builder, size));
  }
};

void addTiled(void *result, MlirOperation op) {
  TilingResult &tiled = *static_cast<TilingResult *>(result);
  if (!tiled.tiledOps.empty())
    return tiled.generatedSlices.push_back(unwrap(op));
  tiled.tiledOps.push_back(unwrap(op));
  llvm::append_range(tiled.tiledValues, unwrap(op)->getResults());
}

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
