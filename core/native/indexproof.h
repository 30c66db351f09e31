/* The simplifier for compilers: maps in, simplified maps out, without Python.
 *
 * Everything here is C; C++ has a wrapper below.  reports/native_library.md says how to build and use it.
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
  /* The input is no map; the message says why, and line and column where. */
  INDEXPROOF_MALFORMED = 1,
  /* A map that this library leaves to others: it needs more than 64 bits, or is nested too deeply. */
  INDEXPROOF_UNSUPPORTED = 2,
  INDEXPROOF_NO_MEMORY = 3,
  /* An argument that no caller may pass: an unknown format, a negative weight. */
  INDEXPROOF_MISUSE = 4
} indexproof_status;

typedef enum {
  /* Text as XLA prints it: `(d0, d1)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], ...`, in UTF-8. */
  INDEXPROOF_TEXT = 0,
  /* The JSON form of maps, in UTF-8. */
  INDEXPROOF_JSON = 1,
  /* Words of type int64_t in the order of the machine:
   *   the numbers of dimensions, ranges, runtime variables, nodes, results and constraints;
   *   for each variable its lower and its upper bound;
   *   for each node an operator and two operands, which are earlier nodes (see indexproof_operator);
   *   for each result its node; for each constraint its node, lower and upper bound.
   * The variables are called d0, d1, ..., s0, ..., rt0, ... */
  INDEXPROOF_FLAT = 2
} indexproof_format;

typedef enum {
  INDEXPROOF_CONSTANT = 0, /* the first operand is its value, the second is 0 */
  INDEXPROOF_VARIABLE = 1, /* the first operand is its number, of dimensions, ranges and runtime variables in a row */
  INDEXPROOF_ADD = 2,
  INDEXPROOF_MUL = 3, /* one factor is a constant */
  INDEXPROOF_FLOORDIV = 4,
  INDEXPROOF_MOD = 5,
  INDEXPROOF_CEILDIV = 6,
  INDEXPROOF_MIN = 7,
  INDEXPROOF_MAX = 8
} indexproof_operator;

/* All zero is the default. */
typedef struct {
  int64_t division_weight; /* how many other operations a division weighs; 0 for 3 */
  int quick;               /* write normal forms as they are, and not so that they cost least */
  int keep_points;         /* keep a variable that has only one value */
  const char* division;    /* how text spells the quotient: "floordiv" (also for NULL), "/" or "//" */
  int multiline;           /* text with one line for each variable and constraint */
  int derivation;          /* JSON with the steps that lead to the map, for `indexproof replay` to check */
} indexproof_options;

/* What a call gave; it belongs to the context, until the next call with it. */
typedef struct {
  const void* data; /* the simplified map; NULL after an error.  Text and JSON end with a null character. */
  size_t size;      /* in bytes, without that character */
  const char* message; /* of an error, otherwise empty */
  size_t line, column; /* the place of the error in text or JSON, from 1; 0 where there is none */
} indexproof_output;

/* The memory of calls.  Contexts are independent of each other; one serves one thread at a time. */
typedef struct indexproof_context indexproof_context;

/* A context, or NULL where there is no memory for it. */
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

/* A context that is freed with its scope. */
class Context {
 public:
  Context() : handle_(indexproof_new()) {}
  ~Context() { indexproof_free(handle_); }
  Context(Context&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Context& operator=(Context&& other) noexcept { std::swap(handle_, other.handle_); return *this; }

  /* Simplify a map; the views of the answer are valid until the next call. */
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
