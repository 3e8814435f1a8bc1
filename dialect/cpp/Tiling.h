// Types that the thunks of tiling share: indices and places, as Rust sees them.
#ifndef MDH_TILING_H
#define MDH_TILING_H

#include "Mdh.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mdh::tiling {
using namespace mlir;

using Indices = SmallVector<OpFoldResult>;

inline MdhIndex toRust(OpFoldResult index) {
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return {MlirValue{nullptr}, *number};
  return {wrap(cast<Value>(index)), 0};
}

inline OpFoldResult fromRust(Builder &builder, MdhIndex index) {
  if (index.value.ptr)
    return unwrap(index.value);
  return builder.getIndexAttr(index.number);
}

inline SmallVector<MdhIndex> toRust(ArrayRef<OpFoldResult> indices) {
  return llvm::map_to_vector(indices, [](OpFoldResult index) { return toRust(index); });
}

// Place where Rust inserts. It does so by the C API, of which a builder's listener hears nothing: that is
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

inline void addTiled(void *result, MlirOperation op) {
  TilingResult &tiled = *static_cast<TilingResult *>(result);
  if (!tiled.tiledOps.empty())
    return tiled.generatedSlices.push_back(unwrap(op));
  tiled.tiledOps.push_back(unwrap(op));
  llvm::append_range(tiled.tiledValues, unwrap(op)->getResults());
}
} // namespace mdh::tiling

#endif
