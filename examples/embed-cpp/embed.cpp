// A compiler of one's own with mdh inside: reads a program, has mdh compile it and calls it with its arrays; and lowers it
// by mdh's pipelines for MLIR's execution engine.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "llvm/Support/TargetSelect.h"
#include "mdh-c/Module.h"
#include "mlir/CAPI/IR.h"
#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

enum { N = 256 };

/// C[i, j] = sum over k of A[i, k] * B[k, j], in memory of the caller.
static const char PROGRAM[] = R"(
  func.func @matmul(%A: memref<256x256xf32>, %B: memref<256x256xf32>, %C: memref<256x256xf32>)
      attributes {llvm.emit_c_interface} {
    mdh.compute (i = 256, j = 256, k = 256)
      out_view(C = %C[i, j] : memref<256x256xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<256x256xf32>, B = %B[k, j] : memref<256x256xf32>)
    return
  })";

/// Ends the program with an error.
[[noreturn]] static void fail(llvm::Error error) {
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  std::exit(1);
}

/// Registers what the pipelines of mdh use of MLIR, and mdh.
static void registerAll(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerAllPasses();
  mdhInsertDialect(wrap(&registry));
  mdhRegisterPasses();
}

/// Runs a pipeline, by the name of it or of several with commas.
static LogicalResult lower(ModuleOp module, StringRef pipeline) {
  PassManager manager(module->getContext(), ModuleOp::getOperationName());
  return success(succeeded(parsePassPipeline(pipeline, manager)) && succeeded(manager.run(module)));
}

/// The matrices A[i, k] = i % 8, B[k, j] = j % 8, and C.
struct Matrices {
  std::vector<float> a, b, c;

  Matrices() : a(N * N), b(N * N), c(N * N, -1) {
    for (int i = 0; i < N * N; i++) {
      a[i] = float(i / N % 8);
      b[i] = float(i % N % 8);
    }
  }

  /// Prints the number of wrong elements of C, and returns it.
  int check(StringRef who) const {
    int wrong = 0;
    for (int i = 0; i < N * N; i++)
      wrong += c[i] != float(N * (i / N % 8) * (i % N % 8));
    llvm::outs() << who << ": " << wrong << " of " << N * N << " elements are wrong\n";
    return wrong;
  }
};

/// Prints what a function of mdh says has gone wrong.
static int tell(StringRef what) {
  llvm::outs() << what << ": " << mdhMessage() << "\n";
  return 1;
}

/// Compiles a module by mdh, calls its function, and then with a matrix that does not fit.
static int runByMdh(ModuleOp module) {
  MdhFunction *matmul;
  if (mdhCompileModule(wrap(module), /*options=*/nullptr, &matmul) != MDH_DONE)
    return tell("found an error");
  Matrices matrices;
  int64_t square[] = {N, N}, tall[] = {2 * N, N / 2};
  MdhTensor tensors[] = {mdhTensor(matrices.a.data(), MDH_F32, 2, square),
                         mdhTensor(matrices.b.data(), MDH_F32, 2, square),
                         mdhTensor(matrices.c.data(), MDH_F32, 2, square)};
  if (mdhCall(matmul, tensors, 3) != MDH_DONE)
    return tell("found an error");
  int wrong = matrices.check("mdh");
  tensors[1].shape = tall;
  if (mdhCall(matmul, tensors, 3) == MDH_DONE)
    return 1;
  tell("as expected");
  mdhFunctionDestroy(matmul);
  return wrong;
}

/// A matrix as code of the execution engine takes it.
static StridedMemRefType<float, 2> matrix(std::vector<float> &elements) {
  return {elements.data(), elements.data(), 0, {N, N}, {N, 1}};
}

/// Calls the compiled function, and counts the wrong elements of the result.
static int call(ExecutionEngine &engine) {
  Matrices matrices;
  StridedMemRefType<float, 2> A = matrix(matrices.a), B = matrix(matrices.b), C = matrix(matrices.c);
  // The pipeline has put `mdh.` before the names of functions, so that none is one of the C library's.
  if (llvm::Error error = engine.invoke("mdh.matmul", &A, &B, &C))
    fail(std::move(error));
  return matrices.check("the execution engine");
}

int main() {
  llvm::outs() << "mdh " << mdhVersion() << "\n";
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(PROGRAM, &context);
  if (!module || runByMdh(*module) != 0)
    return 1;
  if (failed(lower(*module, "mdh-lower{target=cpu stage=scheduled}")))
    return 1;
  module->print(llvm::outs());
  module = parseSourceString<ModuleOp>(PROGRAM, &context);
  if (!module || failed(lower(*module, "mdh-lower{target=cpu}")))
    return 1;

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  ExecutionEngineOptions options;
  auto optimize = makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0, /*targetMachine=*/nullptr);
  options.transformer = optimize;
  llvm::Expected<std::unique_ptr<ExecutionEngine>> engine = ExecutionEngine::create(*module, options);
  if (!engine)
    fail(engine.takeError());
  return call(**engine) != 0;
}
