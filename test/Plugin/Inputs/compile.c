/* A program in C that is linked with libmdh.so alone:
 *
 *   compile FOLDER    compiles programs, calls them, and writes a library into the folder
 *   compile           compiles for a GPU, and calls
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mdh-c/Compile.h"

/* w[i] = sum over k of M[i, k] * v[k] */
static const char MATVEC[] =
    "func.func @matvec(%M: tensor<?x?xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %rows = tensor.dim %M, %c0 : tensor<?x?xf32>\n"
    "  %columns = tensor.dim %M, %c1 : tensor<?x?xf32>\n"
    "  %init = tensor.empty(%rows) : tensor<?xf32>\n"
    "  %w = mdh.compute (i = %rows, k = %columns)\n"
    "    out_view(w = %init[i] : tensor<?xf32>) md_hom(mulf, (cc, pw(addf)))\n"
    "    inp_view(M = %M[i, k] : tensor<?x?xf32>, v = %v[k] : tensor<?xf32>)\n"
    "  return %w : tensor<?xf32>\n"
    "}\n";

/* The same in linalg, of fixed sizes and in memory of the caller. */
static const char LINALG[] =
    "func.func @matvec(%M: memref<2x3xf32>, %v: memref<3xf32>, %w: memref<2xf32>) {\n"
    "  linalg.matvec ins(%M, %v : memref<2x3xf32>, memref<3xf32>) outs(%w : memref<2xf32>)\n"
    "  return\n"
    "}\n";

/* And in the tensor language. */
static const char TENSOR[] = "var u : [2]\nvar v : [2 3]\nvar w : [3]\nu = (v # w) . [2 3]\n";

/* y[i] = a * x[i], and the sum of a number of its own. */
static const char SCALE[] =
    "func.func @scale(%a: i16, %x: memref<4xi16, strided<[?]>>, %y: memref<4xi16>) -> i16 {\n"
    "  mdh.compute (i = 4) out_view(y = %y[i] : memref<4xi16>)\n"
    "    md_hom(muli, (cc)) inp_view(a = %a[] : i16, x = %x[i] : memref<4xi16, strided<[?]>>)\n"
    "  %two = arith.constant 2 : i16\n"
    "  %twice = arith.muli %a, %two : i16\n"
    "  return %twice : i16\n"
    "}\n";

static float M[2 * 3] = {1, 2, 3, 4, 5, 6}, v[3] = {1, 10, 100}, w[3];
static int64_t two_three[] = {2, 3}, three[] = {3}, two[] = {2}, four[] = {4};

/* Ends the program unless a function has given the status that it should. */
static void expect(int wanted, int status)
{
    if (status == wanted)
        return;
    printf("found status %d, expected %d: %s\n", status, wanted, mdhMessage());
    exit(1);
}

static MdhFunction *compiled(const char *text, const MdhOptions *options)
{
    MdhFunction *function;
    expect(MDH_DONE, mdhCompile(text, strlen(text), options, &function));
    return function;
}

static void show_interface(const MdhFunction *function)
{
    const MdhInterface *interface = mdhFunctionInterface(function);
    printf("%s: %zu arguments, %zu results\n", interface->name, interface->arguments, interface->results);
    for (size_t i = 0; i < interface->arguments + interface->results; i++) {
        const MdhParameter *parameter = &interface->parameters[i];
        static const char *const ACCESS[] = {"read", "written", "changed"};
        printf("  %s: %s, type %d of %d bits, %s, shape", parameter->name, ACCESS[parameter->access],
               parameter->type.code, parameter->type.bits, parameter->is_scalar ? "a number" : "an array");
        for (int axis = 0; axis < parameter->rank; axis++)
            printf(" %d", (int)parameter->shape[axis]);
        for (int axis = 0; axis < parameter->rank && parameter->strides; axis++)
            printf(" stride %d", (int)parameter->strides[axis]);
        printf("\n");
    }
}

/* Calls a product of the matrix and the vector, and prints the result. */
static void call_matvec(const char *what, const MdhFunction *function)
{
    MdhTensor tensors[] = {mdhTensor(M, MDH_F32, 2, two_three), mdhTensor(v, MDH_F32, 1, three),
                           mdhTensor(w, MDH_F32, 1, two)};
    memset(w, 0, sizeof w);
    expect(MDH_DONE, mdhCall(function, tensors, 3));
    printf("%s: %g %g\n", what, w[0], w[1]);
}

static void programs(void)
{
    MdhFunction *function = compiled(MATVEC, NULL);
    show_interface(function);
    call_matvec("mdh", function);
    MdhTensor arguments[] = {mdhTensor(M, MDH_F32, 2, two_three), mdhTensor(v, MDH_F32, 1, three)};
    int64_t shape;
    expect(MDH_DONE, mdhResultShape(function, arguments, 2, 0, &shape));
    printf("a result of %d elements\n", (int)shape);
    mdhFunctionDestroy(function);

    MdhOptions options = mdhOptions();
    MdhSize sizes[] = {{"i", 2}, {"k", 3}};
    options.sizes = sizes;
    options.size_count = 2;
    options.deterministic = true;
    function = compiled(MATVEC, &options);
    show_interface(function);
    call_matvec("of these sizes", function);
    mdhFunctionDestroy(function);

    call_matvec("linalg", function = compiled(LINALG, NULL));
    mdhFunctionDestroy(function);

    options = mdhOptions();
    options.name = "product.tdsl";
    function = compiled(TENSOR, &options);
    printf("%s\n", mdhFunctionInterface(function)->name);
    mdhFunctionDestroy(function);
}

