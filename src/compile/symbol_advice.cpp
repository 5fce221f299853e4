// SPDX-License-Identifier: Apache-2.0
#include "compile/symbol_advice.hpp"

#include "compile/source_tokens.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>

namespace kw {
namespace {

struct Rule {
  std::string_view pattern; ///< exact name, or a prefix when it ends with '*'
  std::string_view what, instead;
  std::string_view tokens; ///< blank-separated words that bring the symbol in; "" = its own name
};

constexpr std::string_view workspace =
    "take scratch memory from kw_workspace(bytes) in kernwright.h, or use a local array";
constexpr std::string_view threads =
    "use kw_parallel_for(count, body, context) from kernwright.h; it respects the thread count";
constexpr std::string_view no_containers =
    "use a local array or kw_workspace(bytes) instead of an allocating container";
constexpr std::string_view no_state = "keep values in locals, in kw_workspace, or make them const";
constexpr std::string_view no_library =
    "a kernel must do the work itself: write the loop, or tune it with `kernwright optimize`";
constexpr std::string_view remove_io = "remove it: a kernel has no files, no output and no clock";

constexpr Rule rules[] = {
    {"malloc", "heap allocation", workspace, ""},
    {"calloc", "heap allocation", workspace, ""},
    {"realloc", "heap allocation", workspace, ""},
    {"free", "heap allocation", workspace, ""},
    {"aligned_alloc", "heap allocation", workspace, ""},
    {"posix_memalign", "heap allocation", workspace, ""},
    {"memalign", "heap allocation", workspace, ""},
    {"_Znw*", "operator new", no_containers, "new vector string make_unique make_shared push_back"},
    {"_Zna*", "operator new[]", no_containers, "new make_unique"},
    {"_Zdl*", "operator delete", no_containers, "delete vector string unique_ptr new"},
    {"_Zda*", "operator delete[]", no_containers, "delete unique_ptr new"},
    {"_ZSt*", "a run-time part of the C++ standard library",
     "only header-only parts are available; "
     "use a local array or kw_workspace(bytes)",
     "vector string function sort stable_sort at resize push_back"},
    {"_ZNSt*", "a run-time part of the C++ standard library",
     "only header-only parts are available", "string ostream cout thread mutex"},
    {"_ZTV*", "run-time type information", "avoid virtual functions and exceptions", "virtual"},
    {"__gxx_personality*", "C++ exceptions", "return a non-zero code instead", "throw try"},
    {"__cxa_throw*", "C++ exceptions", "return a non-zero code instead", "throw"},
    {"__cxa_pure_virtual", "virtual functions", "use templates or plain functions", "virtual"},
    {"__cxa_guard*", "a static variable that is initialised at run time", no_state, "static"},
    {"__cxa_atexit", "a global object with a destructor", no_state, "static thread_local"},
    {"__dso_handle", "a global object with a destructor", no_state, "static thread_local"},
    {"__cxa_*", "the C++ run-time library", "use plain functions and values", ""},
    {"__tls_get_addr", "thread-local storage", no_state, "thread_local __thread"},
    {"GOMP_*", "the OpenMP library", threads, "omp"},
    {"omp_*", "the OpenMP library", threads, ""},
    {"__kmpc_*", "the OpenMP library", threads, "omp"},
    {"pthread_*", "threads", threads, ""},
    {"_ZNSt6thread*", "threads", threads, "thread jthread"},
    {"cblas_*", "a BLAS library", no_library, ""},
    {"openblas_*", "a BLAS library", no_library, ""},
    {"mkl_*", "a vendor library", no_library, ""},
    {"dnnl_*", "a vendor library", no_library, ""},
    {"sgemm_", "a BLAS library", no_library, ""},
    {"dgemm_", "a BLAS library", no_library, ""},
    {"_ZGV*", "a vector math library function",
     "write the polynomial yourself, or call the scalar function", "exp log sin cos pow"},
    {"printf", "output", remove_io, ""},
    {"fprintf", "output", remove_io, ""},
    {"puts", "output", remove_io, "puts printf"},
    {"putchar", "output", remove_io, "putchar printf"},
    {"snprintf", "output", remove_io, ""},
    {"fwrite", "output", remove_io, "fwrite fprintf fputs"},
    {"fopen", "files", remove_io, ""},
    {"open", "files", remove_io, ""},
    {"stdout", "output", remove_io, ""},
    {"stderr", "output", remove_io, ""},
    {"syscall", "a system call", remove_io, ""},
    {"clock_gettime", "a clock", remove_io, "clock_gettime steady_clock high_resolution_clock"},
    {"time", "a clock", remove_io, ""},
    {"rand", "random numbers", "compute what is needed from the inputs", ""},
    {"getenv", "the environment", "the shape arguments are all a kernel may depend on", ""},
    {"dlopen", "dynamic loading", no_library, ""},
    {"dlsym", "dynamic loading", no_library, ""},
    {"exit", "ending the process", "return a non-zero code instead", ""},
    {"_exit", "ending the process", "return a non-zero code instead", ""},
    {"abort", "ending the process", "return a non-zero code instead",
     "abort assert __builtin_trap"},
    {"__assert_fail", "assert", "remove the assertion, or return a non-zero code", "assert"},
    {"__stack_chk_fail", "stack protection", "remove the attribute that asks for it", ""},
    {"qsort", "a C library function", "sort with a loop or with std::sort on a local array", ""},
    {"strlen", "a C library function", "kernels need no strings", ""},
};

const Rule* rule_for(std::string_view symbol) {
  const Rule* best = nullptr;
  for (const Rule& rule : rules) {
    const bool prefix = rule.pattern.ends_with('*');
    const std::string_view stem = rule.pattern.substr(0, rule.pattern.size() - (prefix ? 1 : 0));
    const bool matches = prefix ? symbol.starts_with(stem) : symbol == stem;
    if (matches && (best == nullptr || rule.pattern.size() > best->pattern.size()))
      best = &rule;
  }
  return best;
}

/// `_ZN3foo3barEv` -> "bar": the identifier an undefined function of the user's own is written
/// with.
std::string last_identifier(std::string_view symbol) {
  std::string name = readable(std::string(symbol));
  name = name.substr(0, name.find('('));
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

} // namespace

SymbolAdvice advise(std::string_view symbol) {
  if (const Rule* rule = rule_for(symbol); rule != nullptr)
    return {std::string(rule->what), std::string(rule->instead)};
  return {
      "not defined in the sources and not provided to kernels",
      "define it, or use what kernwright.h lists (math functions, kw_workspace, kw_parallel_for)"};
}

std::string readable(const std::string& symbol) {
  int status = 0;
  char* name = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && name != nullptr && symbol.starts_with("_Z")
                        ? fmt::format("{} ({})", name, symbol)
                        : symbol;
  std::free(name);
  return out;
}

std::string SymbolUse::text() const {
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

SymbolUse find_use(std::string_view symbol, const std::vector<SourceFile>& sources) {
  const Rule* rule = rule_for(symbol);
  std::vector<std::string> words;
  if (rule != nullptr && !rule->tokens.empty()) {
    std::string_view rest = rule->tokens;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      words.emplace_back(word);
    }
  } else {
    words.emplace_back(last_identifier(symbol));
  }
  return find_words(words, sources);
}

SymbolUse find_words(const std::vector<std::string>& words,
                     const std::vector<SourceFile>& sources) {
  std::vector<std::vector<SourceToken>> tokens;
  for (const SourceFile& file : sources)
    tokens.push_back(tokenize(file.content));
  for (const std::string& word : words)
    for (std::size_t f = 0; f < sources.size(); ++f)
      for (const SourceToken& t : tokens[f])
        if (t.kind == SourceToken::Kind::identifier && t.value == word)
          return {sources[f].path, t.line};
  return {};
}

} // namespace kw
