/* What a program needs that calls compiled functions under a sanitizer. */

#ifndef MDH_CALLER_H
#define MDH_CALLER_H

#include <stdint.h>

/* Memory for exactly so many elements of a type of the interface ("f32"): what the file holds, or
 * random numbers without one. What lies beyond it is the sanitizer's. */
void *caller_memory(int64_t elements, const char *type, const char *file);

/* Ends the program, as a call that is refused, unless it went well. */
void caller_check(int status, const char *function);

#endif
