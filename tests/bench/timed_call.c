// A call of the library and the processor time that it takes, without what it costs Python to make the call.
#include <time.h>

#include "indexproof.h"

typedef indexproof_status simplify(indexproof_context*, indexproof_format, const void*, size_t, indexproof_format,
                                   const indexproof_options*, indexproof_output*);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

int timed_call(simplify* call, indexproof_context* context, const void* buffer, size_t size, const indexproof_options* options,
               indexproof_output* output, double* seconds) {
  double start = now();
  indexproof_status status = call(context, INDEXPROOF_FLAT, buffer, size, INDEXPROOF_FLAT, options, output);
  *seconds = now() - start;
  return status;
}
