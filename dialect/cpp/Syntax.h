// The pieces of the custom assembly that several operations share: syntax only, every rule is
// checked by the verifier in Rust.
//
//   domain   ::= `(` (name `=` [bound `to`] bound [`step` bound] [`width` bound]),* `)`
//   buffer   ::= [name `=`] ssa-use access+ [`origin` `(` bound,* `)`] [`pad` `(` attr `)`] `:` type
//   access   ::= `[` affine-expr,* `]`
//   md_hom   ::= `(` scalar `,` `(` combine,* `)` `)`
//   scalar   ::= arith-name | `id` | `(` arguments `)` region
//   combine  ::= `cc` | (`pw` | `ps`) `(` (builtin,+ | symbol | label) `)`
//   carry    ::= `carry` name `(` buffer,* `)` [`valid` ssa-use] [`->` `(` buffer,* `)`]
//   schedule ::= `schedule` `(` `#mdh.schedule<` .. `>` `)`
//   threads  ::= `threads` `(` share,+ `)`
//   share    ::= `cooperative` | `asynchronous` | `matrix` `(` name `,` name `)`
//              | `lanes` `(` name `=` level `)`
#ifndef MDH_SYNTAX_H
#define MDH_SYNTAX_H

#include "Mdh.h"

#include "llvm/ADT/StringSet.h"

namespace mdh::syntax {
using namespace mlir;
using Unresolved = OpAsmParser::UnresolvedOperand;

// The value of a string attribute, also in IR that does not verify.
StringRef nameOf(Attribute attr);
ParseResult parseName(AsmParser &parser, std::string &name, StringRef what);

struct Domain {
  SmallVector<Attribute> dims;
  SmallVector<int64_t> bounds;
  SmallVector<Unresolved> operands;
};

ParseResult parseDomain(OpAsmParser &parser, Domain &domain);
void printDomain(OpAsmPrinter &p, ArrayAttr dims, ArrayRef<int64_t> bounds, OperandRange operands);

enum class Role { Input, Output, Carry };

struct Buffers {
  SmallVector<Unresolved> operands, origins;
  SmallVector<Type> types;
  SmallVector<Attribute> names, maps, staticOrigins, pads;
  SmallVector<int64_t> components;
  int64_t nextComponent = 0;
  llvm::StringSet<> taken;
};

ParseResult parseBuffers(OpAsmParser &parser, ArrayRef<Attribute> dims, Role role,
                         Buffers &buffers);

// Prints buffers one after the other from the attributes that all of them share.
struct BufferPrinter {
  OpAsmPrinter &p;
  ArrayAttr dims, names, maps, staticOrigins, pads;
  ArrayRef<int64_t> components;
  OperandRange origins;
  size_t buffer = 0, origin = 0, component = 0;
  int64_t nextComponent = 0;

  void print(OperandRange operands, Role role);
  void printOne(Value operand, Role role);
  void printOrigin(size_t b);
};

struct Carries {
  Buffers incoming, outgoing;
  SmallVector<Unresolved> valids;
  SmallVector<int64_t> dims, hasValid, hasOut;
};

ParseResult parseCarries(OpAsmParser &parser, ArrayRef<Attribute> dims, Carries &carries);

// The incoming and the outgoing buffers stand in different places of the operands, so that each
// has a printer of its own.
void printCarries(OpAsmPrinter &p, BufferPrinter outgoing, BufferPrinter incoming,
                  ArrayRef<int64_t> carryDims, ArrayRef<int64_t> hasValid,
                  ArrayRef<int64_t> hasOut, OperandRange outs, OperandRange ins,
                  OperandRange valids);

ParseResult parseCombine(OpAsmParser &parser, SmallVectorImpl<Attribute> &combine);
void printCombine(OpAsmPrinter &p, ArrayAttr combine);

// The label of the operator region that a combine attribute names; empty if it names none.
StringRef labelOf(Attribute combine);
// Quoted where it would read as something else.
void printLabel(AsmPrinter &p, StringRef label);

// Text that `scalar` was, until the types of its arguments are known.
struct Scalar {
  std::string shortName;
  SMLoc loc;
};

ParseResult parseScalar(OpAsmParser &parser, Scalar &scalar, Region &region);
ParseResult buildShortScalar(OpAsmParser &parser, const Scalar &scalar, TypeRange types,
                             Region &region);
void printScalar(OpAsmPrinter &p, Region &region);

// `commutative associative neutral(...) (...) { ... }`, the declarations in any order
ParseResult parseOperatorBody(OpAsmParser &parser, OperationState &result, Region &region);
void printOperatorBody(OpAsmPrinter &p, bool commutative, bool associative,
                       std::optional<ArrayAttr> neutral, Region &region);
// The attribute of the text of a schedule, a layout or a mapping; null after an error in its place.
Attribute readSchedule(DialectAsmParser &parser, StringRef text);
Attribute readLayout(DialectAsmParser &parser, StringRef text);
Attribute readMapping(DialectAsmParser &parser, StringRef text);
// On a line of its own; nothing where there is none.
ParseResult parseSchedule(OpAsmParser &parser, OperationState &result);
void printSchedule(OpAsmPrinter &p, std::optional<mdh::ScheduleAttr> schedule);
// Part of a computation that threads of a GPU do; on a line of its own, nothing where they do nothing.
ParseResult parseThreads(OpAsmParser &parser, OperationState &result);
void printThreads(OpAsmPrinter &p, mdh::ComputeOp op);
// As the attribute prints itself, but indented as the operation is.
void printScheduleText(OpAsmPrinter &p, mdh::ScheduleAttr schedule, StringRef indent);
} // namespace mdh::syntax

// Syntax that operations on layouts share:
//
//   layout ::= `#mdh.layout<` .. `>`
//   sizes  ::= [`with` `(` (symbol `=` ssa-use),+ `)`]
namespace mdh {
mlir::ParseResult parseLayoutText(mlir::OpAsmParser &parser, LayoutAttr &layout);
void printLayoutText(mlir::OpAsmPrinter &p, mlir::Operation *, LayoutAttr layout);
mlir::ParseResult
parseLayoutSizes(mlir::OpAsmParser &parser,
                 llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &sizes,
                 mlir::ArrayAttr &symbols);
void printLayoutSizes(mlir::OpAsmPrinter &p, mlir::Operation *, mlir::OperandRange sizes,
                      mlir::ArrayAttr symbols);
} // namespace mdh

#endif
