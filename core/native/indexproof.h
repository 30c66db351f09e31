/* The simplifier as a library for compilers, without Python: it reads a map and writes the simplified map.
 *
 * The interface is C, with a wrapper for C++ below.  reports/native_library.md explains how to build and use it.
 */
#ifndef INDEXPROOF_H
#define INDEXPROOF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  INDEXPROOF_OK = 0,
  /* The input is no map; the message gives the reason, line and column give the position. */
  INDEXPROOF_MALFORMED = 1,
  /* The map is not supported: for instance, it needs more than 64 bits or is nested too deeply. */
  INDEXPROOF_UNSUPPORTED = 2,
  INDEXPROOF_NO_MEMORY = 3,
  /* An invalid argument, such as an unknown format or a negative weight. */
  INDEXPROOF_MISUSE = 4
} indexproof_status;

typedef enum {
  /* Text as XLA prints it: `(d0, d1)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], ...`, in UTF-8. */
  INDEXPROOF_TEXT = 0,
  /* The JSON form of maps, in UTF-8. */
  INDEXPROOF_JSON = 1,
  /* Words of type int64_t in native byte order:
   *   the numbers of dimensions, ranges, runtime variables, nodes, results and constraints;
   *   for each variable its lower and its upper bound;
   *   for each node an operator and two operands, which are earlier nodes (see indexproof_operator);
   *   for each result its node; for each constraint its node, lower and upper bound.
   * The variables are called d0, d1, ..., s0, ..., rt0, ... */
  INDEXPROOF_FLAT = 2
} indexproof_format;

typedef enum {
  INDEXPROOF_CONSTANT = 0, /* the first operand is its value, the second is 0 */
  INDEXPROOF_VARIABLE = 1, /* the first operand is its index among dimensions, ranges and runtime variables, in this order */
  INDEXPROOF_ADD = 2,
  INDEXPROOF_MUL = 3, /* one factor is a constant */
  INDEXPROOF_FLOORDIV = 4,
  INDEXPROOF_MOD = 5,
  INDEXPROOF_CEILDIV = 6,
  INDEXPROOF_MIN = 7,
  INDEXPROOF_MAX = 8
} indexproof_operator;

/* Options; all zero is the default. */
typedef struct {
  int64_t division_weight; /* the weight of a division, in other operations; 0 means 3 */
  int quick;               /* return normal forms without minimising their cost */
  int keep_points;         /* keep variables that have only one value */
  const char* division;    /* the operator of quotients in text: "floordiv" (also for NULL), "/" or "//" */
  int multiline;           /* text with one line for each variable and constraint */
  int derivation;          /* JSON with the steps of the simplification, to be checked by `indexproof replay` */
} indexproof_options;

/* The result of a call.  The context owns its memory, which is valid until the next call with that context. */
typedef struct {
  const void* data; /* the simplified map; NULL after an error.  Text and JSON end with a null character. */
  size_t size;      /* in bytes, without the null character */
  const char* message; /* the error message, otherwise empty */
  size_t line, column; /* the position of the error in text or JSON, from 1; 0 if unknown */
} indexproof_output;

/* The memory of calls.  Contexts are independent; each may be used by only one thread at a time. */
typedef struct indexproof_context indexproof_context;

/* Return a new context, or NULL if memory is exhausted. */
indexproof_context* indexproof_new(void);
void indexproof_free(indexproof_context* context);

/* Simplify the map in `data`.  `options` may be NULL. */
indexproof_status indexproof_simplify(indexproof_context* context, indexproof_format in, const void* data, size_t size,
                                      indexproof_format out, const indexproof_options* options, indexproof_output* output);

#ifdef __cplusplus
}

#include <string_view>
#include <utility>

namespace indexproof {

/* A context that is freed at the end of its scope. */
class Context {
 public:
  Context() : handle_(indexproof_new()) {}
  ~Context() { indexproof_free(handle_); }
  Context(Context&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Context& operator=(Context&& other) noexcept { std::swap(handle_, other.handle_); return *this; }

  /* Simplify a map; the views of the result are valid until the next call. */
  indexproof_status simplify(std::string_view map, const indexproof_options& options = {},
                             indexproof_format in = INDEXPROOF_TEXT, indexproof_format out = INDEXPROOF_TEXT) {
    return indexproof_simplify(handle_, in, map.data(), map.size(), out, &options, &output_);
  }
  std::string_view data() const { return {static_cast<const char*>(output_.data), output_.size}; }
  const indexproof_output& output() const { return output_; }

 private:
  indexproof_context* handle_;
  indexproof_output output_{};
};

}  // namespace indexproof
#endif
#endif
