// The custom assembly of the operations.
#include "Syntax.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mdh::syntax;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static size_t countDynamic(ArrayAttr origins, size_t begin, size_t count) {
  size_t dynamic = 0;
  for (size_t b = begin; b < begin + count && b < origins.size(); ++b)
    if (auto constants = dyn_cast<DenseI64ArrayAttr>(origins[b]))
      dynamic += llvm::count(constants.asArrayRef(), kDynamic);
  return dynamic;
}

static ParseResult resolve(OpAsmParser &parser, OperationState &result,
                           ArrayRef<const Buffers *> groups) {
  for (const Buffers *group : groups)
    for (auto [operand, type] : llvm::zip_equal(group->operands, group->types))
      if (parser.resolveOperand(operand, type, result.operands))
        return failure();
  return success();
}

template <typename T>
static SmallVector<T> concat(ArrayRef<const Buffers *> groups,
                             SmallVector<T> Buffers::*member) {
  SmallVector<T> all;
  for (const Buffers *group : groups)
    all.append(group->*member);
  return all;
}

static void addBufferAttributes(Builder &builder, OperationState &result,
                                ArrayRef<const Buffers *> groups) {
  result.addAttribute("names", builder.getArrayAttr(concat(groups, &Buffers::names)));
  result.addAttribute("maps", builder.getArrayAttr(concat(groups, &Buffers::maps)));
  result.addAttribute("static_origins",
                      builder.getArrayAttr(concat(groups, &Buffers::staticOrigins)));
}

static void addCarryAttributes(Builder &builder, OperationState &result, const Buffers &outs,
                               const Carries &carries) {
  result.addAttribute("components", builder.getDenseI64ArrayAttr(outs.components));
  result.addAttribute("carry_dims", builder.getDenseI64ArrayAttr(carries.dims));
  result.addAttribute("carry_valids", builder.getDenseI64ArrayAttr(carries.hasValid));
  result.addAttribute("carry_has_outs", builder.getDenseI64ArrayAttr(carries.hasOut));
}

static void addResultTypes(OperationState &result, ArrayRef<const Buffers *> groups) {
  for (const Buffers *group : groups)
    for (Type type : group->types)
      if (isa<RankedTensorType>(type))
        result.addTypes(type);
}

static void addSegments(Builder &builder, OperationState &result, ArrayRef<size_t> sizes) {
  SmallVector<int32_t> segments(sizes.begin(), sizes.end());
  result.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
}

static void printDiscardable(OpAsmPrinter &p, Operation *op) {
  p.printOptionalAttrDict(SmallVector<NamedAttribute>(op->getDiscardableAttrs()));
}

ParseResult mdh::CombineOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  StringRef visibility;
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword(&visibility, {"public", "private", "nested"})))
    result.addAttribute("sym_visibility", builder.getStringAttr(visibility));
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parseOperatorBody(parser, result, *result.addRegion()))
    return failure();
  return parser.parseOptionalAttrDict(result.attributes);
}

void mdh::CombineOp::print(OpAsmPrinter &p) {
  if (auto visibility = getSymVisibility())
    p << ' ' << *visibility;
  p << ' ';
  p.printSymbolName(getSymName());
  printOperatorBody(p, getCommutative(), getAssociative(), getNeutral(), getBody());
  printDiscardable(p, *this);
}

ParseResult mdh::InpViewOp::parse(OpAsmParser &parser, OperationState &result) {
  Domain domain;
  Buffers ins;
  Type type;
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  if (parseDomain(parser, domain) || parseBuffers(parser, domain.dims, Role::Input, ins) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      resolve(parser, result, {&ins}) ||
      parser.resolveOperands(domain.operands, index, result.operands) ||
      parser.resolveOperands(ins.origins, index, result.operands))
    return failure();
  result.addTypes(type);
  result.addAttribute("dims", builder.getArrayAttr(domain.dims));
  result.addAttribute("static_bounds", builder.getDenseI64ArrayAttr(domain.bounds));
  addBufferAttributes(builder, result, {&ins});
  result.addAttribute("pads", builder.getArrayAttr(ins.pads));
  addSegments(builder, result,
              {ins.operands.size(), domain.operands.size(), ins.origins.size()});
  return success();
}

