// Combine operators, scalar functions and the MDA type in the custom assembly.
#include "Syntax.h"

#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace mdh::syntax;

using Argument = OpAsmParser::Argument;

static ParseResult parseOperators(AsmParser &parser, Attribute &operators) {
  Builder &builder = parser.getBuilder();
  SymbolRefAttr symbol;
  OptionalParseResult isSymbol = parser.parseOptionalAttribute(symbol);
  if (isSymbol.has_value()) {
    operators = symbol;
    return *isSymbol;
  }
  SmallVector<Attribute> names;
  do {
    StringRef keyword;
    std::string label;
    if (succeeded(parser.parseOptionalString(&label))) {
      operators = builder.getStringAttr(label);
      return success();
    }
    if (parser.parseKeyword(&keyword))
      return failure();
    names.push_back(builder.getStringAttr(keyword));
  } while (succeeded(parser.parseOptionalComma()));
  if (names.size() == 1 && !mdhRustIsBuiltin(wrap(nameOf(names[0]))))
    operators = names[0];
  else
    operators = builder.getArrayAttr(names);
  return success();
}

StringRef mdh::syntax::labelOf(Attribute combine) {
  auto pw = dyn_cast<mdh::PwAttr>(combine);
  auto ps = dyn_cast<mdh::PsAttr>(combine);
  Attribute operators = pw ? pw.getOperators() : ps ? ps.getOperators() : Attribute();
  auto label = dyn_cast_if_present<StringAttr>(operators);
  return label ? label.getValue() : StringRef();
}

void mdh::syntax::printLabel(AsmPrinter &p, StringRef label) {
  if (mdhRustIsBuiltin(wrap(label)))
    p.printString(label);
  else
    p.printKeywordOrString(label);
}

static void printOperators(AsmPrinter &p, Attribute operators) {
  if (auto names = dyn_cast<ArrayAttr>(operators)) {
    llvm::interleaveComma(names, p, [&](Attribute name) { p << nameOf(name); });
  } else if (auto label = dyn_cast<StringAttr>(operators)) {
    mdh::syntax::printLabel(p, label.getValue());
  } else {
    p.printAttribute(operators);
  }
}

static Attribute parseOperatorsAttr(AsmParser &parser, Attribute &operators) {
  if (parser.parseLess() || parseOperators(parser, operators) || parser.parseGreater())
    return {};
  return operators;
}

Attribute mdh::PwAttr::parse(AsmParser &parser, Type) {
  Attribute operators;
  return parseOperatorsAttr(parser, operators) ? PwAttr::get(parser.getContext(), operators)
                                               : Attribute();
}
void mdh::PwAttr::print(AsmPrinter &p) const {
  p << '<';
  printOperators(p, getOperators());
  p << '>';
}
Attribute mdh::PsAttr::parse(AsmParser &parser, Type) {
  Attribute operators;
  return parseOperatorsAttr(parser, operators) ? PsAttr::get(parser.getContext(), operators)
                                               : Attribute();
}
void mdh::PsAttr::print(AsmPrinter &p) const {
  p << '<';
  printOperators(p, getOperators());
  p << '>';
}

Type mdh::MdaType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  SmallVector<Type> components;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true, /*withTrailingX=*/false))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseType(components.emplace_back()))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<MdaType>(loc, parser.getContext(), ArrayRef<int64_t>(shape),
                                    ArrayRef<Type>(components));
}

LogicalResult mdh::MdaType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t>, ArrayRef<Type> components) {
  auto say = [](void *emitError, MlirStringRef said) {
    (*static_cast<function_ref<InFlightDiagnostic()> *>(emitError))() << unwrap(said);
  };
  return success(llvm::all_of(components, [&](Type component) {
    return mdhRustVerifyComponent(wrap(component), &emitError, say);
  }));
}

void mdh::MdaType::print(AsmPrinter &p) const {
  p << '<';
  p.printDimensionList(getShape());
  for (Type component : getComponents())
    p << ", " << component;
  p << '>';
}

ParseResult mdh::syntax::parseCombine(OpAsmParser &parser, SmallVectorImpl<Attribute> &combine) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    StringRef keyword;
    MLIRContext *context = parser.getContext();
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    if (keyword == "cc") {
      combine.push_back(mdh::CcAttr::get(context));
      return success();
    }
    if (keyword != "pw" && keyword != "ps")
      return parser.emitError(loc) << "unknown combine operator '" << keyword
                                   << "': expected cc, pw(...) or ps(...)";
    Attribute operators;
    if (parser.parseLParen() || parseOperators(parser, operators) || parser.parseRParen())
      return failure();
    combine.push_back(keyword == "pw" ? Attribute(mdh::PwAttr::get(context, operators))
                                      : Attribute(mdh::PsAttr::get(context, operators)));
    return success();
  });
}

void mdh::syntax::printCombine(OpAsmPrinter &p, ArrayAttr combine) {
  p << '(';
  llvm::interleaveComma(combine, p, [&](Attribute attr) {
    if (isa<mdh::CcAttr>(attr)) {
      p << "cc";
      return;
    }
    auto pw = dyn_cast<mdh::PwAttr>(attr);
    auto ps = dyn_cast<mdh::PsAttr>(attr);
    if (!pw && !ps) {
      p << attr;
      return;
    }
    p << (pw ? "pw(" : "ps(");
    printOperators(p, pw ? pw.getOperators() : ps.getOperators());
    p << ')';
  });
  p << ')';
}

static ParseResult parseBody(OpAsmParser &parser, Region &region) {
  SmallVector<Argument> arguments;
  return failure(parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                                          /*allowType=*/true) ||
                 parser.parseRegion(region, arguments));
}

