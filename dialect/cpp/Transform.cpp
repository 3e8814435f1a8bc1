// The transform dialect's extension: syntax, and the thunk to Rust.
//
//   value  ::= integer | `*` | name | name `(` value,* `)` | `[` value,* `]` | `{` pair,* `}`
//   pair   ::= name `:` value
//   counts ::= `{` (name `:` (value | ssa-use)),* `}`
//
// A value becomes builtin attributes: a number an i64, a name a string, a list an array, pairs a
// dictionary, `f(a, b)` the dictionary {f = [a, b]}. A unit stands where an operand does.
#include "Syntax.h"
#include "Transform.h"

#include "mlir/CAPI/Support.h"

using namespace mlir;

//===-- Syntax -------------------------------------------------------------===//

namespace {
// More than any schedule has.
constexpr int kDepth = 32;

using Unresolved = OpAsmParser::UnresolvedOperand;

struct ValueParser {
  OpAsmParser &parser;
  Builder &builder;
  int depth = 0;
  // The operands by the names before them; no operands are read if there is no such list.
  SmallVector<std::pair<StringAttr, Unresolved>> *operands = nullptr;

  using Read = llvm::function_ref<ParseResult()>;

  // Up to the closing bracket; the opening one has been read.
  ParseResult items(Read one, Read isClosed, Read close) {
    return succeeded(isClosed()) ? success()
                                 : failure(parser.parseCommaSeparatedList(one) || close());
  }

  ParseResult pair(NamedAttrList &entries) {
    std::string name;
    Attribute entry;
    Unresolved operand;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name))
      return failure();
    if (name.empty() || entries.get(name))
      return parser.emitError(loc) << "found \"" << name << "\""
                                   << (name.empty() ? ", expected a name" : " twice");
    if (parser.parseColon())
      return failure();
    OptionalParseResult isOperand;
    if (operands)
      isOperand = parser.parseOptionalOperand(operand);
    if (isOperand.has_value()) {
      operands->emplace_back(builder.getStringAttr(name), operand);
      entry = builder.getUnitAttr();
      if (failed(*isOperand))
        return failure();
    } else if (value(entry)) {
      return failure();
    }
    entries.append(name, entry);
    return success();
  }

  ParseResult restOfPairs(DictionaryAttr &result) {
    NamedAttrList entries;
    if (items([&] { return pair(entries); }, [&] { return parser.parseOptionalRBrace(); },
              [&] { return parser.parseRBrace(); }))
      return failure();
    result = entries.getDictionary(parser.getContext());
    return success();
  }

  ParseResult restOfList(Attribute &result, Read isClosed, Read close) {
    SmallVector<Attribute> found;
    if (items([&] { return value(found.emplace_back()); }, isClosed, close))
      return failure();
    result = builder.getArrayAttr(found);
    return success();
  }

  ParseResult value(Attribute &result) {
    if (++depth > kDepth)
      return parser.emitError(parser.getCurrentLocation())
             << "found more than " << kDepth << " nested values";
    ParseResult parsed = oneOf(result);
    --depth;
    return parsed;
  }

  ParseResult oneOf(Attribute &result) {
    int64_t number;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      result = builder.getI64IntegerAttr(number);
      return *isNumber;
    }
    if (succeeded(parser.parseOptionalStar())) {
      result = builder.getStringAttr("*");
      return success();
    }
    if (succeeded(parser.parseOptionalLSquare()))
      return restOfList(result, [&] { return parser.parseOptionalRSquare(); },
                        [&] { return parser.parseRSquare(); });
    if (succeeded(parser.parseOptionalLBrace())) {
      DictionaryAttr pairs;
      if (restOfPairs(pairs))
        return failure();
      result = pairs;
      return success();
    }
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    result = builder.getStringAttr(name);
    if (name.empty() || failed(parser.parseOptionalLParen()))
      return success();
    Attribute arguments;
    if (restOfList(arguments, [&] { return parser.parseOptionalRParen(); },
                   [&] { return parser.parseRParen(); }))
      return failure();
    result = builder.getDictionaryAttr(builder.getNamedAttr(name, arguments));
    return success();
  }
};

ParseResult parseName(OpAsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  name = parser.getBuilder().getStringAttr(text);
  return success();
}
void printName(OpAsmPrinter &p, Operation *, StringAttr name) {
  p.printKeywordOrString(name.getValue());
}

// A position is a number.
bool isPosition(StringRef key) {
  uint64_t position;
  return !key.getAsInteger(10, position) && std::to_string(position) == key;
}
ParseResult parseKey(OpAsmParser &parser, StringAttr &key) {
  uint64_t position;
  OptionalParseResult isNumber = parser.parseOptionalInteger(position);
  if (!isNumber.has_value())
    return parseName(parser, key);
  key = parser.getBuilder().getStringAttr(std::to_string(position));
  return *isNumber;
}
void printKey(OpAsmPrinter &p, Operation *op, StringAttr key) {
  if (isPosition(key.getValue()))
    p << key.getValue();
  else
    printName(p, op, key);
}

ParseResult parseValue(OpAsmParser &parser, Attribute &value) {
  return ValueParser{parser, parser.getBuilder()}.value(value);
}

void printPairs(OpAsmPrinter &p, DictionaryAttr pairs, llvm::function_ref<void(Attribute)> one) {
  p << '{';
  llvm::interleaveComma(pairs, p, [&](NamedAttribute pair) {
    p.printKeywordOrString(pair.getName());
    p << ": ";
    one(pair.getValue());
  });
  p << '}';
}