void mdh::InpViewOp::print(OpAsmPrinter &p) {
  printDomain(p, getDims(), getStaticBounds(), getBounds());
  p << ' ';
  BufferPrinter{p, getDims(), getNames(), getMaps(), getStaticOrigins(), getPads(), {},
                getOrigins()}
      .print(getIns(), Role::Input);
  printDiscardable(p, *this);
  p << " : " << getResult().getType();
}

ParseResult mdh::HomOp::parse(OpAsmParser &parser, OperationState &result) {
  Scalar scalar;
  SmallVector<Attribute> combine;
  Unresolved source;
  Type sourceType, type;
  Region &region = *result.addRegion();
  SMLoc typeLoc;
  if (parser.parseLParen() || parseScalar(parser, scalar, region) || parser.parseComma() ||
      parseCombine(parser, combine) || parser.parseRParen() || parser.parseOperand(source) ||
      parseSchedule(parser, result) || parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.getCurrentLocation(&typeLoc) || parser.parseType(sourceType) ||
      parser.parseArrow() || parser.parseType(type) ||
      parser.resolveOperand(source, sourceType, result.operands))
    return failure();
  auto mda = dyn_cast<MdaType>(sourceType);
  if (!mda)
    return parser.emitError(typeLoc) << "expected an !mdh.mda type, found " << sourceType;
  result.addTypes(type);
  result.addAttribute("combine", parser.getBuilder().getArrayAttr(combine));
  return buildShortScalar(parser, scalar, mda.getComponents(), region);
}

void mdh::HomOp::print(OpAsmPrinter &p) {
  p << '(';
  printScalar(p, getScalar());
  p << ", ";
  printCombine(p, getCombine());
  p << ") " << getSource();
  printSchedule(p, getSchedule());
  printDiscardable(p, *this);
  p << " : " << getSource().getType() << " -> " << getResult().getType();
}

ParseResult mdh::OutViewOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> dims;
  Buffers outs;
  Carries carries;
  Unresolved source;
  Type type;
  Builder &builder = parser.getBuilder();
  auto parseDim = [&] {
    std::string name;
    ParseResult parsed = parseName(parser, name, "dimension");
    dims.push_back(builder.getStringAttr(name));
    return parsed;
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseDim) ||
      parser.parseOperand(source) || parser.parseArrow() ||
      parseBuffers(parser, dims, Role::Output, outs) || parseCarries(parser, dims, carries) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperand(source, type, result.operands))
    return failure();
  SmallVector<const Buffers *> groups = {&outs, &carries.outgoing, &carries.incoming};
  SmallVector<Unresolved> origins = concat(groups, &Buffers::origins);
  if (resolve(parser, result, groups) ||
      parser.resolveOperands(carries.valids, builder.getI1Type(), result.operands) ||
      parser.resolveOperands(origins, builder.getIndexType(), result.operands))
    return failure();
  result.addAttribute("dims", builder.getArrayAttr(dims));
  addBufferAttributes(builder, result, groups);
  addCarryAttributes(builder, result, outs, carries);
  addResultTypes(result, {&outs, &carries.outgoing});
  addSegments(builder, result,
              {1, outs.operands.size(), carries.outgoing.operands.size(),
               carries.incoming.operands.size(), carries.valids.size(), origins.size()});
  return success();
}

void mdh::OutViewOp::print(OpAsmPrinter &p) {
  p << " (";
  llvm::interleaveComma(getDims(), p, [&](Attribute dim) { p << nameOf(dim); });
  p << ") " << getSource() << " -> ";
  BufferPrinter buffers{p,  getDims(),       getNames(),   getMaps(), getStaticOrigins(),
                        {}, getComponents(), getOrigins()};
  buffers.print(getOuts(), Role::Output);
  size_t begin = getOuts().size(), out = getCarryOuts().size();
  BufferPrinter incoming = buffers;
  incoming.buffer = begin + out;
  incoming.origin = countDynamic(getStaticOrigins(), 0, begin + out);
  printCarries(p, buffers, incoming, getCarryDims(), getCarryValids(), getCarryHasOuts(),
               getCarryOuts(), getCarries(), getValids());
  printDiscardable(p, *this);
  p << " : " << getSource().getType();
}

