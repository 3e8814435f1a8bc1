// Passes whose bodies are Rust, registration, access to what the C API does not reach, and the
// command line tools that libMLIR contains.
#include "Mdh.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

extern "C" {
struct MdhPassOption {
  MlirStringRef name, description, fallback;
};

// One pass; lives as long as the process. `state` is created for each instance of the pass.
struct MdhPassTable {
  const MdhPassOption *options;
  intptr_t numOptions;
  MlirStringRef argument, description, operation;
  void (*dependentDialects)(MlirDialectRegistry);
  bool (*run)(const MdhPassTable *, MlirOperation, const MlirStringRef *optionValues);
};

// One pipeline; lives as long as the process. `passes` puts the text of its passes, or what is in
// the way of that.
struct MdhPipelineTable {
  const MdhPassOption *options;
  intptr_t numOptions;
  MlirStringRef name, description;
  bool (*passes)(const MdhPipelineTable *, const MlirStringRef *optionValues, void *data,
                 void (*put)(void *, MlirStringRef));
};
}

namespace {
struct RustPass : Pass {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RustPass)

  const MdhPassTable *table;
  std::vector<std::unique_ptr<Option<std::string>>> options;

  explicit RustPass(const MdhPassTable *table)
      : Pass(TypeID::getFromOpaquePointer(table),
             table->operation.length ? std::optional<StringRef>(unwrap(table->operation))
                                     : std::nullopt),
        table(table) {
    for (intptr_t i = 0; i < table->numOptions; ++i) {
      const MdhPassOption &option = table->options[i];
      options.push_back(std::make_unique<Option<std::string>>(
          *this, unwrap(option.name), llvm::cl::desc(unwrap(option.description)),
          llvm::cl::init(unwrap(option.fallback).str())));
    }
  }
  StringRef getName() const override { return unwrap(table->argument); }
  StringRef getArgument() const override { return unwrap(table->argument); }
  StringRef getDescription() const override { return unwrap(table->description); }
  void getDependentDialects(DialectRegistry &registry) const override {
    table->dependentDialects(wrap(&registry));
    // Those that have no handle in the C API, and our own: not every input has an operation of it.
    registry.insert<affine::AffineDialect, bufferization::BufferizationDialect, mdh::MdhDialect>();
  }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<RustPass>(table); }
  bool canScheduleOn(RegisteredOperationName name) const override {
    return !getOpName() || name.getStringRef() == *getOpName();
  }
  void runOnOperation() override {
    std::vector<MlirStringRef> values;
    for (auto &option : options)
      values.push_back(wrap(StringRef(option->getValue())));
    if (!table->run(table, wrap(getOperation()), values.data()))
      signalPassFailure();
  }
};

struct RustPipelineOptions : detail::PassOptions {
  std::vector<std::unique_ptr<Option<std::string>>> all;

  explicit RustPipelineOptions(const MdhPipelineTable *table) {
    for (intptr_t i = 0; i < table->numOptions; ++i) {
      const MdhPassOption &option = table->options[i];
      all.push_back(std::make_unique<Option<std::string>>(
          *this, unwrap(option.name), llvm::cl::desc(unwrap(option.description)),
          llvm::cl::init(unwrap(option.fallback).str())));
    }
  }
};
} // namespace

