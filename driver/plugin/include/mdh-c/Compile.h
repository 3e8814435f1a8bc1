/*
 * The compiler in a program that is linked with libmdh.so: programs become functions of this process, which are called
 * with arrays. It needs neither MLIR nor its headers; mdh-c/Module.h has what programs with MLIR use beside it.
 *
 *     MdhFunction *matmul;
 *     if (mdhCompile(text, strlen(text), NULL, &matmul) != MDH_DONE)
 *         fprintf(stderr, "error: %s\n", mdhMessage());
 *     int64_t shape[] = {256, 256};
 *     MdhTensor tensors[] = {mdhTensor(A, MDH_F32, 2, shape), mdhTensor(B, MDH_F32, 2, shape),
 *                            mdhTensor(C, MDH_F32, 2, shape)};
 *     mdhCall(matmul, tensors, 3);
 *     mdhFunctionDestroy(matmul);
 *
 * Statuses. Functions that give an int give MDH_DONE, or what went wrong; mdhMessage says it in words. No function
 * ends the process because of what it is given, nor does a call because a check of the program fails. What ends it is
 * an endless recursion of the program, LLVM where it has no memory, and MLIR's reader where it crashes on bytecode that is
 * damaged.
 *
 * Ownership. The caller owns all memory that it passes, results included, and nothing of it is kept after a function
 * returns. A function (MdhFunction) is the caller's until mdhFunctionDestroy; texts and structures that are asked of it
 * are its own, and stay as long as it does.
 *
 * Threads. Every function may be called on any thread at any time, but for mdhFunctionDestroy, after which the function
 * is used by nobody. The compiler compiles one program at a time: others wait. Calls run at the same time: of those that
 * have parallel loops at a time one has the threads, the others do all their work themselves. In a child of fork calls
 * run on its own thread only; a fork while another thread compiles leaves a child that cannot compile, which is an error.
 *
 * Units. Extents and strides count elements, byte_offset bytes.
 */

#ifndef MDH_C_COMPILE_H
#define MDH_C_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mdh-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong, beside MDH_DONE, MDH_FAILED (the program or an argument is wrong, or the program fails for these
 * arguments) and MDH_NO_MEMORY, which mdh-c/Runtime.h has. */
enum {
    MDH_MISUSED = 2,   /* an argument is none that the interface takes, such as a null pointer */
    MDH_NO_DEVICE = 5, /* a GPU is not there, or fails */
    MDH_BUG = 70       /* a bug in mdh */
};

/* What went wrong in this thread's last call of a function of this header that did not give MDH_DONE; it stays until
 * the next one. It begins with the place, if the program's text has one, and not with "error:". (mdh_error is the same
 * for functions that mdh compile has made.) */
const char *mdhMessage(void);

/* The version of mdh, as in `mdh --version`. */
const char *mdhVersion(void);

/* Devices, by DLPack's numbers. */
enum {
    MDH_CPU = 1, /* this machine's processor */
    MDH_CUDA = 2 /* an NVIDIA GPU */
};

/* DLPack's DLDevice. */
typedef struct {
    int32_t type;   /* MDH_CPU or MDH_CUDA */
    int32_t number; /* of the GPU, from 0 */
} MdhDevice;

/* DLPack's DLDataType: a kind of numbers (0 integers, 1 unsigned ones, 2 floats, 4 bfloat, 6 truth values), and their
 * bits. Programs have integers without a sign, which take both kinds; truth values are bytes of 0 and 1. */
typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes; /* 1 */
} MdhType;

/* DLPack's DLTensor: a program that has its header may cast. A number is a tensor of rank 0 in the processor's memory. */
typedef struct {
    void *data;
    MdhDevice device;
    int32_t rank;
    MdhType type;
    int64_t *shape;
    int64_t *strides; /* NULL for elements in row-major order without gaps */
    uint64_t byte_offset;
} MdhTensor;

#define MDH_BOOL 6, 8
#define MDH_I8 0, 8
#define MDH_I16 0, 16
#define MDH_I32 0, 32
#define MDH_I64 0, 64
#define MDH_U8 1, 8
#define MDH_U16 1, 16
#define MDH_U32 1, 32
#define MDH_U64 1, 64
#define MDH_F16 2, 16
#define MDH_BF16 4, 16
#define MDH_F32 2, 32
#define MDH_F64 2, 64

/* A tensor in the processor's memory, in row-major order: mdhTensor(A, MDH_F32, 2, shape). The shape is not copied. */
static inline MdhTensor mdhTensor(void *data, uint8_t code, uint8_t bits, int32_t rank, int64_t *shape)
{
    MdhTensor tensor;
    tensor.data = data;
    tensor.device.type = MDH_CPU;
    tensor.device.number = 0;
    tensor.rank = rank;
    tensor.type.code = code;
    tensor.type.bits = bits;
    tensor.type.lanes = 1;
    tensor.shape = shape;
    tensor.strides = NULL;
    tensor.byte_offset = 0;
    return tensor;
}

/* The size of a dimension that a program leaves open, by the dimension's name. */
typedef struct {
    const char *dimension;
    int64_t size;
} MdhSize;

