// Registration, interfaces and bytecode of the dialect.
#include "Syntax.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "MdhDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "MdhTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "MdhAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "MdhOps.cpp.inc"

namespace {
// The version of the dialect's textual and bytecode form. A reader refuses newer ones, and older
// ones, whose attributes stand in other places: 1 had no schedules, 2 not what threads do of a
// computation, 3 not that it runs in place.
constexpr uint64_t kVersion = 4;

struct Version : DialectVersion {
  uint64_t number = 0;
};

struct Bytecode : BytecodeDialectInterface {
  explicit Bytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}
  void writeVersion(DialectBytecodeWriter &writer) const override { writer.writeVarInt(kVersion); }
  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    auto version = std::make_unique<Version>();
    if (failed(reader.readVarInt(version->number)))
      return nullptr;
    if (version->number > kVersion) {
      reader.emitError() << "this file has version " << version->number
                         << " of the mdh dialect, newer than " << kVersion
                         << ", the newest that this program reads; use a newer mdh";
      return nullptr;
    }
    if (version->number < kVersion) {
      reader.emitError() << "this file has version " << version->number
                         << " of the mdh dialect, but this program reads version " << kVersion
                         << "; write it again from its text";
      return nullptr;
    }
    return version;
  }
};

struct RustPattern : RewritePattern {
  intptr_t index;
  RustPattern(intptr_t index, StringRef root, MLIRContext *context)
      : RewritePattern(root, /*benefit=*/1, context), index(index) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    return success(
        mdhRustCanonicalize(index, wrap(op), wrap(static_cast<RewriterBase *>(&rewriter))));
  }
};

// A computation may be copied to where its function is called, and what its scalar code calls to
// where it is called.
struct Inliner : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void mdh::MdhDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "MdhOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "MdhTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "MdhAttrs.cpp.inc"
      >();
  addInterfaces<Bytecode, Inliner>();
}

Attribute mdh::MdhDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  StringRef text = parser.getFullSymbolSpec(), name;
  if (text.consume_front("schedule<") && text.consume_back(">"))
    return syntax::readSchedule(parser, text);
  text = parser.getFullSymbolSpec();
  if (text.consume_front("layout<") && text.consume_back(">"))
    return syntax::readLayout(parser, text);
  text = parser.getFullSymbolSpec();
  if (text.consume_front("mapping<") && text.consume_back(">"))
    return syntax::readMapping(parser, text);
  Attribute attribute;
  SMLoc loc = parser.getCurrentLocation();
  if (generatedAttributeParser(parser, &name, type, attribute).has_value())
    return attribute;
  parser.emitError(loc) << "unknown attribute `" << name << "` in dialect `mdh`";
  return {};
}

void mdh::MdhDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (failed(generatedAttributePrinter(attribute, printer)))
    llvm_unreachable("all attributes of the dialect are generated");
}

void mdh::MdhDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  for (intptr_t i = 0, e = mdhRustNumCanonicalizations(); i < e; ++i)
    patterns.add(
        std::make_unique<RustPattern>(i, unwrap(mdhRustCanonicalizationRoot(i)), getContext()));
}

static LogicalResult verifyMark(Operation *op, int host, NamedAttribute mark) {
  return success(
      mdhRustVerifyMark(wrap(op), host, wrap(mark.getName().strref()), wrap(mark.getValue())));
}
LogicalResult mdh::MdhDialect::verifyOperationAttribute(Operation *op, NamedAttribute mark) {
  return verifyMark(op, 0, mark);
}
LogicalResult mdh::MdhDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                        NamedAttribute mark) {
  return verifyMark(op, 1, mark);
}
LogicalResult mdh::MdhDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                           NamedAttribute mark) {
  return verifyMark(op, 2, mark);
}

//===-- Interfaces ---------------------------------------------------------===//

Attribute mdh::MemoryAttr::parse(AsmParser &parser, Type) {
  std::string region;
  StringRef owner;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&region))
    return {};
  if (region.empty()) {
    parser.emitError(loc) << "found a region without a name, expected one such as \"L2\"";
    return {};
  }
  if (succeeded(parser.parseOptionalComma())) {
    loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&owner, {"block", "thread"}))) {
      parser.emitError(loc) << "expected whose memory it is, block or thread, or '>' if it is "
                               "everybody's";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  Builder &builder = parser.getBuilder();
  return get(parser.getContext(), builder.getStringAttr(region),
             owner.empty() ? StringAttr() : builder.getStringAttr(owner));
}

void mdh::MemoryAttr::print(AsmPrinter &p) const {
  p << '<' << getRegion();
  if (getOwner())
    p << ", " << getOwner().getValue();
  p << '>';
}