extern "C" {
void mdhRegisterPass(const MdhPassTable *table) {
  registerPass([=]() -> std::unique_ptr<Pass> { return std::make_unique<RustPass>(table); });
}

MlirPass mdhCreatePass(const MdhPassTable *table) { return wrap(new RustPass(table)); }

// The passes of a pipeline are parsed when it is asked for: those of upstream's that it needs are
// registered by then, or named in an error.
void mdhRegisterPipeline(const MdhPipelineTable *table) {
  auto build = [=](OpPassManager &manager, StringRef given,
                   function_ref<LogicalResult(const Twine &)> refuse) -> LogicalResult {
    RustPipelineOptions options(table);
    std::string text, why;
    llvm::raw_string_ostream errors(why);
    if (failed(options.parseFromString(given, errors)))
      return refuse(why);
    std::vector<MlirStringRef> values;
    for (auto &option : options.all)
      values.push_back(wrap(StringRef(option->getValue())));
    auto put = [](void *text, MlirStringRef part) {
      *static_cast<std::string *>(text) += unwrap(part);
    };
    if (!table->passes(table, values.data(), &text, put))
      return refuse(text);
    if (failed(parsePassPipeline(text, manager, errors)))
      return refuse("bug in mdh: its pipeline '" + unwrap(table->name) + "' does not parse: " + why);
    return success();
  };
  registerPassPipeline(unwrap(table->name), unwrap(table->description), build,
                       [=](function_ref<void(const detail::PassOptions &)> show) {
                         show(RustPipelineOptions(table));
                       });
}

bool mdhIsPass(MlirStringRef name) {
  return PassInfo::lookup(unwrap(name)) || PassPipelineInfo::lookup(unwrap(name));
}

void mdhRegisterDialect(MlirDialectRegistry registry) {
  unwrap(registry)->insert<mdh::MdhDialect>();
  mdh::registerBufferization(*unwrap(registry));
  mdh::registerTransforms(*unwrap(registry));
  mdh::registerInstead(*unwrap(registry));
  mdh::registerTiling(*unwrap(registry));
  mdh::registerPartialReduction(*unwrap(registry));
  mdh::registerShapes(*unwrap(registry));
}

void mdhRegisterAll(MlirDialectRegistry registry) {
  registerAllDialects(*unwrap(registry));
  registerAllExtensions(*unwrap(registry));
  registerAllToLLVMIRTranslations(*unwrap(registry));
  mdhRegisterDialect(registry);
}

// Calls `handler` where LLVM's containers find no memory; it does not return.
void mdhOnBadAlloc(void (*handler)()) {
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(
      [](void *data, const char *, bool) { reinterpret_cast<void (*)()>(data)(); },
      reinterpret_cast<void *>(handler));
}

int mdhOptMain(int argc, char **argv, MlirDialectRegistry registry) {
  registerAllPasses();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "mdh optimizer driver\n", *unwrap(registry)));
}

int mdhLspServerMain(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}

// Gives the arguments of functions the names that the text has for them, as their locations.
static void nameArguments(const AsmParserState &state) {
  for (const AsmParserState::BlockDefinition &definition : state.getBlockDefs()) {
    Block *block = definition.block;
    if (!isa_and_nonnull<FunctionOpInterface>(block->getParentOp()))
      continue;
    for (auto [argument, written] : llvm::zip(block->getArguments(), definition.arguments)) {
      SMRange range = written.loc;
      if (!range.isValid())
        continue;
      const char *start = range.Start.getPointer();
      StringRef name(start, range.End.getPointer() - start);
      if (name.consume_front("%"))
        argument.setLoc(
            NameLoc::get(StringAttr::get(argument.getContext(), name), argument.getLoc()));
    }
  }
}

// Parses text or bytecode into a module (an implicit one around other operations), and verifies it
// if that is asked for; null after diagnostics. The C API either loses the file's name or wants a
// single operation.
MlirModule mdhParseModule(MlirContext context, MlirStringRef source, MlirStringRef name,
                          bool verify) {
  ParserConfig config(unwrap(context), verify);
  llvm::MemoryBufferRef buffer(unwrap(source), unwrap(name));
  if (isBytecode(buffer)) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(unwrap(source), config, unwrap(name));
    return wrap(module.release());
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(buffer, /*RequiresNullTerminator=*/false), SMLoc());
  Block block;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return {};
  nameArguments(state);
  LocationAttr start = FileLineColLoc::get(unwrap(context), unwrap(name), 0, 0);
  return wrap(detail::constructContainerOpForParserIfNecessary<ModuleOp>(
                  &block, unwrap(context), start)
                  .release());
}

void mdhEmitWarning(MlirLocation location, const char *message) {
  emitWarning(unwrap(location)) << message;
}

