#include <stdbool.h>
#include <stdint.h>

#ifndef MDH_RUNTIME_DECLARATIONS
#define MDH_RUNTIME_DECLARATIONS

/*
 * Each function gives a status: MDH_DONE, or what went wrong. It is found out before anything is
 * written if an argument is wrong: a null or misaligned pointer, a negative extent, an extent of a
 * result that does not follow from the others, a negative stride or one that leads beyond all
 * memory, elements that are written and share memory with each other or with anything else.
 * Checks that the program makes while it runs (an index beyond a buffer, a division by zero) are a
 * status too; what is written then is undefined. Nothing ends the process, but for an endless
 * recursion.
 *
 * Elements lie in row-major order without gaps unless it is said otherwise; strides count elements.
 * Pointers to nothing may be null where an extent is 0.
 *
 * Functions may be called from any threads at the same time. Parallel loops run on threads that
 * the first of them starts and that stay; calls that meet there run on their own thread alone.
 */
enum {
    MDH_DONE = 0,      /* the results are there */
    MDH_FAILED = 1,    /* wrong arguments, or the program fails for them */
    MDH_NO_MEMORY = 4  /* memory for temporaries is not there */
};

typedef uint16_t mdh_f16;  /* the bits of an IEEE half precision number */
typedef uint16_t mdh_bf16; /* the bits of a bfloat16: the upper half of a float's */

#if defined(__cplusplus) || defined(__GNUC__)
#define MDH_RESTRICT __restrict
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define MDH_RESTRICT restrict
#else
#define MDH_RESTRICT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong in this thread's last call that did not give MDH_DONE; it stays until the next. */
const char *mdh_error(void);

/* From now on parallel loops use so many threads, 1 to 1024, the caller's included. Before that it
 * is the environment variable MDH_THREADS that says how many, or the number of cores. */
int mdh_set_threads(int64_t threads);

/* How many threads a parallel loop uses. */
int64_t mdh_thread_count(void);

#ifdef __cplusplus
}
#endif

#endif
