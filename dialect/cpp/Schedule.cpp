// The schedule's attribute: its text is taken as it stands and read in Rust.
#include "Syntax.h"

#include "mlir/CAPI/Support.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mdh::syntax;

Attribute mdh::syntax::readSchedule(DialectAsmParser &parser, StringRef text) {
  struct Said {
    std::string text;
    intptr_t offset = 0;
  } said;
  auto keep = [](void *data, MlirStringRef text, intptr_t offset) {
    *static_cast<Said *>(data) = {unwrap(text).str(), offset};
  };
  if (mdhRustSchedule(wrap(text), &said, keep))
    return mdh::ScheduleAttr::get(parser.getContext(),
                                  parser.getBuilder().getStringAttr(said.text));
  parser.emitError(SMLoc::getFromPointer(text.data() + said.offset)) << said.text;
  return {};
}

// The dialect reads what is well written before this is asked.
Attribute mdh::ScheduleAttr::parse(AsmParser &parser, Type) {
  parser.emitError(parser.getCurrentLocation())
      << "expected '<', a schedule and '>' directly after 'schedule'";
  return {};
}

void mdh::ScheduleAttr::print(AsmPrinter &p) const { p << '<' << getText().getValue() << '>'; }

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
