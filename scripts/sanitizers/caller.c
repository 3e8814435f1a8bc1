/* Memory for calls under a sanitizer, and parallel loops whose order a sanitizer sees.
 *
 * libmdhrt is compiled by a stable rustc, which has no sanitizers: nobody would tell the thread
 * sanitizer that a loop's hand-off orders what was written before it. So the linker gives compiled
 * code the loops below instead (--wrap), on threads that are begun and joined. The parts run one
 * after the other, by turns that the sanitizer does not see, so that no order is known to it but
 * that of the loop's begin and end: it reports a race each time, also one that threads seldom lose.
 * They keep what a body may rely on (runtime/mdhrt/src/pool.rs): parts begin in order, and a loop in a loop
 * runs here. */

#include "caller.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, REFUSED = 3, BROKEN = 4 };

static void give_up(const char *what, const char *of)
{
    fprintf(stderr, "%s: %s\n", what, of);
    exit(BROKEN);
}

static uint64_t random_bits(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

/* Small numbers: an integer may be an index, and a sum of them should not overflow. */
static void random_element(char *to, const char *type)
{
    const uint64_t bits = random_bits();
    const uint16_t halves[4] = {0x3c00, 0xbc00, 0x3800, 0x4000}, brains[4] = {0x3f80, 0xbf80, 0x3f00, 0x4000};
    const double number = (double)bits / (1u << 30) - 1;
    const float single = (float)number;
    const int64_t integer = (int64_t)(bits % 8);
    if (!strcmp(type, "i1"))
        *to = (char)(bits & 1);
    else if (!strcmp(type, "f16"))
        memcpy(to, &halves[bits % 4], 2);
    else if (!strcmp(type, "bf16"))
        memcpy(to, &brains[bits % 4], 2);
    else if (!strcmp(type, "f32"))
        memcpy(to, &single, 4);
    else if (!strcmp(type, "f64"))
        memcpy(to, &number, 8);
    else /* The lowest bytes come first. */
        memcpy(to, &integer, strtoul(type + 1, NULL, 10) / 8);
}

void *caller_memory(int64_t elements, const char *type, const char *file)
{
    const size_t bits = strtoul(type + strcspn(type, "0123456789"), NULL, 10);
    const size_t size = bits < 8 ? 1 : bits / 8, bytes = size * (size_t)elements;
    char *memory = malloc(bytes);
    if (!memory)
        give_up("there is no memory", type);
    if (!file) {
        for (size_t n = 0; n < bytes; n += size)
            random_element(memory + n, type);
        return memory;
    }
    FILE *from = fopen(file, "rb");
    if (!from || fread(memory, 1, bytes, from) != bytes || fclose(from))
        give_up("is not to be read", file);
    return memory;
}

const char *mdh_error(void);

void caller_check(int status, const char *function)
{
    if (status) {
        fprintf(stderr, "%s refuses: %s\n", function, mdh_error());
        exit(REFUSED);
    }
}

typedef void (*body_type)(void *context, int64_t part);

struct loop {
    body_type body;
    void *context;
    int64_t parts, threads;
    /* The part that runs now. */
    int64_t turn;
};

struct worker {
    struct loop *loop;
    int64_t number;
};

static _Thread_local int in_body;

__attribute__((disable_sanitizer_instrumentation, noinline)) static void await(struct loop *loop, int64_t part)
{
    while (__atomic_load_n(&loop->turn, __ATOMIC_ACQUIRE) != part)
        sched_yield();
}

__attribute__((disable_sanitizer_instrumentation, noinline)) static void end(struct loop *loop, int64_t part)
{
    __atomic_store_n(&loop->turn, part + 1, __ATOMIC_RELEASE);
}

static void *work(void *of)
{
    const struct worker *worker = of;
    struct loop *loop = worker->loop;
    const int before = in_body;
    in_body = 1;
    for (int64_t part = worker->number; part < loop->parts; part += loop->threads) {
        await(loop, part);
        loop->body(loop->context, part);
        end(loop, part);
    }
    in_body = before;
    return NULL;
}

int64_t __wrap_mdh_thread_count(void)
{
    return in_body ? 1 : THREADS;
}

void __wrap_mdh_parallel_for(body_type body, void *context, int64_t parts)
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    struct loop loop = {body, context, parts, in_body ? 1 : THREADS, 0};
    for (int n = 0; n < loop.threads; n++)
        workers[n] = (struct worker){&loop, n};
    for (int n = 1; n < loop.threads; n++)
        if (pthread_create(&threads[n], NULL, work, &workers[n]))
            give_up("is not begun", "a thread");
    work(&workers[0]);
    for (int n = 1; n < loop.threads; n++)
        pthread_join(threads[n], NULL);
}