LogicalResult mdh::CoreAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr,
                                    int64_t axis) {
  if (axis < 0)
    return emitError() << "a core has the axis " << axis << ", expected 0 or more";
  return success();
}
int64_t mdh::CoreAttr::getMappingId() const { return getAxis(); }
bool mdh::CoreAttr::isLinearMapping() const { return false; }
int64_t mdh::CoreAttr::getRelativeIndex() const { return getAxis(); }

LogicalResult mdh::CombineOp::verifySymbolUses(SymbolTableCollection &) {
  return success(mdhRustVerifyCalls(wrap(getOperation())));
}
LogicalResult mdh::HomOp::verifySymbolUses(SymbolTableCollection &) {
  return success(mdhRustVerifyCalls(wrap(getOperation())));
}
LogicalResult mdh::ComputeOp::verifySymbolUses(SymbolTableCollection &) {
  return success(mdhRustVerifyCalls(wrap(getOperation())));
}

Value mdh::LayoutViewOp::getViewSource() { return getMemory(); }

MutableOperandRange mdh::ComputeOp::getDpsInitsMutable() {
  auto [start, length] = getODSOperandIndexAndLength(1);
  auto [carryStart, carryLength] = getODSOperandIndexAndLength(2);
  (void)carryStart;
  return MutableOperandRange(getOperation(), start, length + carryLength);
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(MutableOperandRange operands, bool written, Effects &effects) {
  for (OpOperand &operand : operands) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (written)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

void mdh::ComputeOp::getEffects(Effects &effects) {
  addEffects(getInsMutable(), false, effects);
  addEffects(getCarriesMutable(), false, effects);
  addEffects(getOutsMutable(), true, effects);
  addEffects(getCarryOutsMutable(), true, effects);
}

// The buffers under an MDA are read when it is stored.
void mdh::OutViewOp::getEffects(Effects &effects) {
  addEffects(getCarriesMutable(), false, effects);
  addEffects(getOutsMutable(), true, effects);
  addEffects(getCarryOutsMutable(), true, effects);
  if (!effects.empty())
    effects.emplace_back(MemoryEffects::Read::get());
}

namespace {
using namespace bufferization;

// A memref of the same shape, in row-major order.
Value allocateLike(RewriterBase &rewriter, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(memref::DimOp::create(rewriter, loc, memref, axis));
  auto rowMajor = MemRefType::get(type.getShape(), type.getElementType());
  return memref::AllocOp::create(rewriter, loc, rowMajor, sizes);
}

// Memory of a memref, without what bufferization has between memrefs and tensors until its end: a
// memref, or the tensor of which it is not the buffer yet.
Value memoryOf(Value memref) {
  while (auto toBuffer = memref.getDefiningOp<ToBufferOp>()) {
    auto toTensor = toBuffer.getTensor().getDefiningOp<ToTensorOp>();
    if (!toTensor)
      return toBuffer.getTensor();
    memref = toTensor.getBuffer();
  }
  return memref;
}

struct ComputeBufferization
    : DstBufferizableOpInterfaceExternalModel<ComputeBufferization, mdh::ComputeOp> {
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> opOperands) const {
    SmallVector<intptr_t> numbers;
    for (OpOperand *operand : opOperands)
      numbers.push_back(operand->getOperandNumber());
    return mdhRustIsElementwise(wrap(op), numbers.data(), numbers.size());
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    IRMapping buffers;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType()) || buffers.contains(operand))
        continue;
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.map(operand, *buffer);
    }
    SmallVector<Value> operands, results;
    auto dps = cast<DestinationStyleOpInterface>(op);
    // A tensor without a value may be read and written in one memory, says the analysis. Memrefs
    // may not, but in place: what is read gets memory of its own.
    auto isShared = [&](OpOperand &read, Value buffer) {
      for (OpOperand &init : dps.getDpsInitsMutable()) {
        intptr_t both[] = {read.getOperandNumber(), init.getOperandNumber()};
        if (memoryOf(buffers.lookupOrDefault(init.get())) == memoryOf(buffer) &&
            !mdhRustIsElementwise(wrap(op), both, 2))
          return true;
      }
      return false;
    };
    for (OpOperand &operand : op->getOpOperands()) {
      Value buffer = buffers.lookupOrDefault(operand.get());
      if (isa<MemRefType>(buffer.getType()) && !dps.isDpsInit(&operand) &&
          isShared(operand, buffer))
        buffer = allocateLike(rewriter, op->getLoc(), buffer);
      operands.push_back(buffer);
    }
    for (Value init : dps.getDpsInits())
      if (isa<TensorType>(init.getType()))
        results.push_back(buffers.lookup(init));
    OperationState newState(op->getLoc(), op->getName(), operands, TypeRange(), op->getAttrs());
    for (Region &region : op->getRegions())
      newState.addRegion()->takeBody(region);
    rewriter.create(newState);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};
} // namespace

void mdh::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mdh::MdhDialect *) {
    mdh::ComputeOp::attachInterface<ComputeBufferization>(*context);
  });
}
