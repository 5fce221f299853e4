// SPDX-License-Identifier: Apache-2.0
#include "compile/flags.hpp"

#include <fmt/format.h>
#include <utility>

namespace kw {
namespace {

struct Feature {
  const char* cpuinfo; ///< name in /proc/cpuinfo
  const char* flag;
};

// What x86-64-v3 (AVX2, FMA, BMI, F16C) and x86-64-v4 (AVX-512 F BW CD DQ VL) leave out.
constexpr Feature beyond_v3[] = {{"avx_vnni", "-mavxvnni"}, {"gfni", "-mgfni"}};
constexpr Feature beyond_v4[] = {
    {"avx512ifma", "-mavx512ifma"},      {"avx512vbmi", "-mavx512vbmi"},
    {"avx512_vbmi2", "-mavx512vbmi2"},   {"avx512_vnni", "-mavx512vnni"},
    {"avx512_bitalg", "-mavx512bitalg"}, {"avx512_vpopcntdq", "-mavx512vpopcntdq"},
    {"avx512_bf16", "-mavx512bf16"},     {"avx512_fp16", "-mavx512fp16"},
};

template <std::size_t n> bool has_all(const CpuInfo& cpu, const char* const (&flags)[n]) {
  for (const char* flag : flags)
    if (!cpu.has(flag))
      return false;
  return true;
}

void extend(std::vector<std::string>& to, std::vector<std::string> more) {
  for (std::string& s : more)
    to.push_back(std::move(s));
}

} // namespace

std::vector<std::string> arch_flags(const CpuInfo& cpu) {
  static constexpr const char* v2[] = {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"};
  static constexpr const char* v3[] = {"avx",  "avx2", "bmi1", "bmi2",
                                       "f16c", "fma",  "abm",  "movbe"};
  static constexpr const char* v4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};
  if (cpu.arch != "x86_64")
    return {};
  if (!has_all(cpu, v2))
    return {"-march=x86-64"};
  if (!has_all(cpu, v3))
    return {"-march=x86-64-v2"};
  const bool wide = has_all(cpu, v4);
  std::vector<std::string> out{wide ? "-march=x86-64-v4" : "-march=x86-64-v3"};
  for (const Feature& f : beyond_v3)
    if (cpu.has(f.cpuinfo))
      out.emplace_back(f.flag);
  if (wide) {
    for (const Feature& f : beyond_v4)
      if (cpu.has(f.cpuinfo))
        out.emplace_back(f.flag);
    out.emplace_back("-mprefer-vector-width=512");
  }
  return out;
}

std::vector<std::string> candidate_compile_flags(const CpuInfo& cpu) {
  std::vector<std::string> out{"-std=c++20", "-O3"};
  extend(out, arch_flags(cpu));
  extend(out, {
                  // a*b+c may become one fma: it only rounds less, and the tolerance allows it
                  "-ffp-contract=fast",
                  // nobody reads errno or the sticky exception flags after a kernel
                  "-fno-math-errno",
                  "-fno-trapping-math",
                  "-fopenmp-simd", // `#pragma omp simd`, without the OpenMP library
                  "-fno-exceptions",
                  "-fno-rtti",
                  "-fno-stack-protector",
                  "-fno-asynchronous-unwind-tables",
                  "-fno-unwind-tables",
                  "-fPIC",
                  "-fno-plt",
                  "-fno-semantic-interposition",
                  "-fvisibility-inlines-hidden",
                  "-Wall",
                  "-Wno-unknown-pragmas",
              });
  return out;
}

std::vector<std::string> candidate_link_flags(const Compiler& compiler) {
  std::vector<std::string> out{
      "-shared", "-nostdlib", "-nostartfiles", "-nodefaultlibs",
      // bfd beats gold and mold on one small object (2.7, 3.7 and 5.6 ms measured), and ends RELRO
      // on a page boundary, which admission relies on
      "-fuse-ld=bfd",
      "-Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code,--hash-style=gnu,--build-id=none",
      "-Wl,--no-warn-rwx-segments"};
  if (compiler.libgcc.empty())
    return out;
  // Static helpers such as __extendhfsf2 (half precision) and __udivti3 (128-bit division).
  out.push_back(compiler.libgcc);
  return out;
}

std::vector<std::string> trusted_flags(const CpuInfo& cpu) {
  std::vector<std::string> out{"-std=c++20", "-O3"};
  extend(out, arch_flags(cpu));
  extend(out, {"-ffp-contract=fast", "-fno-math-errno", "-fopenmp-simd", "-fPIC", "-Wall",
               "-Wno-unknown-pragmas", "-shared", "-fuse-ld=bfd"});
  return out;
}

std::vector<std::string> sanitized_compile_flags(const CpuInfo& cpu,
                                                 const std::string& sanitizers) {
  std::vector<std::string> out = candidate_compile_flags(cpu);
  extend(out, {
                  "-fsanitize=" + sanitizers,
                  // The first report ends the run.
                  "-fno-sanitize-recover=all",
                  // What a report needs: line tables and frames that can be walked.
                  "-g1",
                  "-fno-omit-frame-pointer",
                  "-fno-optimize-sibling-calls",
                  // Instrumentation makes the optimiser say things that are not so; the candidate's
                  // own build has warned already.
                  "-w",
                  // Not to be asked for by the source, which would compile to something else here.
                  "-U__SANITIZE_ADDRESS__",
                  "-U__SANITIZE_THREAD__",
              });
  return out;
}

std::vector<std::string> side_driver_flags(const std::string& sanitizers) {
  return {"-std=c++20", "-O1", "-g1", "-Wall", "-fvisibility=hidden", "-fno-exceptions",
          "-fsanitize=" + sanitizers, "-pthread", "-rdynamic",
          // kernels call expf and its kin, the driver itself does not
          "-Wl,--no-as-needed", "-lm", "-ldl"};
}

std::string version_script(const std::string& entry) {
  return fmt::format("{{ global: {}; local: *; }};\n", entry);
}

} // namespace kw
