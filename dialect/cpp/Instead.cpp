// Upstream's transformations that are made for operations of linalg, or for memory, refuse an mdh.compute here,
// with what does the same of it. Upstream refuses by type, before any interface is asked, and offers no hook, so that
// this stands in the interface's table of functions, before upstream's own.
#include "Mdh.h"

#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#include <mutex>

using namespace mlir;

namespace {
using Concept = transform::TransformOpInterface::Concept;
using Apply = decltype(Concept::apply);

// The function that stood in a table before; tables are those of a context.
struct Row {
  Apply own;
  intptr_t index;
};
std::mutex mutex;
llvm::DenseMap<const Concept *, Row> &rows() {
  static llvm::DenseMap<const Concept *, Row> all;
  return all;
}

DiagnosedSilenceableFailure apply(const Concept *table, Operation *op,
                                  transform::TransformRewriter &rewriter,
                                  transform::TransformResults &results,
                                  transform::TransformState &state) {
  Row row;
  {
    std::lock_guard<std::mutex> guard(mutex);
    row = rows().lookup(table);
  }
  for (Operation *payload : state.getPayloadOps(op->getOperand(0))) {
    MlirStringRef found, instead;
    if (!mdhRustInstead(row.index, wrap(payload), &found, &instead))
      continue;
    Diagnostic failure(op->getLoc(), DiagnosticSeverity::Error);
    failure << op->getName() << " found " << unwrap(found) << ": " << unwrap(instead);
    failure.attachNote(payload->getLoc()) << "when applied to this op";
    results.setRemainingToEmpty(cast<transform::TransformOpInterface>(op));
    return DiagnosedSilenceableFailure::silenceableFailure(std::move(failure));
  }
  return row.own(table, op, rewriter, results, state);
}
} // namespace

void mdh::registerInstead(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, transform::TransformDialect *,
                            mdh::MdhDialect *) {
    for (intptr_t index = 0; index < mdhRustNumInstead(); ++index) {
      StringRef name = unwrap(mdhRustInsteadName(index));
      auto op = RegisteredOperationName::lookup(name, context);
      Concept *table = op ? op->getInterface<transform::TransformOpInterface>() : nullptr;
      if (!table || table->apply == apply)
        continue;
      std::lock_guard<std::mutex> guard(mutex);
      rows()[table] = {table->apply, index};
      table->apply = apply;
    }
  });
}