void mdhEmitRemark(MlirLocation location, const char *message) {
  emitRemark(unwrap(location)) << message;
}

// The name of an attribute's or type's class, such as "mdh.pw"; empty for builtin ones of a
// dialect that does not name them.
MlirStringRef mdhAttributeName(MlirAttribute attribute) {
  return wrap(unwrap(attribute).getAbstractAttribute().getName());
}
// The number of an axis, among those of what an attribute maps the parts of a loop to; -1 if it maps
// none.
int64_t mdhMappingId(MlirAttribute attribute) {
  auto mapping = dyn_cast<DeviceMappingAttrInterface>(unwrap(attribute));
  return mapping ? mapping.getMappingId() : -1;
}
// The bytes of a constant that a module holds as a resource; none if it is no such constant, or its
// resource is not there.
MlirStringRef mdhResourceData(MlirAttribute attribute) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(attribute));
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? mlirStringRefCreate(blob->getData().data(), blob->getData().size())
              : mlirStringRefCreate(nullptr, 0);
}
MlirStringRef mdhTypeName(MlirType type) { return wrap(unwrap(type).getAbstractType().getName()); }

// The attributes and types that an attribute or type holds as parameters, in their order.
void mdhAttributeParameters(MlirAttribute attribute, void *data,
                            void (*each)(void *, MlirAttribute)) {
  unwrap(attribute).walkImmediateSubElements([&](Attribute a) { each(data, wrap(a)); },
                                             [](Type) {});
}
void mdhTypeParameters(MlirType type, void *data, void (*each)(void *, MlirType)) {
  unwrap(type).walkImmediateSubElements([](Attribute) {}, [&](Type t) { each(data, wrap(t)); });
}

// Calls `each` with the size of every dimension of an !mdh.mda.
void mdhMdaShape(MlirType type, void *data, void (*each)(void *, int64_t)) {
  for (int64_t size : cast<mdh::MdaType>(unwrap(type)).getShape())
    each(data, size);
}

// Decisions of bufferization on the tensors of a module: valid until the module changes. Null,
// without diagnostics, if that cannot be said.
struct MdhBuffers {
  bufferization::OneShotBufferizationOptions options;
  std::unique_ptr<bufferization::OneShotAnalysisState> state;
};
MdhBuffers *mdhBuffersAnalyze(MlirOperation module) {
  Operation *op = unwrap(module);
  auto buffers = std::make_unique<MdhBuffers>();
  buffers->options.bufferizeFunctionBoundaries = true;
  buffers->options.allowReturnAllocsFromLoops = true;
  buffers->options.setFunctionBoundaryTypeConversion(
      bufferization::LayoutMapOption::IdentityLayoutMap);
  buffers->state =
      std::make_unique<bufferization::OneShotAnalysisState>(op, buffers->options);
  ScopedDiagnosticHandler silent(op->getContext(), [](Diagnostic &) { return success(); });
  if (failed(bufferization::analyzeModuleOp(op, *buffers->state)))
    return nullptr;
  return buffers.release();
}
void mdhBuffersDestroy(MdhBuffers *buffers) { delete buffers; }
bool mdhBuffersAreSame(MdhBuffers *buffers, MlirValue a, MlirValue b) {
  return buffers->state->areEquivalentBufferizedValues(unwrap(a), unwrap(b));
}
bool mdhBuffersMayOverlap(MdhBuffers *buffers, MlirValue a, MlirValue b) {
  return buffers->state->areAliasingBufferizedValues(unwrap(a), unwrap(b));
}
bool mdhBuffersIsInPlace(MdhBuffers *buffers, MlirOperation op, intptr_t operand) {
  return buffers->state->isInPlace(unwrap(op)->getOpOperand(operand));
}
bool mdhBuffersIsWritten(MdhBuffers *buffers, MlirOperation op, intptr_t operand) {
  return buffers->state->bufferizesToMemoryWrite(unwrap(op)->getOpOperand(operand));
}
}
