/*
 * The compiler in a program that has MLIR, too, and is linked with libMLIR: its modules are compiled, and computations
 * are built in them. Programs in C++ pass wrap(module) of mlir/CAPI/IR.h. mdh-c/Compile.h says what holds for all
 * functions.
 */

#ifndef MDH_C_MODULE_H
#define MDH_C_MODULE_H

#include "mdh-c/Compile.h"
#include "mdh-c/Plugin.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles a function of a module, which stays as it is: the compiler reads a copy of it in a context of its own, where
 * it has upstream's dialects and mdh's, and no other ones. Mistakes have the locations of the module. It registers
 * upstream's passes, once: a program that does so itself (mlirRegisterAllPasses) does it before. */
int mdhCompileModule(MlirModule module, const MdhOptions *options, MdhFunction **function);

/* A value with the name that it has in a text, without '%'. */
typedef struct {
    const char *name;
    MlirValue value;
} MdhValue;

/* Builds operations in a block: reads them from their text, in which names stand for values, verifies them, and puts
 * them before an operation of the block, or at its end if that is null. The types of the values need not be repeated
 * but where the operation's syntax has them. `last`, unless it is NULL, gets the last operation, whose results are
 * those of the computation.
 *
 *     MdhValue values[] = {{"A", a}, {"B", b}, {"C", c}};
 *     mdhBuild(block, end,
 *              "mdh.compute (i = 256, j = 256, k = 256)\n"
 *              "  out_view(C = %C[i, j] : memref<256x256xf32>)\n"
 *              "  md_hom(mulf, (cc, cc, pw(addf)))\n"
 *              "  inp_view(A = %A[i, k] : memref<256x256xf32>, B = %B[k, j] : memref<256x256xf32>)",
 *              values, 3, NULL);
 *
 * That is how a program builds a computation: an operation of the dialect has parts that have to fit each other
 * (dimensions, views, operators), which the text states and its verifier checks. The block is in an operation whose
 * context has the dialect (mdhInsertDialect). On failure nothing is put there, and the message has the mistakes with
 * their lines in the text; handlers of the context do not see them. */
int mdhBuild(MlirBlock block, MlirOperation before, const char *text, const MdhValue *values, size_t count,
             MlirOperation *last);

#ifdef __cplusplus
}
#endif

#endif
