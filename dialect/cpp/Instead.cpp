// Upstream's transformations that are made for operations of linalg, or for memory, or that ask an mdh.compute nothing
// about what they refuse, refuse it here, with what does the same of it. Upstream refuses before any interface is asked,
// and offers no hook, so that this stands in the interface's table of functions, before upstream's own.
#include "Mdh.h"

#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#include <mutex>

using namespace mlir;

namespace {
using Concept = transform::TransformOpInterface::Concept;
using Apply = decltype(Concept::apply);

// The functions that stood in the tables before; tables are those of a context.
std::mutex mutex;
llvm::DenseMap<const Concept *, Apply> &before() {
  static llvm::DenseMap<const Concept *, Apply> all;
  return all;
}

// The payload of a transformation's second operand, if that is a handle of one operation.
Operation *container(Operation *op, transform::TransformState &state) {
  if (op->getNumOperands() < 2 ||
      !isa<transform::TransformHandleTypeInterface>(op->getOperand(1).getType()))
    return nullptr;
  auto payload = state.getPayloadOps(op->getOperand(1));
  return llvm::hasSingleElement(payload) ? *payload.begin() : nullptr;
}

DiagnosedSilenceableFailure apply(const Concept *table, Operation *op,
                                  transform::TransformRewriter &rewriter,
                                  transform::TransformResults &results,
                                  transform::TransformState &state) {
  Apply upstream;
  {
    std::lock_guard<std::mutex> guard(mutex);
    upstream = before().lookup(table);
  }
  auto say = [](void *message, MlirStringRef said) {
    *static_cast<std::string *>(message) = unwrap(said).str();
  };
  for (Operation *payload : state.getPayloadOps(op->getOperand(0))) {
    std::string message;
    if (!mdhRustInstead(wrap(op), wrap(payload), wrap(container(op, state)), &message, say))
      continue;
    Diagnostic failure(op->getLoc(), DiagnosticSeverity::Error);
    failure << message;
    failure.attachNote(payload->getLoc()) << "when applied to this op";
    results.setRemainingToEmpty(cast<transform::TransformOpInterface>(op));
    return DiagnosedSilenceableFailure::silenceableFailure(std::move(failure));
  }
  return upstream(table, op, rewriter, results, state);
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
      before()[table] = table->apply;
      table->apply = apply;
    }
  });
}
