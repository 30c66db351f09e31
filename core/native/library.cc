// The C interface of the simplifier: each call uses one arena, and no exception leaves it.

// A shared library exports only the declarations of the header.
#pragma GCC visibility push(default)
#include "indexproof.h"
#pragma GCC visibility pop

#include <new>

#include "document.h"

using namespace indexproof;

struct indexproof_context {
  Arena memory{};
  std::string out, message;
  ~indexproof_context() { memory.release(); }
};

namespace {

// During a call the arena of the context replaces that of the thread.
struct Call {
  explicit Call(Arena& memory) : of_context(memory), of_thread(arena) { arena = memory; }
  ~Call() {
    reset();
    of_context = arena;
    arena = of_thread;
  }
  Arena& of_context;
  Arena of_thread;
};

// Set line and column, which count from one; columns count characters.
void locate(std::string_view text, std::size_t at, indexproof_output& output) {
  auto before = text.substr(0, at);
  output.line = 1 + std::count(before.begin(), before.end(), '\n');
  before.remove_prefix(before.rfind('\n') + 1);
  output.column = 1 + std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xc0) != 0x80; });
}

indexproof_status simplified(indexproof_context& context, indexproof_format in, const void* data, std::size_t size,
                             indexproof_format out, const indexproof_options& given, indexproof_output& output) {
  std::string_view text(static_cast<const char*>(data), size), division = given.division ? given.division : "floordiv";
  bool spelled = division == "floordiv" || division == "/" || division == "//";
  if (in < INDEXPROOF_TEXT || in > INDEXPROOF_FLAT || out < INDEXPROOF_TEXT || out > INDEXPROOF_FLAT || !spelled ||
      given.division_weight < 0 || (!data && size) || (given.derivation && out != INDEXPROOF_JSON)) {
    output.message = "an argument has a value that it cannot have";
    return INDEXPROOF_MISUSE;
  }
  context.out.clear();
  Call call(context.memory);
  try {
    auto m = in == INDEXPROOF_TEXT   ? library::TextReader(text).map()
             : in == INDEXPROOF_JSON ? library::JsonReader(text).map()
                                     : library::FlatReader(text).map();
    auto before = m;
    Trace* trace = given.derivation ? make<Trace>() : nullptr;
    m.simplify(given.division_weight ? given.division_weight : 3, given.quick, given.keep_points, trace);
    if (trace) library::TracePrinter(before, m, *trace, context.out);
    else if (out == INDEXPROOF_TEXT) library::TextPrinter(m, division, given.multiline, context.out);
    else if (out == INDEXPROOF_JSON) library::JsonPrinter(m, context.out);
    else library::write_flat(m, context.out);
  } catch (library::Malformed& error) {
    if (error.at != std::string_view::npos) locate(text, error.at, output);
    context.message = std::move(error.message);
    output.message = context.message.c_str();
    return INDEXPROOF_MALFORMED;
  } catch (Fallback&) {
    output.message = "numbers beyond 64 bits, deep nesting and sources of runtime variables are left to Python";
    return INDEXPROOF_UNSUPPORTED;
  } catch (Excess&) {
    output.message = "normal forms are far larger than the map";
    return INDEXPROOF_UNSUPPORTED;
  }
  output.data = context.out.data();
  output.size = context.out.size();
  return INDEXPROOF_OK;
}

}  // namespace

extern "C" {

indexproof_context* indexproof_new(void) { return new (std::nothrow) indexproof_context; }

void indexproof_free(indexproof_context* context) { delete context; }

indexproof_status indexproof_simplify(indexproof_context* context, indexproof_format in, const void* data, size_t size,
                                      indexproof_format out, const indexproof_options* options, indexproof_output* output) {
  if (!output) return INDEXPROOF_MISUSE;
  *output = {nullptr, 0, "", 0, 0};
  if (!context) return INDEXPROOF_MISUSE;
  try {
    return simplified(*context, in, data, size, out, options ? *options : indexproof_options{}, *output);
  } catch (std::exception&) {
    output->message = "there is no memory left";
    return INDEXPROOF_NO_MEMORY;
  }
}
}