// Whatever else an attribute is, which the verifier refuses, prints as one.
void printValue(OpAsmPrinter &p, Operation *op, Attribute value) {
  auto print = [&](Attribute one) { printValue(p, op, one); };
  if (auto number = dyn_cast<IntegerAttr>(value); number && number.getType().isInteger(64)) {
    p << number.getInt();
  } else if (auto name = dyn_cast<StringAttr>(value)) {
    if (name.getValue() == "*")
      p << '*';
    else
      p.printKeywordOrString(name.getValue());
  } else if (auto items = dyn_cast<ArrayAttr>(value)) {
    p << '[';
    llvm::interleaveComma(items, p, print);
    p << ']';
  } else if (auto pairs = dyn_cast<DictionaryAttr>(value)) {
    auto items = pairs.size() == 1 ? dyn_cast<ArrayAttr>(pairs.begin()->getValue()) : ArrayAttr();
    if (!items)
      return printPairs(p, pairs, print);
    p.printKeywordOrString(pairs.begin()->getName());
    p << '(';
    llvm::interleaveComma(items, p, print);
    p << ')';
  } else {
    p.printAttribute(value);
  }
}

ParseResult parseCounts(OpAsmParser &parser, DictionaryAttr &counts,
                        SmallVectorImpl<Unresolved> &params) {
  SmallVector<std::pair<StringAttr, Unresolved>> operands;
  ValueParser values{parser, parser.getBuilder(), 0, &operands};
  if (parser.parseLBrace() || values.restOfPairs(counts))
    return failure();
  // A dictionary is sorted, and so are its operands.
  llvm::sort(operands, [](auto &a, auto &b) { return a.first.compare(b.first) < 0; });
  for (auto &[name, operand] : operands)
    params.push_back(operand);
  return success();
}
void printCounts(OpAsmPrinter &p, Operation *op, DictionaryAttr counts, OperandRange params) {
  auto next = params.begin();
  printPairs(p, counts, [&](Attribute count) {
    if (isa<UnitAttr>(count) && next != params.end())
      p.printOperand(*next++);
    else
      printValue(p, op, count);
  });
}

// As the attribute prints itself, but indented as the operation is.
ParseResult parseSchedule(OpAsmParser &parser, mdh::ScheduleAttr &schedule) {
  return parser.parseAttribute(schedule);
}
void printSchedule(OpAsmPrinter &p, Operation *, mdh::ScheduleAttr schedule) {
  mdh::syntax::printScheduleText(p, schedule, "");
}
} // namespace

#define GET_OP_CLASSES
#include "MdhTransformOps.cpp.inc"

//===-- The thunk ----------------------------------------------------------===//

// One application of one operation, as Rust sees it.
struct MdhApplication {
  Operation *op;
  transform::TransformResults &results;
  transform::TransformState &state;
  SmallVector<Diagnostic> failures;
};

extern "C" {
// The operations of the handle that is the operand of that number.
void mdhTransformPayload(MdhApplication *application, intptr_t operand, void *data,
                         void (*each)(void *, MlirOperation)) {
  Value handle = application->op->getOperand(operand);
  for (Operation *payload : application->state.getPayloadOps(handle))
    each(data, wrap(payload));
}
// The attributes of the parameter that is the operand of that number.
void mdhTransformParameters(MdhApplication *application, intptr_t operand, void *data,
                            void (*each)(void *, MlirAttribute)) {
  for (Attribute value : application->state.getParams(application->op->getOperand(operand)))
    each(data, wrap(value));
}
// Makes operations those of a result.
void mdhTransformResult(MdhApplication *application, intptr_t result, const MlirOperation *ops,
                        intptr_t count) {
  SmallVector<Operation *> payload;
  for (intptr_t i = 0; i < count; ++i)
    payload.push_back(unwrap(ops[i]));
  application->results.set(application->op->getOpResult(result), payload);
}
// Reports why it cannot be applied, to a payload operation if that is not null, and by which
// operation of the script that came to be. Nothing has changed.
void mdhTransformFail(MdhApplication *application, MlirStringRef message, MlirOperation payload,
                      MlirOperation cause) {
  Diagnostic &failure = application->failures.emplace_back(application->op->getLoc(),
                                                           DiagnosticSeverity::Error);
  failure << application->op->getName() << ' ' << unwrap(message);
  if (cause.ptr)
    failure.attachNote(unwrap(cause)->getLoc()) << "this is what the schedule has here";
  if (payload.ptr)
    failure.attachNote(unwrap(payload)->getLoc()) << "when applied to this op";
}
}

DiagnosedSilenceableFailure mdh::applyInRust(Operation *op, transform::TransformResults &results,
                                             transform::TransformState &state) {
  MdhApplication application{op, results, state, {}};
  if (mdhRustTransform(wrap(op), &application))
    return DiagnosedSilenceableFailure::success();
  results.setRemainingToEmpty(cast<transform::TransformOpInterface>(op));
  return DiagnosedSilenceableFailure::silenceableFailure(std::move(application.failures));
}

void mdh::effectsInRust(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  int kind = mdhRustTransformEffects(wrap(op));
  if (kind & MDH_CONSUMES_HANDLE)
    transform::consumesHandle(op->getOpOperands(), effects);
  else
    transform::onlyReadsHandle(op->getOpOperands(), effects);
  transform::producesHandle(op->getOpResults(), effects);
  if (kind & MDH_CHANGES_PAYLOAD)
    transform::modifiesPayload(effects);
  else
    transform::onlyReadsPayload(effects);
}

namespace {
struct Extension : transform::TransformDialectExtension<Extension> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Extension)

  void init() {
    // The attribute of `transform.mdh.schedule` is this dialect's.
    declareDependentDialect<mdh::MdhDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "MdhTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void mdh::registerTransforms(DialectRegistry &registry) { registry.addExtensions<Extension>(); }