ParseResult mdh::ComputeOp::parse(OpAsmParser &parser, OperationState &result) {
  Domain domain;
  Buffers ins, outs;
  Carries carries;
  Scalar scalar;
  SmallVector<Attribute> combine;
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  Region &region = *result.addRegion();
  if (parseDomain(parser, domain) || parser.parseKeyword("out_view") ||
      parseBuffers(parser, domain.dims, Role::Output, outs) || parser.parseKeyword("md_hom") ||
      parser.parseLParen() || parseScalar(parser, scalar, region) || parser.parseComma() ||
      parseCombine(parser, combine) || parser.parseRParen() || parser.parseKeyword("inp_view") ||
      parseBuffers(parser, domain.dims, Role::Input, ins))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("combine"))) {
    std::string label;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&label))
      return failure();
    if (llvm::none_of(combine, [&](Attribute attr) { return labelOf(attr) == label; }))
      return parser.emitError(loc) << "the operator '" << label
                                   << "' combines no dimension: expected pw(" << label
                                   << ") or ps(" << label << ") in md_hom";
    if (parseOperatorBody(parser, result, *result.addRegion()))
      return failure();
  }
  SmallVector<const Buffers *> groups = {&ins, &outs, &carries.outgoing, &carries.incoming};
  if (parseCarries(parser, domain.dims, carries))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("in_place")))
    result.addAttribute("in_place", builder.getUnitAttr());
  if (parseSchedule(parser, result) || parseThreads(parser, result) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      resolve(parser, result, groups))
    return failure();
  SmallVector<Unresolved> origins = concat(groups, &Buffers::origins);
  if (parser.resolveOperands(carries.valids, builder.getI1Type(), result.operands) ||
      parser.resolveOperands(domain.operands, index, result.operands) ||
      parser.resolveOperands(origins, index, result.operands))
    return failure();
  SmallVector<Type> arguments;
  for (auto [type, maps] : llvm::zip_equal(ins.types, ins.maps))
    arguments.append(cast<ArrayAttr>(maps).size(), getElementTypeOrSelf(type));
  if (buildShortScalar(parser, scalar, arguments, region))
    return failure();
  result.addAttribute("dims", builder.getArrayAttr(domain.dims));
  result.addAttribute("static_bounds", builder.getDenseI64ArrayAttr(domain.bounds));
  result.addAttribute("combine", builder.getArrayAttr(combine));
  result.addAttribute("pads", builder.getArrayAttr(ins.pads));
  addBufferAttributes(builder, result, groups);
  addCarryAttributes(builder, result, outs, carries);
  addResultTypes(result, {&outs, &carries.outgoing});
  addSegments(builder, result,
              {ins.operands.size(), outs.operands.size(), carries.outgoing.operands.size(),
               carries.incoming.operands.size(), carries.valids.size(), domain.operands.size(),
               origins.size()});
  return success();
}

void mdh::ComputeOp::print(OpAsmPrinter &p) {
  printDomain(p, getDims(), getStaticBounds(), getBounds());
  BufferPrinter buffers{p,         getDims(),       getNames(),  getMaps(), getStaticOrigins(),
                        getPads(), getComponents(), getOrigins()};
  size_t numIns = getIns().size(), numOuts = getOuts().size();
  auto at = [&](size_t buffer) {
    BufferPrinter moved = buffers;
    moved.buffer = buffer;
    moved.origin = countDynamic(getStaticOrigins(), 0, buffer);
    return moved;
  };
  p.printNewline();
  p << "  out_view";
  at(numIns).print(getOuts(), Role::Output);
  p.printNewline();
  p << "  md_hom(";
  printScalar(p, getScalar());
  p << ", ";
  printCombine(p, getCombine());
  p << ')';
  p.printNewline();
  p << "  inp_view";
  buffers.print(getIns(), Role::Input);
  if (!getCombiner().empty()) {
    StringRef label = "f";
    for (Attribute attr : getCombine())
      if (StringRef name = labelOf(attr); !name.empty())
        label = name;
    p.printNewline();
    p << "  combine ";
    printLabel(p, label);
    printOperatorBody(p, getCommutative(), getAssociative(), getNeutral(), getCombiner().front());
  }
  printCarries(p, at(numIns + numOuts), at(numIns + numOuts + getCarryOuts().size()),
               getCarryDims(), getCarryValids(), getCarryHasOuts(), getCarryOuts(), getCarries(),
               getValids());
  if (getInPlace()) {
    p.printNewline();
    p << "  in_place";
  }
  printSchedule(p, getSchedule());
  printThreads(p, *this);
  printDiscardable(p, *this);
}
