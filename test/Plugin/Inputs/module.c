/* A program in C with MLIR: it builds a computation in a function of its own, compiles the module and calls it. */

#include <stdio.h>
#include "mdh-c/Module.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/RegisterEverything.h"

static const char EMPTY[] =
    "func.func @shift(%x: memref<8xf32>, %y: memref<8xf32>, %c: f32) {\n"
    "  return\n"
    "}\n";

/* Builds y[i] = x[i] + c at the end of a block; x, y and c are the block's arguments. */
static int build(MlirBlock block, size_t count, MlirOperation *last)
{
    MdhValue values[] = {{"from", mlirBlockGetArgument(block, 0)},
                         {"to", mlirBlockGetArgument(block, 1)},
                         {"by", mlirBlockGetArgument(block, 2)}};
    return mdhBuild(block, mlirBlockGetTerminator(block),
                    "mdh.compute (i = 8)\n"
                    "  out_view(y = %to[i] : memref<8xf32>)\n"
                    "  md_hom(addf, (cc))\n"
                    "  inp_view(x = %from[i] : memref<8xf32>, c = %by[] : f32)\n",
                    values, count, last);
}

static void show(MlirStringRef text, void *data)
{
    (void)data;
    fwrite(text.data, 1, text.length, stdout);
}

static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *data)
{
    (void)diagnostic, (void)data;
    printf("a handler of the host's\n");
    return mlirLogicalResultSuccess();
}

int main(void)
{
    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    mlirRegisterAllDialects(registry);
    mdhInsertDialect(registry);
    MlirContext context = mlirContextCreateWithRegistry(registry, 0);
    mlirContextAttachDiagnosticHandler(context, handle, NULL, NULL);
    MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(EMPTY));
    MlirOperation function = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    MlirOperation last;
    if (mdhBuild(block, mlirBlockGetTerminator(block), "mdh.compute (i = 9)\n  nothing", NULL, 0, NULL) != MDH_DONE)
        printf("build error: %s\n", mdhMessage());
    if (build(block, 2, NULL) != MDH_DONE)
        printf("value error: %s\n", mdhMessage());
    if (build(block, 3, &last) != MDH_DONE) {
        printf("found an error: %s\n", mdhMessage());
        return 1;
    }
    mlirOperationPrint(mlirModuleGetOperation(module), show, NULL);
    printf("\n%s\n", mlirOperationVerify(mlirModuleGetOperation(module)) ? "verified" : "not verified");
    printf("%d results\n", (int)mlirOperationGetNumResults(last));

    MdhFunction *shift;
    if (mdhCompileModule(module, NULL, &shift) != MDH_DONE) {
        printf("found an error: %s\n", mdhMessage());
        return 1;
    }
    mlirModuleDestroy(module);
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], c = 0.5f;
    int64_t eight[] = {8};
    MdhTensor tensors[] = {mdhTensor(x, MDH_F32, 1, eight), mdhTensor(y, MDH_F32, 1, eight),
                           mdhTensor(&c, MDH_F32, 0, NULL)};
    if (mdhCall(shift, tensors, 3) != MDH_DONE) {
        printf("found an error: %s\n", mdhMessage());
        return 1;
    }
    printf("shift: %g %g %g .. %g\n", y[0], y[1], y[2], y[7]);
    mdhFunctionDestroy(shift);
    mlirContextDestroy(context);
    mlirDialectRegistryDestroy(registry);
    return 0;
}
