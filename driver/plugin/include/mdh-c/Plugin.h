/*
 * The dialect and the passes of mdh in a program that is linked with libmdh.so and with libMLIR.
 *
 *     MlirDialectRegistry registry = mlirDialectRegistryCreate();
 *     mdhInsertDialect(registry);      // before a context is made of the registry
 *     mdhRegisterPasses();             // once in a process
 *
 * Programs in C++ pass wrap(&registry) of mlir/CAPI/IR.h. What else a program registers is in docs/plugin.md, "In
 * a program of one's own". Pipelines are asked for by name (mlirParsePassPipeline, mlir::parsePassPipeline);
 * docs/langref.md lists them.
 *
 * A program that is not linked with the library loads it: mlir::DialectPlugin::load, mlir::PassPlugin::load.
 */

#ifndef MDH_C_PLUGIN_H
#define MDH_C_PLUGIN_H

#include <stdint.h>

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a plugin tells of itself: mlir::DialectPluginLibraryInfo. */
typedef struct {
    uint32_t api_version;
    const char *name;
    const char *version;
    void (*insert)(void *registry);
} MdhDialectInfo;

/* mlir::PassPluginLibraryInfo. */
typedef struct {
    uint32_t api_version;
    const char *name;
    const char *version;
    void (*insert)(void);
} MdhPassInfo;

/* The library's two entry points. They have names of their own here, because MLIR's headers declare those
 * that a plugin must have, as weak symbols of other types. */
MdhDialectInfo mdhDialectInfo(void) __asm__("mlirGetDialectPluginInfo");
MdhPassInfo mdhPassInfo(void) __asm__("mlirGetPassPluginInfo");

/* Puts the dialect, its interfaces and the operations of its transform scripts into a registry. */
static inline void mdhInsertDialect(MlirDialectRegistry registry) { mdhDialectInfo().insert(registry.ptr); }

/* Registers all passes and pipelines under their names. */
static inline void mdhRegisterPasses(void) { mdhPassInfo().insert(); }

/* The version of mdh, as in `mdh --version`. */
const char *mdhVersion(void);

#ifdef __cplusplus
}
#endif

#endif
