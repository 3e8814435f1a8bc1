// The attributes of schedules, layouts and mappings: their text is taken as it stands and read in Rust.
#include "Syntax.h"

#include "mlir/CAPI/Support.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mdh::syntax;

using Reader = bool(MlirStringRef, void *, void (*)(void *, MlirStringRef, intptr_t));

// The text that an attribute keeps; null after an error in its place.
static StringAttr readText(DialectAsmParser &parser, StringRef text, Reader *read) {
  struct Said {
    std::string text;
    intptr_t offset = 0;
  } said;
  auto keep = [](void *data, MlirStringRef text, intptr_t offset) {
    *static_cast<Said *>(data) = {unwrap(text).str(), offset};
  };
  if (read(wrap(text), &said, keep))
    return parser.getBuilder().getStringAttr(said.text);
  parser.emitError(SMLoc::getFromPointer(text.data() + said.offset)) << said.text;
  return {};
}

Attribute mdh::syntax::readSchedule(DialectAsmParser &parser, StringRef text) {
  StringAttr kept = readText(parser, text, mdhRustSchedule);
  return kept ? mdh::ScheduleAttr::get(parser.getContext(), kept) : Attribute();
}

Attribute mdh::syntax::readLayout(DialectAsmParser &parser, StringRef text) {
  StringAttr kept = readText(parser, text, mdhRustLayout);
  return kept ? mdh::LayoutAttr::get(parser.getContext(), kept) : Attribute();
}

Attribute mdh::syntax::readMapping(DialectAsmParser &parser, StringRef text) {
  StringAttr kept = readText(parser, text, mdhRustMapping);
  return kept ? mdh::MappingAttr::get(parser.getContext(), kept) : Attribute();
}

// The dialect reads what is well written before this is asked.
Attribute mdh::ScheduleAttr::parse(AsmParser &parser, Type) {
  parser.emitError(parser.getCurrentLocation())
      << "expected '<', a schedule and '>' directly after 'schedule'";
  return {};
}

void mdh::ScheduleAttr::print(AsmPrinter &p) const { p << '<' << getText().getValue() << '>'; }

Attribute mdh::LayoutAttr::parse(AsmParser &parser, Type) {
  parser.emitError(parser.getCurrentLocation())
      << "expected '<', a layout and '>' directly after 'layout'";
  return {};
}

void mdh::LayoutAttr::print(AsmPrinter &p) const { p << '<' << getText().getValue() << '>'; }

Attribute mdh::MappingAttr::parse(AsmParser &parser, Type) {
  parser.emitError(parser.getCurrentLocation())
      << "expected '<', a mapping and '>' directly after 'mapping'";
  return {};
}

void mdh::MappingAttr::print(AsmPrinter &p) const { p << '<' << getText().getValue() << '>'; }

ParseResult mdh::parseLayoutText(OpAsmParser &parser, LayoutAttr &layout) {
  return parser.parseAttribute(layout);
}

void mdh::printLayoutText(OpAsmPrinter &p, Operation *, LayoutAttr layout) {
  p.printAttribute(layout);
}

ParseResult mdh::parseLayoutSizes(OpAsmParser &parser, SmallVectorImpl<Unresolved> &sizes,
                                  ArrayAttr &symbols) {
  SmallVector<Attribute> names;
  auto one = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseOperand(sizes.emplace_back()))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("with")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, one))
    return failure();
  symbols = parser.getBuilder().getArrayAttr(names);
  return success();
}

void mdh::printLayoutSizes(OpAsmPrinter &p, Operation *, OperandRange sizes, ArrayAttr symbols) {
  if (sizes.empty())
    return;
  p << " with(";
  llvm::interleaveComma(llvm::enumerate(sizes), p, [&](auto size) {
    if (size.index() < symbols.size())
      p.printKeywordOrString(nameOf(symbols[size.index()]));
    p << " = ";
    p.printOperand(size.value());
  });
  p << ')';
}

ParseResult mdh::syntax::parseSchedule(OpAsmParser &parser, OperationState &result) {
  mdh::ScheduleAttr schedule;
  if (failed(parser.parseOptionalKeyword("schedule")))
    return success();
  return failure(parser.parseLParen() ||
                 parser.parseAttribute(schedule, "schedule", result.attributes) ||
                 parser.parseRParen());
}

// The attribute's strings have no line ends.
void mdh::syntax::printScheduleText(OpAsmPrinter &p, mdh::ScheduleAttr schedule,
                                    StringRef indent) {
  auto [first, rest] = schedule.getText().getValue().split('\n');
  p << "#mdh.schedule<" << first;
  while (!rest.empty()) {
    std::tie(first, rest) = rest.split('\n');
    p.printNewline();
    p << indent << first;
  }
  p << '>';
}

void mdh::syntax::printSchedule(OpAsmPrinter &p, std::optional<mdh::ScheduleAttr> schedule) {
  if (!schedule)
    return;
  p.printNewline();
  p << "  schedule(";
  printScheduleText(p, *schedule, "  ");
  p << ')';
}

ParseResult mdh::syntax::parseThreads(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  auto pair = [&](StringRef attribute, auto parseBetween) -> ParseResult {
    std::string first, second;
    if (parser.parseLParen() || parseName(parser, first, "dimension") || parseBetween() ||
        parser.parseKeywordOrString(&second) || parser.parseRParen())
      return failure();
    result.addAttribute(attribute, builder.getStrArrayAttr({first, second}));
    return success();
  };
  auto share = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&word, {"cooperative", "asynchronous", "matrix", "lanes"})))
      return parser.emitError(loc) << "expected one of cooperative, asynchronous, matrix, lanes";
    if (result.attributes.get(word))
      return parser.emitError(loc) << "found '" << word << "' twice, expected it once";
    if (word == "matrix")
      return pair(word, [&] { return parser.parseComma(); });
    if (word == "lanes")
      return pair(word, [&] { return parser.parseEqual(); });
    result.addAttribute(word, builder.getUnitAttr());
    return success();
  };
  if (failed(parser.parseOptionalKeyword("threads")))
    return success();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, share);
}

void mdh::syntax::printThreads(OpAsmPrinter &p, mdh::ComputeOp op) {
  bool isFirst = true;
  auto share = [&](StringRef word) {
    if (isFirst) {
      p.printNewline();
      p << "  threads(";
    } else {
      p << ", ";
    }
    isFirst = false;
    p << word;
  };
  // Lengths are the verifier's to look at.
  auto pair = [&](StringRef word, std::optional<ArrayAttr> both, StringRef between) {
    if (!both)
      return;
    share(word);
    p << '(';
    llvm::interleave(
        *both, p, [&](Attribute one) { p.printKeywordOrString(nameOf(one)); }, between);
    p << ')';
  };
  if (op.getCooperative())
    share("cooperative");
  if (op.getAsynchronous())
    share("asynchronous");
  pair("matrix", op.getMatrix(), ", ");
  pair("lanes", op.getLanes(), " = ");
  if (!isFirst)
    p << ')';
}
