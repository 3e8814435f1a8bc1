// Domains, index functions, buffers and carries in the custom assembly.
#include "Syntax.h"

#include "mlir/CAPI/Support.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace mdh::syntax;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

//===-- Names, bounds, domains --------------------------------------------===//

ParseResult mdh::syntax::parseName(AsmParser &parser, std::string &name, StringRef what) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    name = keyword.str();
    return success();
  }
  return parser.emitError(loc) << "expected the name of a " << what;
}

static ParseResult parseBound(OpAsmParser &parser, SmallVectorImpl<Unresolved> &operands,
                              SmallVectorImpl<int64_t> &constants) {
  int64_t value;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult integer = parser.parseOptionalInteger(value);
  if (integer.has_value()) {
    // The number that stands for an SSA value among the others.
    if (succeeded(*integer) && value == kDynamic)
      return parser.emitError(loc) << "found " << value << ", expected a larger integer";
    constants.push_back(value);
    return *integer;
  }
  Unresolved operand;
  OptionalParseResult use = parser.parseOptionalOperand(operand);
  if (!use.has_value())
    return parser.emitError(parser.getCurrentLocation())
           << "expected an integer or an SSA value of type index";
  if (failed(*use))
    return failure();
  operands.push_back(operand);
  constants.push_back(kDynamic);
  return success();
}

static void printBound(OpAsmPrinter &p, int64_t constant, OperandRange operands, size_t &next) {
  if (constant != kDynamic)
    p << constant;
  else if (next < operands.size())
    p.printOperand(operands[next++]);
  else
    p << "<<missing operand>>";
}

static ParseResult parseDimension(OpAsmParser &parser, Domain &domain) {
  std::string name;
  SMLoc loc = parser.getCurrentLocation();
  if (parseName(parser, name, "dimension"))
    return failure();
  if (!mdhRustIsIdentifier(wrap(StringRef(name))))
    return parser.emitError(loc) << "found '" << name
                                 << "', which is a word of index functions, expected another name "
                                    "for the dimension";
  if (parser.parseEqual())
    return failure();
  domain.dims.push_back(parser.getBuilder().getStringAttr(name));
  SmallVector<int64_t> range;
  if (parseBound(parser, domain.operands, range))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("to"))) {
    if (parseBound(parser, domain.operands, range))
      return failure();
  } else {
    range.insert(range.begin(), 0);
  }
  bool hasStep = succeeded(parser.parseOptionalKeyword("step"));
  if (!hasStep)
    range.push_back(1);
  else if (parseBound(parser, domain.operands, range))
    return failure();
  if (failed(parser.parseOptionalKeyword("width")))
    range.push_back(1);
  else if (parseBound(parser, domain.operands, range))
    return failure();
  domain.bounds.append(range);
  return success();
}

ParseResult mdh::syntax::parseDomain(OpAsmParser &parser, Domain &domain) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                        [&] { return parseDimension(parser, domain); });
}

StringRef mdh::syntax::nameOf(Attribute attr) {
  auto name = dyn_cast_if_present<StringAttr>(attr);
  return name ? name.getValue() : "<<name>>";
}

void mdh::syntax::printDomain(OpAsmPrinter &p, ArrayAttr dims, ArrayRef<int64_t> bounds,
                        OperandRange operands) {
  size_t next = 0;
  p << " (";
  for (size_t d = 0; d < dims.size() && 4 * d + 3 < bounds.size(); ++d) {
    p << (d ? ", " : "") << nameOf(dims[d]) << " = ";
    auto bound = [&](int k) { printBound(p, bounds[4 * d + k], operands, next); };
    if (bounds[4 * d] != 0) {
      bound(0);
      p << " to ";
    }
    bound(1);
    if (bounds[4 * d + 2] != 1) {
      p << " step ";
      bound(2);
    }
    if (bounds[4 * d + 3] != 1) {
      p << " width ";
      bound(3);
    }
  }
  p << ')';
}

//===-- Index functions ---------------------------------------------------===//

static void printExpr(OpAsmPrinter &p, AffineExpr expr, ArrayAttr dims, bool atom);

// The expression that this one is the negative of; null if it is written without a sign.
static AffineExpr negated(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() < 0 && constant.getValue() != INT64_MIN ? -expr : AffineExpr();
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return {};
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  return factor && factor.getValue() == -1 ? product.getLHS() : AffineExpr();
}

