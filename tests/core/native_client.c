/* Calls the C interface of the simplifier (core/native/indexproof.h), for tests/core/test_native_library.py.
 *
 *   native_client IN OUT FILE [quick]   simplify each line of the file; IN and OUT are text or json, OUT also flat,
 *                                       which is then read again and printed as text, or derivation
 *   native_client stress FILE COUNT     simplify damaged maps in all formats, in two threads at a time
 *   native_client time FILE [quick]     print the median and the 95th percentile of the time of one call, in nanoseconds
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "indexproof.h"

static char** lines;
static size_t count;

static void fail(const char* what, const char* where) {
  fprintf(stderr, "%s: %s\n", what, where);
  exit(1);
}

static void read_lines(const char* name) {
  FILE* file = fopen(name, "rb");
  char* line = NULL;
  size_t room = 0;
  ssize_t n;
  if (!file) fail("no file", name);
  while ((n = getline(&line, &room, file)) > 0) {
    if (line[n - 1] == '\n') line[n - 1] = '\0';
    lines = realloc(lines, (count + 1) * sizeof *lines);
    lines[count++] = strdup(line);
  }
  free(line);
  fclose(file);
}

static void forget_lines(void) {
  while (count) free(lines[--count]);
  free(lines);
}

static int convert(const char* in, const char* out, const indexproof_options* options) {
  indexproof_context* context = indexproof_new();
  indexproof_format from = strcmp(in, "json") ? INDEXPROOF_TEXT : INDEXPROOF_JSON;
  indexproof_format to = !strcmp(out, "flat") ? INDEXPROOF_FLAT : strcmp(out, "text") ? INDEXPROOF_JSON : INDEXPROOF_TEXT;
  for (size_t i = 0; i < count; i++) {
    indexproof_output output;
    indexproof_status status = indexproof_simplify(context, from, lines[i], strlen(lines[i]), to, options, &output);
    if (status == INDEXPROOF_OK && to == INDEXPROOF_FLAT) {
      char* flat = malloc(output.size + 1);
      memcpy(flat, output.data, output.size);
      status = indexproof_simplify(context, to, flat, output.size, INDEXPROOF_TEXT, options, &output);
      free(flat);
    }
    if (status == INDEXPROOF_OK) printf("%.*s\n", (int)output.size, (const char*)output.data);
    else printf("! %d %zu %zu %s\n", (int)status, output.line, output.column, output.message);
  }
  indexproof_free(context);
  return 0;
}

/* ------------------------------------------------------------------------------------------------ damaged maps */
typedef struct {
  uint64_t state;
  long rounds;
  size_t said[5];
} Stress;

static size_t draw(Stress* s, size_t below) {
  s->state = s->state * 6364136223846793005u + 1442695040888963407u;
  return below ? (size_t)(s->state >> 33) % below : 0;
}

static size_t damage(Stress* s, char* data, size_t size, int words) {
  static const char characters[] = "()[]{},:+-*/%<>=d0123456789 s\"\\\n\xe2\x88\x88\xff";
  for (size_t n = 1 + draw(s, 3); n; n--) {
    size_t at = draw(s, size), length = draw(s, 12);
    if (words) {
      int64_t word = (int64_t)draw(s, 12) - 2;
      if (draw(s, 8) == 0) word = INT64_MIN + (int64_t)draw(s, 3);
      if (size >= 8) memcpy(data + at / 8 * 8, &word, 8);
      if (draw(s, 6) == 0) size -= draw(s, size < 30 ? size : 30);
      continue;
    }
    if (at + length > size) length = size - at;
    switch (draw(s, 4)) {
      case 0: /* other characters */
        for (size_t i = at; i < at + length; i++) data[i] = characters[draw(s, sizeof characters)];
        break;
      case 1: /* without a part */
        memmove(data + at, data + at + length, size - at - length);
        size -= length;
        break;
      case 2: /* a part twice */
        memmove(data + at + length, data + at, size - at);
        size += length;
        break;
      default: /* only the beginning */
        if (draw(s, 3) == 0) size = at;
        else if (at < size) data[at] = characters[draw(s, sizeof characters)];
    }
  }
  return size;
}

