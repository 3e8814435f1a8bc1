// Upstream's PartialReductionOpInterface for mdh.compute: thunks to Rust (dialect/src/partial.rs).
#include "Tiling.h"

using namespace mlir;
using namespace mdh::tiling;

namespace {
// Arguments of a call of the interface, as Rust sees them.
struct Split {
  SmallVector<MdhIndex> offsets, sizes, numbers;
  SmallVector<intptr_t> dims;
  SmallVector<MlirValue> partials;
  bool hasResultForEachPart = false;

  Split(const llvm::SetVector<unsigned> &cut, ArrayRef<OpFoldResult> sizes)
      : sizes(toRust(sizes)), dims(cut.begin(), cut.end()) {}

  Split &at(ReductionTilingStrategy strategy, ArrayRef<OpFoldResult> from,
            ArrayRef<OpFoldResult> parts) {
    offsets = toRust(from);
    numbers = toRust(parts);
    hasResultForEachPart = strategy == ReductionTilingStrategy::PartialReductionOuterParallel;
    return *this;
  }
  Split &of(ValueRange values) {
    for (Value value : values)
      partials.push_back(wrap(value));
    return *this;
  }
  operator MdhSplit() const {
    return {offsets.data(), sizes.data(),
            static_cast<intptr_t>(sizes.size()), dims.data(),
            static_cast<intptr_t>(dims.size()), numbers.data(),
            hasResultForEachPart, partials.data(),
            static_cast<intptr_t>(partials.size())};
  }
};

// Upstream asks for a tile of a copy of the computation, whose destinations it has replaced by the
// partial results, which are of other shapes and maybe of another number. While this lives, values
// of the destinations' types stand there.
struct Destinations {
  mdh::ComputeOp op;
  SmallVector<Value> partials;
  unsigned start;
  Operation *standIn = nullptr;

  Destinations(mdh::ComputeOp op, ValueRange values)
      : op(op), partials(values.begin(), values.end()),
        start(op.getODSOperandIndexAndLength(1).first) {
    if (start + partials.size() > op->getNumOperands() ||
        op->getOperands().slice(start, partials.size()) != values)
      return;
    OperationState state(op.getLoc(), UnrealizedConversionCastOp::getOperationName());
    state.addTypes(op->getResultTypes());
    standIn = Operation::create(state);
    op->setOperands(start, partials.size(), standIn->getResults());
  }
  ~Destinations() {
    if (!standIn)
      return;
    op->setOperands(start, op->getNumResults(), partials);
    standIn->destroy();
  }
};

void addOp(void *ops, MlirOperation op) {
  static_cast<SmallVector<Operation *> *>(ops)->push_back(unwrap(op));
}

struct ComputePartialReduction
    : PartialReductionOpInterface::ExternalModel<ComputePartialReduction, mdh::ComputeOp> {
  FailureOr<SmallVector<Value>>
  generateInitialTensorForPartialReduction(Operation *op, OpBuilder &builder, Location,
                                           ArrayRef<OpFoldResult> sizes,
                                           const SetVector<unsigned> &cut) const {
    Split split(cut, sizes);
    MdhSplit raw = split;
    SmallVector<Operation *> ops;
    if (!mdhRustPartialStart(wrap(op), Place(builder), &raw, &ops, addOp))
      return failure();
    return llvm::map_to_vector(ops, [](Operation *op) { return Value(op->getResult(0)); });
  }

  FailureOr<TilingResult> tileToPartialReduction(Operation *op, OpBuilder &builder, Location,
                                                 ReductionTilingStrategy strategy,
                                                 ValueRange partials,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes,
                                                 const llvm::SetVector<unsigned> &cut,
                                                 ArrayRef<OpFoldResult> numbers) const {
    TilingResult tiled;
    Destinations destinations(cast<mdh::ComputeOp>(op), partials);
    Split split(cut, sizes);
    MdhSplit raw = split.at(strategy, offsets, numbers).of(partials);
    if (!mdhRustPartialTile(wrap(op), Place(builder), &raw, &tiled, addTiled))
      return failure();
    return tiled;
  }

  LogicalResult getPartialResultTilePosition(Operation *op, OpBuilder &builder, unsigned number,
                                             ReductionTilingStrategy strategy,
                                             ArrayRef<OpFoldResult> offsets,
                                             ArrayRef<OpFoldResult> sizes,
                                             const SetVector<unsigned> &cut,
                                             ArrayRef<OpFoldResult> numbers,
                                             Indices &foundOffsets, Indices &foundSizes) const {
    Split split(cut, sizes);
    MdhSplit raw = split.at(strategy, offsets, numbers);
    Box box{builder, foundOffsets, foundSizes};
    return success(
        mdhRustPartialPosition(wrap(op), Place(builder), number, &raw, &box, Box::add));
  }

  FailureOr<MergeResult> mergeReductions(Operation *op, OpBuilder &builder, Location,
                                         ValueRange partials,
                                         const SetVector<unsigned> &cut) const {
    Split split(cut, {});
    MdhSplit raw = split.of(partials);
    MergeResult merged;
    if (!mdhRustPartialMerge(wrap(op), Place(builder), &raw, &merged.mergeOps, addOp))
      return failure();
    llvm::append_range(merged.replacements, merged.mergeOps.front()->getResults());
    return merged;
  }
};
} // namespace

void mdh::registerPartialReduction(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mdh::MdhDialect *) {
    mdh::ComputeOp::attachInterface<ComputePartialReduction>(*context);
  });
}