static void printBody(OpAsmPrinter &p, Region &region) {
  p << '(';
  if (!region.empty())
    llvm::interleaveComma(region.getArguments(), p,
                          [&](BlockArgument arg) { p.printRegionArgument(arg); });
  p << ") ";
  p.printRegion(region, /*printEntryBlockArgs=*/false);
}

// The arith operations that a scalar function can be named by.
static bool isShortName(StringRef name) {
  static const llvm::StringSet<> names = {
      "addf",     "subf",     "mulf",   "divf",   "remf",  "minimumf", "maximumf", "minnumf",
      "maxnumf",  "addi",     "subi",   "muli",   "divsi", "divui",    "remsi",    "remui",
      "ceildivsi", "ceildivui", "floordivsi", "minsi", "maxsi", "minui", "maxui",  "andi",
      "ori",      "xori",     "shli",   "shrsi",  "shrui"};
  return names.contains(name);
}

ParseResult mdh::syntax::parseScalar(OpAsmParser &parser, Scalar &scalar, Region &region) {
  StringRef keyword;
  scalar.loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return parseBody(parser, region);
  scalar.shortName = keyword.str();
  if (keyword != "id" && !isShortName(keyword))
    return parser.emitError(scalar.loc)
           << "unknown scalar function '" << keyword
           << "': expected `id`, the name of a binary arith operation (such as mulf), or a "
              "region `(%a: f32, ...) { ... }`";
  return success();
}

ParseResult mdh::syntax::buildShortScalar(OpAsmParser &parser, const Scalar &scalar, TypeRange types,
                                    Region &region) {
  if (scalar.shortName.empty())
    return success();
  OpBuilder builder(parser.getContext());
  Location loc = parser.getEncodedSourceLoc(scalar.loc);
  Block *block = builder.createBlock(&region);
  block->addArguments(types, SmallVector<Location>(types.size(), loc));
  SmallVector<Value> results(block->getArguments());
  if (scalar.shortName != "id") {
    if (types.size() != 2 || types[0] != types[1]) {
      InFlightDiagnostic error = parser.emitError(scalar.loc)
                                 << "the scalar function '" << scalar.shortName
                                 << "' takes two values of one type, but the view has "
                                 << types.size() << " component" << (types.size() == 1 ? "" : "s");
      if (!types.empty())
        error << " (" << types << ")";
      return error << "; write the scalar function as a region";
    }
    OperationState op(loc, "arith." + scalar.shortName, block->getArguments(), {types[0]});
    results.assign({builder.create(op)->getResult(0)});
  }
  mdh::YieldOp::create(builder, loc, results);
  return success();
}

static bool hasOnlyDefaultAttributes(Operation &op) {
  return llvm::all_of(op.getAttrs(), [](NamedAttribute attr) {
    if (auto flags = dyn_cast<arith::FastMathFlagsAttr>(attr.getValue()))
      return flags.getValue() == arith::FastMathFlags::none;
    if (auto flags = dyn_cast<arith::IntegerOverflowFlagsAttr>(attr.getValue()))
      return flags.getValue() == arith::IntegerOverflowFlags::none;
    return false;
  });
}

// The short name that parses to this region; empty if it has none.
static std::string shortScalar(Region &region) {
  if (!region.hasOneBlock() || region.front().empty())
    return "";
  Block &block = region.front();
  Operation &last = block.back();
  if (!isa<mdh::YieldOp>(last) || !last.getDiscardableAttrs().empty())
    return "";
  if (llvm::hasSingleElement(block))
    return llvm::equal(last.getOperands(), block.getArguments()) ? "id" : "";
  Operation &op = block.front();
  StringRef name = op.getName().getStringRef();
  bool isShort = op.getNextNode() == &last && name.consume_front("arith.") && isShortName(name) &&
                 block.getNumArguments() == 2 &&
                 block.getArgument(0).getType() == block.getArgument(1).getType() &&
                 llvm::equal(op.getOperands(), block.getArguments()) &&
                 hasOnlyDefaultAttributes(op) && op.getNumResults() == 1 &&
                 last.getNumOperands() == 1 && last.getOperand(0) == op.getResult(0);
  return isShort ? name.str() : "";
}

void mdh::syntax::printScalar(OpAsmPrinter &p, Region &region) {
  std::string name = shortScalar(region);
  if (name.empty())
    printBody(p, region);
  else
    p << name;
}

ParseResult mdh::syntax::parseOperatorBody(OpAsmParser &parser, OperationState &result, Region &region) {
  Builder &builder = parser.getBuilder();
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  while (succeeded(parser.parseOptionalKeyword(&keyword, {"commutative", "associative", "neutral"}))) {
    if (result.attributes.get(keyword))
      return parser.emitError(loc) << "declares '" << keyword
                                   << "' twice: expected each of commutative, associative and "
                                      "neutral(...) at most once";
    Attribute value = builder.getUnitAttr();
    if (keyword == "neutral") {
      SmallVector<Attribute> values;
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
            return parser.parseAttribute(values.emplace_back());
          }))
        return failure();
      value = builder.getArrayAttr(values);
    }
    result.addAttribute(keyword, value);
    loc = parser.getCurrentLocation();
  }
  return parseBody(parser, region);
}

void mdh::syntax::printOperatorBody(OpAsmPrinter &p, bool commutative, bool associative,
                              std::optional<ArrayAttr> neutral, Region &region) {
  p << (commutative ? " commutative" : "") << (associative ? " associative" : "");
  if (neutral) {
    p << " neutral(";
    llvm::interleaveComma(*neutral, p);
    p << ')';
  }
  p << ' ';
  printBody(p, region);
}