static void numbers(void)
{
    MdhFunction *function = compiled(SCALE, NULL);
    show_interface(function);
    int16_t a = -3, x[8] = {1, 0, 2, 0, 3, 0, 4, 0}, y[4], twice;
    int64_t every_second[] = {2};
    MdhTensor tensors[] = {mdhTensor(&a, MDH_I16, 0, NULL), mdhTensor(x, MDH_I16, 1, four),
                           mdhTensor(y, MDH_I16, 1, four), mdhTensor(&twice, MDH_I16, 0, NULL)};
    tensors[1].strides = every_second;
    expect(MDH_DONE, mdhCall(function, tensors, 4));
    printf("scale: %d %d %d %d, %d\n", y[0], y[1], y[2], y[3], twice);
    mdhFunctionDestroy(function);
}

static void einsum(void)
{
    MdhTensor tensors[] = {mdhTensor(M, MDH_F32, 2, two_three), mdhTensor(v, MDH_F32, 1, three),
                           mdhTensor(w, MDH_F32, 1, two)};
    MdhFunction *function;
    expect(MDH_DONE, mdhEinsum("ik,k->i", tensors, 2, NULL, NULL, NULL, &function));
    call_matvec("einsum", function);
    mdhFunctionDestroy(function);
    expect(MDH_DONE, mdhEinsum("ik,k->i", tensors, 2, "max", "add", NULL, &function));
    call_matvec("largest sum", function);
    mdhFunctionDestroy(function);
    expect(MDH_FAILED, mdhEinsum("ik,k->j", tensors, 2, NULL, NULL, NULL, &function));
    printf("einsum error: %s\n", mdhMessage());
}

static void schedules(const char *folder)
{
    MdhOptions options = mdhOptions();
    MdhFunction *function = compiled(MATVEC, &options);
    const char *json;
    expect(MDH_DONE, mdhFunctionSchedule(function, &json));
    printf("schedule: %s\n", json);
    options.schedule = json;
    options.sizes = NULL;
    MdhFunction *same = compiled(MATVEC, &options);
    call_matvec("with that schedule", same);
    mdhFunctionDestroy(same);
    options.schedule = "{\"levels\": 3}";
    expect(MDH_FAILED, mdhCompile(MATVEC, strlen(MATVEC), &options, &same));
    printf("schedule error: %s\n", mdhMessage());

    char path[1000];
    snprintf(path, sizeof path, "%s/libmatvec.so", folder);
    expect(MDH_DONE, mdhFunctionSave(function, MDH_SHARED_LIBRARY, path));
    mdhFunctionDestroy(function);
    expect(MDH_DONE, mdhOpen(path, "matvec", &function));
    call_matvec("opened", function);
    expect(MDH_MISUSED, mdhFunctionSchedule(function, &json));
    printf("opened error: %s\n", mdhMessage());
    mdhFunctionDestroy(function);
}

static void mistakes(void)
{
    static const char WRONG[] = "func.func @f(%x: memref<8xf32>) {\n  mdh.nothing %x\n  return\n}\n";
    MdhFunction *function;
    expect(MDH_FAILED, mdhCompile(WRONG, strlen(WRONG), NULL, &function));
    printf("compile error: %s, %s\n", mdhMessage(), function ? "a function" : "no function");
    expect(MDH_MISUSED, mdhCompile(NULL, 8, NULL, &function));
    printf("null error: %s\n", mdhMessage());

    function = compiled(MATVEC, NULL);
    MdhTensor tensors[] = {mdhTensor(M, MDH_F32, 2, two_three), mdhTensor(v, MDH_F32, 1, two),
                           mdhTensor(w, MDH_F32, 1, two)};
    expect(MDH_FAILED, mdhCall(function, tensors, 3));
    printf("call error: %s\n", mdhMessage());
    tensors[1] = mdhTensor(v, MDH_F64, 1, three);
    expect(MDH_FAILED, mdhCall(function, tensors, 3));
    printf("type error: %s\n", mdhMessage());
    tensors[1] = mdhTensor(M, MDH_F32, 1, three);
    tensors[2] = mdhTensor(M, MDH_F32, 1, two);
    expect(MDH_FAILED, mdhCall(function, tensors, 3));
    printf("overlap error: %s\n", mdhMessage());
    expect(MDH_MISUSED, mdhCall(function, tensors, 2));
    printf("count error: %s\n", mdhMessage());
    mdhFunctionDestroy(function);
}

static void gpu(void)
{
    MdhOptions options = mdhOptions();
    options.device = MDH_CUDA;
    MdhFunction *function = compiled(MATVEC, &options);
    call_matvec("on a GPU", function);
    mdhFunctionDestroy(function);
    options.arrays_on_device = true;
    function = compiled(MATVEC, &options);
    MdhTensor tensors[] = {mdhTensor(M, MDH_F32, 2, two_three), mdhTensor(v, MDH_F32, 1, three),
                           mdhTensor(w, MDH_F32, 1, two)};
    expect(MDH_FAILED, mdhCall(function, tensors, 3));
    printf("place error: %s\n", mdhMessage());
    mdhFunctionDestroy(function);
}

int main(int count, char **words)
{
    if (count < 2) {
        gpu();
        return 0;
    }
    expect(MDH_DONE, mdhSetThreads(2));
    printf("%d threads\n", (int)mdhThreadCount());
    programs();
    numbers();
    einsum();
    schedules(words[1]);
    mistakes();
    return 0;
}
