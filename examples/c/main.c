/* Calls what mdh has made of functions.mlir, on numbers whose results are known. */

#include <stdio.h>
#include <stdlib.h>

#include "functions.h"

enum { N = 512 };

static int failures;

/* Says what was found, and counts what is not as it should be. */
static void expect(int is_right, const char *what)
{
    printf("%s: %s\n", what, is_right ? "right" : "WRONG");
    failures += !is_right;
}

/* Ends the program unless a call went well. */
static void check(int status)
{
    if (status != MDH_DONE) {
        fprintf(stderr, "%s\n", mdh_error());
        exit(status);
    }
}

static void *memory(size_t bytes)
{
    void *found = malloc(bytes);
    if (!found)
        exit(MDH_NO_MEMORY);
    return found;
}

/* M[i, k] = i + k and v[k] = 1, of several sizes, by one function. */
static void any_size(int64_t rows, int64_t columns)
{
    float *M = memory(sizeof(float) * rows * columns);
    float *v = memory(sizeof(float) * columns), *w = memory(sizeof(float) * rows);
    int is_right = 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++)
            M[i * columns + k] = (float)(i + k);
    for (int64_t k = 0; k < columns; k++)
        v[k] = 1;
    check(matvec(M, rows, columns, v, columns, w, rows));
    for (int64_t i = 0; i < rows; i++)
        is_right &= w[i] == (float)(i * columns + columns * (columns - 1) / 2);
    expect(is_right, "matvec");
    free(M);
    free(v);
    free(w);
}

/* A[i, k] = i % 8 and B[k, j] = j % 8, on one thread and on all. */
static void threads(void)
{
    float *A = memory(sizeof(float) * N * N), *B = memory(sizeof(float) * N * N);
    float *C = memory(sizeof(float) * N * N);
    int64_t all = mdh_thread_count();
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            A[i * N + k] = (float)(i % 8);
            B[i * N + k] = (float)(k % 8);
        }
    for (int round = 0; round < 2; round++) {
        int is_right = 1;
        check(mdh_set_threads(round == 0 ? 1 : all));
        check(matmul(A, B, C));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                is_right &= C[i * N + j] == (float)(N * (i % 8) * (j % 8));
                C[i * N + j] = -1;
            }
        expect(is_right, round == 0 ? "matmul on one thread" : "matmul on all threads");
    }
    free(A);
    free(B);
    free(C);
}

/* x[i] = i: the sum and the largest of the numbers below 1000. */
static void two_results(void)
{
    double x[1000], sum, largest;
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    check(total(x, 1000, &sum, &largest));
    expect(sum == 499500 && largest == 999, "total");
}

/* 1.5 * 2, 1.5 * -4 and 1.5 * 0.5 in half precision, by their bits. */
static void half_precision(void)
{
    const mdh_f16 x[3] = {0x4000, 0xc400, 0x3800};
    mdh_f16 y[3];
    check(scale(0x3e00, x, 3, y, 3));
    expect(y[0] == 0x4200 && y[1] == 0xc600 && y[2] == 0x3a00, "scale");
}

/* What is wrong is a status and a message, not the end of the program. */
static void refused(int status)
{
    expect(status == MDH_FAILED, mdh_error());
}

static void wrong(void)
{
    float M[6] = {0}, v[3] = {0}, w[2];
    refused(matvec(M, 2, 3, v, 3, w, 1));
    refused(matvec(M, 2, 3, v, 2, w, 2));
    refused(matvec(NULL, 2, 3, v, 3, w, 2));
    /* What is only read may be given twice. */
    check(matvec(M, 2, 3, M, 3, w, 2));
}

int main(void)
{
    any_size(3, 5);
    any_size(100, 37);
    any_size(0, 4);
    threads();
    two_results();
    half_precision();
    wrong();
    return failures != 0;
}