/* What is asked of a function that is compiled. mdhOptions() has the default of each. */
typedef struct {
    size_t bytes; /* the size of this structure */
    /* Stands for the program in messages; NULL is "program". A name that ends in .tdsl says that the program is in the
     * tensor language, any other one that it is MLIR. */
    const char *name;
    const char *entry;    /* the function; NULL is the only one, or the one that is not private */
    const char *schedule; /* its schedule: JSON, #mdh.schedule<..> or a transform script; NULL is the model's */
    const MdhSize *sizes; /* of all dimensions that the program leaves open, or none: code for these alone */
    size_t size_count;
    int32_t device;        /* what computes: MDH_CPU, which 0 is too, or MDH_CUDA */
    int32_t device_number; /* of the GPU, from 0 */
    bool arrays_on_device; /* tensors are in the GPU's memory; else they are copied there and back by each call */
    bool deterministic;    /* results do not depend on the number of cores, floats included */
    bool unchecked;        /* without checks at run time that views stay within their buffers */
    bool not_tuned;        /* leaves schedules alone that mdh tune has found for this program */
} MdhOptions;

static inline MdhOptions mdhOptions(void)
{
    MdhOptions options;
    options.bytes = sizeof options;
    options.name = options.entry = options.schedule = NULL;
    options.sizes = NULL;
    options.size_count = 0;
    options.device = MDH_CPU;
    options.device_number = 0;
    options.arrays_on_device = options.deterministic = options.unchecked = options.not_tuned = false;
    return options;
}

/* A function of this process. */
typedef struct MdhFunction MdhFunction;

/* Compiles a function of a program: so many bytes of text, or of MLIR's bytecode. Options may be NULL. On failure the
 * function is NULL, and the message has all mistakes of the program, each with its line. */
int mdhCompile(const char *program, size_t length, const MdhOptions *options, MdhFunction **function);

/* Compiles an einsum in NumPy's notation, such as "ik,kj->ij", of operands with the types and shapes of these tensors,
 * in row-major order; their data is not looked at. The operators that sum and multiply are named as by mdh einsum
 * ("add", "max", "logaddexp", ..) or are regions of MLIR; NULL is "add", and "mul". The function takes the operands,
 * and has one result. */
int mdhEinsum(const char *spec, const MdhTensor *operands, size_t count, const char *combine, const char *scalar,
              const MdhOptions *options, MdhFunction **function);

/* Opens a shared library that mdhFunctionSave, mdh compile --emit shared or Python's save has made, and takes a function
 * of it. The library stays in the process. */
int mdhOpen(const char *path, const char *name, MdhFunction **function);

/* Destroys a function, which nobody uses any more; does nothing with NULL. */
void mdhFunctionDestroy(MdhFunction *function);

/* The compiler's warnings, one or several lines each; "" if there are none. */
const char *mdhFunctionWarnings(const MdhFunction *function);

/* What a call does with a parameter. */
enum {
    MDH_READ = 0,    /* reads it: the same memory may be passed twice */
    MDH_WRITTEN = 1, /* writes all of it, whatever it was before */
    MDH_CHANGED = 2  /* reads it, then writes it or a part of it */
};

/* An extent or a stride that is the caller's. */
#define MDH_OPEN (-1)

/* A parameter of a function: an argument, or a result. */
typedef struct {
    const char *name;
    MdhType type; /* of integers, that with a sign; both are taken */
    int32_t access;
    int32_t is_scalar;      /* 1 for a number, always in the processor's memory */
    int32_t rank;           /* 0 for a number */
    const int64_t *shape;   /* each is a number, or MDH_OPEN */
    const int64_t *strides; /* likewise; NULL for elements in row-major order without gaps */
    int64_t offset;         /* of the first element behind the tensor's address, where there are strides */
} MdhParameter;

/* What a function's calls take: its arguments, and then its results. */
typedef struct {
    const char *name;
    size_t arguments;
    size_t results;
    const MdhParameter *parameters;
} MdhInterface;

const MdhInterface *mdhFunctionInterface(const MdhFunction *function);

/* Finds the shape of a result, by its number from 0, for these arguments: so many extents as its rank. A result of
 * which no extent is MDH_OPEN has the same for all. */
int mdhResultShape(const MdhFunction *function, const MdhTensor *arguments, size_t count, size_t result,
                   int64_t *shape);

/* Calls a function: a tensor for each argument, then for each result, of which the memory is the caller's. All is
 * checked before anything is written: elements and their types, extents, strides, memory that is written and overlaps
 * other memory. A check of the program that fails while it runs leaves results undefined. */
int mdhCall(const MdhFunction *function, const MdhTensor *tensors, size_t count);

/* The same for a function with arrays_on_device: its kernels are put into a stream of CUDA's (CUstream or cudaStream_t,
 * NULL the default one), and may run after the call has returned. */
int mdhCallOnStream(const MdhFunction *function, const MdhTensor *tensors, size_t count, void *stream);

/* Finds the schedules with which a function was compiled, those of the model included, as mdh schedule --emit json prints
 * them. It compiles the program once more up to there; later the same text is given. */
int mdhFunctionSchedule(const MdhFunction *function, const char **json);

/* Files of a function, as those of mdh compile --emit obj, header and shared. */
enum {
    MDH_OBJECT = 0,        /* an object file with a C function, which is linked with MDH::runtime */
    MDH_HEADER = 1,        /* the header of the C function */
    MDH_SHARED_LIBRARY = 2 /* both in a shared library; it needs a C compiler to link with (CC, cc, gcc or clang) */
};

/* Writes a file of a function that a processor computes, with its schedules. It is there as a whole, or not at all. */
int mdhFunctionSave(const MdhFunction *function, int kind, const char *path);

/* From now on parallel loops use so many threads, 1 to 1024, the caller's included. Before that it is the environment
 * variable MDH_THREADS that says how many, or the number of cores. */
int mdhSetThreads(int64_t threads);

/* How many threads a parallel loop uses. */
int64_t mdhThreadCount(void);

#ifdef __cplusplus
}
#endif

#endif
