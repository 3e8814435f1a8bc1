/* A program in C that is linked with libmdh.so: it runs a pipeline on a copy, by MLIR's C interface. */

#include <stdio.h>
#include "mdh-c/Plugin.h"
#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"

static const char PROGRAM[] =
    "func.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) {\n"
    "  mdh.compute (i = 8) out_view(y = %y[i] : memref<8xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<8xf32>)\n"
    "  return\n"
    "}\n";

static void show(MlirStringRef text, void *data)
{
    (void)data;
    fwrite(text.data, 1, text.length, stdout);
}

int main(void)
{
    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    mlirRegisterAllDialects(registry);
    mlirRegisterAllPasses();
    mdhInsertDialect(registry);
    mdhRegisterPasses();
    MlirContext context = mlirContextCreateWithRegistry(registry, 0);
    MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(PROGRAM));
    MlirPassManager manager = mlirPassManagerCreate(context);
    MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
    MlirStringRef pipeline = mlirStringRefCreateFromCString("builtin.module(mdh-lower{target=cpu stage=loops asm=cpu})");
    if (mlirModuleIsNull(module) ||
        mlirLogicalResultIsFailure(mlirParsePassPipeline(passes, pipeline, show, NULL)) ||
        mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))))
        return 1;
    printf("mdh %s\n", mdhVersion());
    mlirOperationPrint(mlirModuleGetOperation(module), show, NULL);
    mlirPassManagerDestroy(manager);
    mlirModuleDestroy(module);
    mlirContextDestroy(context);
    mlirDialectRegistryDestroy(registry);
    return 0;
}