static void* stress(void* given) {
  Stress* s = given;
  indexproof_context* context = indexproof_new();
  indexproof_output output;
  for (long round = 0; round < s->rounds; round++) {
    const char* line = lines[draw(s, count)];
    indexproof_format form = (indexproof_format)draw(s, 3);
    indexproof_options options = {(int64_t)draw(s, 5), (int)draw(s, 2), (int)draw(s, 2), NULL, (int)draw(s, 2), 0};
    indexproof_status status =
        indexproof_simplify(context, INDEXPROOF_TEXT, line, strlen(line), form, &options, &output);
    if (status > INDEXPROOF_UNSUPPORTED || status == INDEXPROOF_MALFORMED) fail("refused", line);
    if (status == INDEXPROOF_UNSUPPORTED) {
      s->said[status]++;
      continue;
    }
    size_t size = output.size;
    char* data = malloc(size + 64);
    memcpy(data, output.data, size);
    size = damage(s, data, size, form == INDEXPROOF_FLAT);
    /* so that a look behind the end is noticed */
    char* exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    status = indexproof_simplify(context, form, exact, size, (indexproof_format)draw(s, 3), &options, &output);
    if (status > INDEXPROOF_UNSUPPORTED) fail("status", output.message);
    if ((status == INDEXPROOF_OK) != (output.data != NULL) || (status == INDEXPROOF_OK) != !*output.message) fail("output", line);
    if ((output.line != 0) != (status == INDEXPROOF_MALFORMED && form != INDEXPROOF_FLAT)) fail("place", output.message);
    s->said[status]++;
    free(data);
    free(exact);
  }
  indexproof_free(context);
  return NULL;
}

static int stress_all(long rounds) {
  Stress both[2] = {{1, rounds, {0}}, {2, rounds, {0}}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, stress, &both[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int status = 0; status < 3; status++) printf("%zu ", both[0].said[status] + both[1].said[status]);
  printf("\n");
  /* arguments that no caller may pass */
  indexproof_context* context = indexproof_new();
  indexproof_output output;
  indexproof_options wrong = {.division_weight = -1}, unknown = {.division = "div"}, explained = {.derivation = 1};
  if (indexproof_simplify(context, INDEXPROOF_TEXT, "", 0, INDEXPROOF_TEXT, &wrong, &output) != INDEXPROOF_MISUSE ||
      indexproof_simplify(context, INDEXPROOF_TEXT, "", 0, INDEXPROOF_TEXT, &unknown, &output) != INDEXPROOF_MISUSE ||
      indexproof_simplify(context, INDEXPROOF_TEXT, "", 0, INDEXPROOF_TEXT, &explained, &output) != INDEXPROOF_MISUSE ||
      indexproof_simplify(context, (indexproof_format)7, "", 0, INDEXPROOF_TEXT, NULL, &output) != INDEXPROOF_MISUSE ||
      indexproof_simplify(context, INDEXPROOF_TEXT, NULL, 1, INDEXPROOF_TEXT, NULL, &output) != INDEXPROOF_MISUSE ||
      indexproof_simplify(context, INDEXPROOF_TEXT, NULL, 0, INDEXPROOF_TEXT, NULL, &output) != INDEXPROOF_MALFORMED ||
      indexproof_simplify(NULL, INDEXPROOF_TEXT, "", 0, INDEXPROOF_TEXT, NULL, &output) != INDEXPROOF_MISUSE ||
      indexproof_simplify(context, INDEXPROOF_TEXT, "", 0, INDEXPROOF_TEXT, NULL, NULL) != INDEXPROOF_MISUSE)
    fail("misuse", "not noticed");
  indexproof_free(context);
  indexproof_free(NULL);
  return 0;
}

/* ------------------------------------------------------------------------------------------------ time */
static int ordered(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int measure(const indexproof_options* options) {
  enum { ROUNDS = 15 };
  double* best = malloc(count * sizeof *best);
  size_t n = 0;
  indexproof_context* context = indexproof_new();
  for (size_t i = 0; i < count; i++) {
    indexproof_output output;
    double least = 1e18;
    int ok = 1;
    for (int round = 0; round < ROUNDS && ok; round++) {
      struct timespec a, b;
      clock_gettime(CLOCK_MONOTONIC, &a);
      ok = !indexproof_simplify(context, INDEXPROOF_TEXT, lines[i], strlen(lines[i]), INDEXPROOF_TEXT, options, &output);
      clock_gettime(CLOCK_MONOTONIC, &b);
      double ns = 1e9 * (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec);
      if (ns < least) least = ns;
    }
    if (ok) best[n++] = least;
  }
  qsort(best, n, sizeof *best, ordered);
  printf("%zu of %zu maps: median %.0f ns, 95th percentile %.0f ns\n", n, count, n ? best[n / 2] : 0, n ? best[n * 95 / 100] : 0);
  indexproof_free(context);
  free(best);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) fail("usage", argv[0]);
  indexproof_options options = {.quick = !strcmp(argv[argc - 1], "quick"), .derivation = !strcmp(argv[2], "derivation")};
  int result = 1;
  read_lines(argv[argc > 3 && strcmp(argv[1], "stress") && strcmp(argv[1], "time") ? 3 : 2]);
  if (!strcmp(argv[1], "stress")) result = stress_all(atol(argv[3]));
  else if (!strcmp(argv[1], "time")) result = measure(&options);
  else result = convert(argv[1], argv[2], &options);
  forget_lines();
  return result;
}