static void printBinary(OpAsmPrinter &p, AffineBinaryOpExpr expr, ArrayAttr dims) {
  AffineExpr lhs = expr.getLHS(), rhs = expr.getRHS();
  auto constant = dyn_cast<AffineConstantExpr>(rhs);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    // `7 - i` and `i - 1`, which the affine library holds as `-i + 7` and `i + -1`.
    if (AffineExpr subtrahend = negated(lhs); subtrahend && !negated(rhs)) {
      printExpr(p, rhs, dims, false);
      p << " - ";
      return printExpr(p, subtrahend, dims, true);
    }
    printExpr(p, lhs, dims, false);
    if (AffineExpr subtrahend = negated(rhs)) {
      p << " - ";
      return printExpr(p, subtrahend, dims, true);
    }
    p << " + ";
    return printExpr(p, rhs, dims, false);
  case AffineExprKind::Mul:
    if (constant && constant.getValue() == -1) {
      p << '-';
      return printExpr(p, lhs, dims, true);
    }
    printExpr(p, lhs, dims, true);
    p << " * ";
    return printExpr(p, rhs, dims, true);
  default:
    printExpr(p, lhs, dims, true);
    p << (expr.getKind() == AffineExprKind::Mod        ? " mod "
          : expr.getKind() == AffineExprKind::FloorDiv ? " floordiv "
                                                       : " ceildiv ");
    return printExpr(p, rhs, dims, true);
  }
}

static void printExpr(OpAsmPrinter &p, AffineExpr expr, ArrayAttr dims, bool atom) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    p << (dim.getPosition() < dims.size() ? nameOf(dims[dim.getPosition()]) : "<<dimension>>");
  } else if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    p << constant.getValue();
  } else if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    if (atom)
      p << '(';
    printBinary(p, binary, dims);
    if (atom)
      p << ')';
  } else {
    p << "<<symbol>>";
  }
}

static ParseResult parseAccess(OpAsmParser &parser, ArrayRef<Attribute> dims, Attribute &map) {
  MLIRContext *context = parser.getContext();
  SmallVector<std::pair<StringRef, AffineExpr>> names;
  for (auto [i, dim] : llvm::enumerate(dims))
    names.emplace_back(nameOf(dim), getAffineDimExpr(i, context));
  SmallVector<AffineExpr> results;
  // MLIR's parser says what it has found, not what an index function is.
  ScopedDiagnosticHandler wrong(context, [&](Diagnostic &error) {
    error << "; expected affine expressions of the dimensions ";
    llvm::interleaveComma(dims, error, [&](Attribute dim) { error << nameOf(dim); });
    error << ": an index that is read, as in `x[p[i]]` (a gather), is none, since what is "
             "legal follows from index functions before anything is read; what to write for it "
             "says docs/langref.md under \"What is not here\"";
    return failure();
  });
  // The `[` has been consumed: an access may follow another one.
  if (failed(parser.parseOptionalRSquare())) {
    do {
      if (parser.parseAffineExpr(names, results.emplace_back()))
        return failure();
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRSquare())
      return failure();
  }
  map = AffineMapAttr::get(AffineMap::get(dims.size(), 0, results, context));
  return success();
}

//===-- Buffers -----------------------------------------------------------===//

// The name of a buffer that was not named: its SSA name if that is an identifier.
static std::string defaultName(StringRef ssa, Buffers &buffers) {
  StringRef name = ssa.drop_front();
  std::string base = name.empty() || llvm::isDigit(name[0]) ? "b" + name.str() : name.str();
  for (char &c : base)
    if (!llvm::isAlnum(c) && c != '_' && c != '$')
      c = '_';
  std::string unique = base;
  for (int n = 1; buffers.taken.contains(unique); ++n)
    unique = base + "_" + std::to_string(n);
  return unique;
}

static ParseResult parseBuffer(OpAsmParser &parser, ArrayRef<Attribute> dims, Role role,
                               Buffers &buffers) {
  Builder &builder = parser.getBuilder();
  StringRef keyword;
  std::string name;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (role == Role::Output && keyword == "_") {
      ++buffers.nextComponent;
      return success();
    }
    name = keyword.str();
    if (parser.parseEqual())
      return failure();
  }
  Unresolved operand;
  if (parser.parseOperand(operand))
    return failure();
  buffers.operands.push_back(operand);
  if (name.empty())
    name = defaultName(operand.name, buffers);
  buffers.taken.insert(name);
  buffers.names.push_back(builder.getStringAttr(name));

  SmallVector<Attribute> maps;
  if (parser.parseLSquare())
    return failure();
  do {
    if (parseAccess(parser, dims, maps.emplace_back()))
      return failure();
    if (role == Role::Output)
      buffers.components.push_back(buffers.nextComponent++);
  } while (succeeded(parser.parseOptionalLSquare()));
  buffers.maps.push_back(builder.getArrayAttr(maps));

  SmallVector<int64_t> origin(cast<AffineMapAttr>(maps[0]).getValue().getNumResults(), 0);
  if (succeeded(parser.parseOptionalKeyword("origin"))) {
    origin.clear();
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
          return parseBound(parser, buffers.origins, origin);
        }))
      return failure();
  }
  buffers.staticOrigins.push_back(builder.getDenseI64ArrayAttr(origin));

  Attribute pad = builder.getUnitAttr();
  if (role == Role::Input && succeeded(parser.parseOptionalKeyword("pad")))
    if (parser.parseLParen() || parser.parseAttribute(pad) || parser.parseRParen())
      return failure();
  if (role == Role::Input)
    buffers.pads.push_back(pad);
  return parser.parseColonType(buffers.types.emplace_back());
}

