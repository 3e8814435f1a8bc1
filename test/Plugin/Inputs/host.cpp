// A program of its own that loads libmdh.so and runs a pipeline on a file:
//
//   host LIBRARY FILE PIPELINE         with the dialects of the file and nothing else
//   host LIBRARY FILE PIPELINE all     with what docs/plugin.md says that a host registers
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

int main(int argc, char **argv) {
  if (argc < 4) {
    llvm::errs() << "expected LIBRARY FILE PIPELINE [all]\n";
    return 2;
  }
  llvm::Expected<DialectPlugin> dialects = DialectPlugin::load(argv[1]);
  llvm::Expected<PassPlugin> passes = PassPlugin::load(argv[1]);
  if (!dialects || !passes) {
    llvm::errs() << llvm::toString(dialects.takeError()) << llvm::toString(passes.takeError());
    return 2;
  }
  DialectRegistry registry;
  dialects->registerDialectRegistryCallbacks(registry);
  passes->registerPassRegistryCallbacks();
  if (argc > 4) {
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registerAllPasses();
  } else {
    registry.insert<arith::ArithDialect, func::FuncDialect, tensor::TensorDialect>();
  }
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[2], &context);
  PassManager manager(&context, ModuleOp::getOperationName());
  if (!module || failed(parsePassPipeline(argv[3], manager)) || failed(manager.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