ParseResult mdh::syntax::parseBuffers(OpAsmParser &parser, ArrayRef<Attribute> dims, Role role,
                                Buffers &buffers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&] { return parseBuffer(parser, dims, role, buffers); });
}

void mdh::syntax::BufferPrinter::print(OperandRange operands, Role role) {
  p << '(';
  llvm::interleaveComma(operands, p, [&](Value operand) { printOne(operand, role); });
  p << ')';
}

void mdh::syntax::BufferPrinter::printOne(Value operand, Role role) {
  size_t b = buffer++;
  auto accesses = b < maps.size() ? dyn_cast<ArrayAttr>(maps[b]) : ArrayAttr();
  if (role == Role::Output && component < components.size())
    for (; nextComponent < components[component]; ++nextComponent)
      p << "_, ";
  p << (b < names.size() ? nameOf(names[b]) : "<<name>>") << " = " << operand;
  for (Attribute access : accesses ? accesses.getValue() : ArrayRef<Attribute>()) {
    p << '[';
    llvm::interleaveComma(cast<AffineMapAttr>(access).getValue().getResults(), p,
                          [&](AffineExpr expr) { printExpr(p, expr, dims, false); });
    p << ']';
    if (role == Role::Output) {
      ++component;
      ++nextComponent;
    }
  }
  printOrigin(b);
  if (role == Role::Input && b < pads.size() && !isa<UnitAttr>(pads[b]))
    p << " pad(" << pads[b] << ')';
  p << " : " << operand.getType();
}

void mdh::syntax::BufferPrinter::printOrigin(size_t b) {
  auto constants = b < staticOrigins.size() ? dyn_cast<DenseI64ArrayAttr>(staticOrigins[b])
                                            : DenseI64ArrayAttr();
  if (!constants || llvm::all_of(constants.asArrayRef(), [](int64_t o) { return o == 0; }))
    return;
  p << " origin(";
  llvm::interleaveComma(constants.asArrayRef(), p,
                        [&](int64_t o) { printBound(p, o, origins, origin); });
  p << ')';
}

//===-- Carries -----------------------------------------------------------===//

ParseResult mdh::syntax::parseCarries(OpAsmParser &parser, ArrayRef<Attribute> dims, Carries &carries) {
  while (succeeded(parser.parseOptionalKeyword("carry"))) {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (parseName(parser, name, "dimension"))
      return failure();
    auto *dim = llvm::find_if(dims, [&](Attribute d) { return nameOf(d) == name; });
    if (dim == dims.end())
      return parser.emitError(loc) << "carry in '" << name << "', which is not a dimension";
    carries.dims.push_back(dim - dims.begin());
    if (parseBuffers(parser, dims, Role::Carry, carries.incoming))
      return failure();
    bool hasValid = succeeded(parser.parseOptionalKeyword("valid"));
    carries.hasValid.push_back(hasValid);
    if (hasValid && parser.parseOperand(carries.valids.emplace_back()))
      return failure();
    bool hasOut = succeeded(parser.parseOptionalArrow());
    carries.hasOut.push_back(hasOut);
    if (hasOut && parseBuffers(parser, dims, Role::Carry, carries.outgoing))
      return failure();
  }
  return success();
}

void mdh::syntax::printCarries(OpAsmPrinter &p, BufferPrinter outgoing, BufferPrinter incoming,
                         ArrayRef<int64_t> carryDims, ArrayRef<int64_t> hasValid,
                         ArrayRef<int64_t> hasOut, OperandRange outs, OperandRange ins,
                         OperandRange valids) {
  size_t count = carryDims.size(), nextValid = 0, nextOut = 0;
  size_t outCount = llvm::count(hasOut, 1);
  ArrayAttr dims = incoming.dims;
  for (size_t c = 0; c < count; ++c) {
    size_t size = ins.size() / count;
    p.printNewline();
    p << "  carry " << (size_t(carryDims[c]) < dims.size() ? nameOf(dims[carryDims[c]]) : "?")
      << ' ';
    incoming.print(ins.slice(c * size, size), Role::Carry);
    if (c < hasValid.size() && hasValid[c] && nextValid < valids.size())
      p << " valid " << valids[nextValid++];
    if (c < hasOut.size() && hasOut[c]) {
      size_t outSize = outs.size() / outCount;
      p << " -> ";
      outgoing.print(outs.slice(outSize * nextOut++, outSize), Role::Carry);
    }
  }
}
