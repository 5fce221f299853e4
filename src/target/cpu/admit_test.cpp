// SPDX-License-Identifier: Apache-2.0
// Rules on images made byte by byte; objects of the real compiler are in tests/e2e/admit_e2e.cpp.
#include "target/cpu/admit.hpp"

#include "target/cpu/admit_flags.hpp"
#include "target/cpu/admit_symbols.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>
#include <random>

namespace kw {
namespace {

// Layout of the image: headers, hash, symbols, strings in a read-only segment at 0; code at 0x1000;
// the dynamic section and one relocated slot, all under RELRO, at 0x2000.
class Image {
 public:
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Dyn> dynamic;
  std::vector<Elf64_Sym> symbols{Elf64_Sym{}};
  std::vector<Elf64_Rela> relocations;
  std::string strings{'\0'};
  std::string code{"\xc3"};
  std::uint32_t first_hashed = 1; ///< symbols from here on are in the hash table
  Elf64_Ehdr header{};

  Image() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    segment(PT_LOAD, PF_R, 0, 0x1000);
    segment(PT_LOAD, PF_R | PF_X, 0x1000, 0x1000);
    segment(PT_LOAD, PF_R | PF_W, 0x2000, 0x1000);
    segment(PT_DYNAMIC, PF_R | PF_W, 0x2000, 0x800);
    segment(PT_GNU_RELRO, PF_R, 0x2000, 0x1000);
    segment(PT_GNU_STACK, PF_R | PF_W, 0, 0);
    tag(DT_GNU_HASH, hash_at);
    tag(DT_SYMTAB, symbols_at);
    tag(DT_SYMENT, sizeof(Elf64_Sym));
    tag(DT_STRTAB, strings_at);
    tag(DT_STRSZ, 0x200);
    tag(DT_FLAGS, DF_BIND_NOW);
  }
  Elf64_Phdr& segment(std::uint32_t type, std::uint32_t flags, std::uint64_t at,
                      std::uint64_t size) {
    Elf64_Phdr p{};
    p.p_type = type;
    p.p_flags = flags;
    p.p_offset = p.p_vaddr = at;
    p.p_filesz = p.p_memsz = size;
    segments.push_back(p);
    return segments.back();
  }
  void tag(std::int64_t tag, std::uint64_t value) {
    Elf64_Dyn d{};
    d.d_tag = tag;
    d.d_un.d_val = value;
    dynamic.push_back(d);
  }
  void relocate(std::uint32_t type, std::uint32_t symbol, std::uint64_t at = 0x2f00) {
    Elf64_Rela r{};
    r.r_offset = at;
    r.r_info = ELF64_R_INFO(std::uint64_t{symbol}, std::uint64_t{type});
    relocations.push_back(r);
  }
  /// Undefined symbols come before the hashed ones, as in a real table.
  std::uint32_t symbol(const std::string& name, bool defined, unsigned type = STT_FUNC,
                       unsigned binding = STB_GLOBAL) {
    Elf64_Sym s{};
    s.st_name = static_cast<Elf64_Word>(strings.size());
    strings += name + '\0';
    s.st_info = static_cast<unsigned char>(ELF64_ST_INFO(binding, type));
    if (defined) {
      s.st_shndx = 5;
      s.st_value = 0x1000;
    } else {
      ++first_hashed;
    }
    symbols.push_back(s);
    return static_cast<std::uint32_t>(symbols.size() - 1);
  }

  [[nodiscard]] std::string bytes() const {
    std::string out(0x3000, '\0');
    Elf64_Ehdr h = header;
    h.e_phnum = static_cast<Elf64_Half>(segments.size());
    put(out, 0, &h, sizeof h);
    put(out, sizeof h, segments.data(), segments.size() * sizeof(Elf64_Phdr));
    put(out, symbols_at, symbols.data(), symbols.size() * sizeof(Elf64_Sym));
    put(out, strings_at, strings.data(), strings.size());
    // One bucket, one chain over all hashed symbols.
    const bool any = first_hashed < symbols.size();
    const std::uint32_t head[4] = {1, first_hashed, 1, 0};
    put(out, hash_at, head, sizeof head);
    const std::uint32_t bucket = any ? first_hashed : 0;
    put(out, hash_at + 24, &bucket, 4);
    for (std::size_t i = first_hashed; i < symbols.size(); ++i) {
      const std::uint32_t link = i + 1 == symbols.size() ? 1 : 2;
      put(out, hash_at + 28 + (i - first_hashed) * 4, &link, 4);
    }
    std::vector<Elf64_Dyn> d = dynamic;
    if (!relocations.empty()) {
      const auto add = [&d](std::int64_t t, std::uint64_t v) {
        Elf64_Dyn e{};
        e.d_tag = t;
        e.d_un.d_val = v;
        d.push_back(e);
      };
      add(DT_RELA, relocations_at);
      add(DT_RELASZ, relocations.size() * sizeof(Elf64_Rela));
      add(DT_RELAENT, sizeof(Elf64_Rela));
      put(out, relocations_at, relocations.data(), relocations.size() * sizeof(Elf64_Rela));
    }
    d.push_back({});
    put(out, 0x2000, d.data(), d.size() * sizeof(Elf64_Dyn));
    put(out, 0x1000, code.data(), code.size());
    return out;
  }

 private:
  static constexpr std::uint64_t hash_at = 0x400, symbols_at = 0x500, strings_at = 0x800,
                                 relocations_at = 0xa00;
  static void put(std::string& out, std::uint64_t at, const void* from, std::size_t size) {
    ASSERT_LE(at + size, out.size());
    if (size > 0)
      std::memcpy(out.data() + at, from, size);
  }
};

Image honest() {
  Image image;
  const std::uint32_t expf = image.symbol("expf", false);
  image.symbol("k", true);
  image.relocate(R_X86_64_GLOB_DAT, expf);
  return image;
}

Admission judge(const std::string& bytes) {
  const Result<Admission> a = admit(std::as_bytes(std::span(bytes)), {.entry = "k", .sources = {}});
  EXPECT_TRUE(a) << a.error().text();
  return a ? *a : Admission{};
}
/// Rules broken, sorted, without repetition.
std::string rules(const Image& image) {
  std::vector<std::string> names;
  for (const Refusal& r : judge(image.bytes()).refusals)
    names.push_back(r.rule);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string out;
  for (const std::string& n : names)
    out += (out.empty() ? "" : " ") + n;
  return out;
}

TEST(Admit, HonestImageIsAdmitted) {
  const Admission a = judge(honest().bytes());
  EXPECT_TRUE(a.admitted()) << a.status().error().text();
  EXPECT_EQ(a.imports, std::vector<std::string>{"expf"});
  EXPECT_TRUE(a.flags.empty());
}

TEST(Admit, WritableStateIsFoundBySegmentArithmetic) {
  Image image = honest();
  image.segments[2].p_memsz = 0x1001; // .bss one byte past RELRO
  EXPECT_EQ(rules(image), "writable-state");
  image = honest();
  image.segments[4].p_memsz = 0xfff; // RELRO that ends within the page protects none of it
  EXPECT_EQ(rules(image), "writable-state");
  image = honest();
  image.segments.erase(image.segments.begin() + 4);
  EXPECT_EQ(rules(image), "writable-state");
  image = honest();
  image.segment(PT_LOAD, PF_R | PF_W, 0x4000, 0).p_memsz = 64; // a second, zero-filled one
  image.segments.back().p_offset = 0;
  EXPECT_EQ(rules(image), "writable-state");
  image = honest();
  image.segment(PT_TLS, PF_R, 0x2000, 0).p_memsz = 8;
  EXPECT_EQ(rules(image), "thread-local");
}

TEST(Admit, WritableAndExecutable) {
  Image image = honest();
  image.segments[1].p_flags |= PF_W;
  EXPECT_NE(rules(image).find("writable-code"), std::string::npos);
  image = honest();
  image.segments[5].p_flags |= PF_X;
  EXPECT_EQ(rules(image), "executable-stack");
  image = honest();
  image.segments.pop_back(); // no PT_GNU_STACK: Linux would make the stack executable
  EXPECT_EQ(rules(image), "executable-stack");
}

TEST(Admit, DynamicTags) {
  for (const auto& [tag, rule] :
       std::vector<std::pair<std::int64_t, std::string>>{{DT_NEEDED, "other-objects"},
                                                         {DT_RPATH, "other-objects"},
                                                         {DT_RUNPATH, "other-objects"},
                                                         {DT_AUDIT, "other-objects"},
                                                         {DT_INIT, "load-time-code"},
                                                         {DT_INIT_ARRAY, "load-time-code"},
                                                         {DT_FINI, "load-time-code"},
                                                         {DT_FINI_ARRAY, "load-time-code"},
                                                         {DT_PREINIT_ARRAY, "load-time-code"},
                                                         {DT_TEXTREL, "writable-code"},
                                                         {DT_HASH, "malformed"},
                                                         {DT_VERNEED, "malformed"},
                                                         {0x12345678, "malformed"}}) {
    Image image = honest();
    image.tag(tag, 1);
    EXPECT_EQ(rules(image), rule) << tag;
  }
  Image lazy = honest();
  lazy.dynamic.back().d_un.d_val = 0; // DT_FLAGS
  EXPECT_EQ(rules(lazy), "malformed");
  Image twice = honest();
  twice.tag(DT_STRSZ, 1);
  EXPECT_EQ(rules(twice), "malformed");
}

TEST(Admit, Relocations) {
  Image image = honest();
  image.relocate(R_X86_64_IRELATIVE, 0);
  EXPECT_EQ(rules(image), "load-time-code");
  image = honest();
  image.relocate(R_X86_64_DTPMOD64, 0);
  EXPECT_EQ(rules(image), "thread-local");
  image = honest();
  image.relocate(R_X86_64_RELATIVE, 0, 0x1000); // would be written into code
  EXPECT_EQ(rules(image), "writable-code");
  image = honest();
  image.relocate(R_X86_64_RELATIVE, 0, ~std::uint64_t{0} - 3);
  EXPECT_EQ(rules(image), "writable-code");
  image = honest();
  image.relocate(R_X86_64_COPY, 1);
  EXPECT_EQ(rules(image), "malformed");
  image = honest();
  image.relocate(R_X86_64_GLOB_DAT, 4000); // symbol far outside
  EXPECT_EQ(rules(image), "malformed");
}

TEST(Admit, ExportsExactlyTheEntry) {
  Image image = honest();
  image.symbol("extra", true);
  EXPECT_EQ(rules(image), "exports");
  image = Image();
  EXPECT_EQ(rules(image), "exports"); // none
  image = Image();
  image.symbol("k", true, STT_OBJECT);
  EXPECT_EQ(rules(image), "exports");
  image = Image();
  image.symbol("k", true, STT_GNU_IFUNC);
  EXPECT_EQ(rules(image), "load-time-code");
  image = Image();
  image.symbol("k", true);
  image.symbols.back().st_value = 0x500; // not in code
  EXPECT_EQ(rules(image), "exports");
}

TEST(Admit, ImportsOutsideTheListAreNamedWithTheReplacement) {
  Image image;
  image.symbol("malloc", false);
  image.symbol("expf", false, STT_FUNC, STB_WEAK);
  image.symbol("pthread_create", false, STT_NOTYPE, STB_WEAK); // weak is no way around
  image.symbol("k", true);
  image.relocate(R_X86_64_GLOB_DAT, 1);
  const std::string bytes = image.bytes();
  const std::vector<SourceFile> sources{{"k.cpp", "\nvoid* p = malloc(3);"}};
  const Result<Admission> a =
      admit(std::as_bytes(std::span(bytes)), {.entry = "k", .sources = sources});
  ASSERT_TRUE(a);
  ASSERT_EQ(a->refusals.size(), 2U);
  EXPECT_EQ(a->refusals[0].symbol, "malloc");
  EXPECT_EQ(a->refusals[0].where, "k.cpp:2");
  EXPECT_NE(a->refusals[0].remedy.find("kw_workspace"), std::string::npos);
  EXPECT_NE(a->refusals[1].remedy.find("kw_parallel_for"), std::string::npos);
  const Status status = a->status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::refused);
  EXPECT_NE(status.error().message.find("pthread_create"), std::string::npos);
}

TEST(Admit, SizeAndForeignBytes) {
  const std::string bytes = honest().bytes();
  AdmitRules small{.entry = "k", .sources = {}, .max_bytes = 100};
  EXPECT_EQ(admit(std::as_bytes(std::span(bytes)), small)->refusals[0].rule, "size");
  const std::string text = "int main() {}";
  EXPECT_EQ(admit(std::as_bytes(std::span(text)), {.entry = "k", .sources = {}}).error().kind,
            ErrorKind::unsupported);
  EXPECT_FALSE(admit({}, {.entry = "k", .sources = {}}));
  Image arm = honest();
  arm.header.e_machine = EM_AARCH64;
  const std::string other = arm.bytes();
  EXPECT_FALSE(admit(std::as_bytes(std::span(other)), {.entry = "k", .sources = {}}));
}

TEST(Admit, DamagedImagesNeverCrashAndTruncatedOnesAreRefused) {
  const std::string good = honest().bytes();
  for (std::size_t n = sizeof(Elf64_Ehdr); n < good.size(); n += 7)
    EXPECT_FALSE(judge(good.substr(0, n)).admitted()) << n;
  std::mt19937 random(7); // NOLINT: reproducible on purpose
  for (int i = 0; i < 20'000; ++i) {
    std::string bad = good;
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int f = 0; f < flips; ++f) {
      const std::size_t regions[] = {random() % 0x400, 0x400 + random() % 0x700,
                                     0x2000 + random() % 0x120};
      bad[regions[random() % 3]] = static_cast<char>(random());
    }
    (void)admit(std::as_bytes(std::span(bad)), {.entry = "k", .sources = {}});
  }
}

TEST(AdmitFlags, InstructionPatterns) {
  const auto flags = [](std::string_view code) {
    const auto out = suspicious_instructions(std::as_bytes(std::span(code)), 0x1000);
    return out.empty() ? std::string{} : out[0];
  };
  EXPECT_EQ(flags("\x90\x0f\x05\x0f\x05"), "syscall at 0x1001 (2 places)");
  EXPECT_EQ(flags("\xcd\x80"), "int 0x80 at 0x1000 (1 place)");
  EXPECT_EQ(flags("\x0f\x31"), "rdtsc at 0x1000 (1 place)");
  EXPECT_EQ(flags("\x0f\xae\x10"), "ldmxcsr at 0x1000 (1 place)");
  EXPECT_EQ(flags("\x0f\xae\xe8"), ""); // lfence is no xrstor
  EXPECT_EQ(flags("\x0f\xae\x28"), "xrstor at 0x1000 (1 place)");
  EXPECT_EQ(flags("\xd9\x6c\x24\x08"), "fldcw at 0x1000 (1 place)");
  EXPECT_EQ(flags("\xf3\x0f\xae\xd0"), "wrfsbase at 0x1000 (1 place)");
  EXPECT_EQ(flags("\x0f"), "");
  Image image = honest();
  image.code = "\x0f\x05\xc3";
  const Admission a = judge(image.bytes());
  EXPECT_TRUE(a.admitted());
  EXPECT_EQ(a.flags, std::vector<std::string>{"syscall at 0x1000 (1 place)"});
}

TEST(AdmitSymbols, ListIsClosed) {
  for (const char* s :
       {"expf", "memcpy", "kw_workspace", "kw_parallel_for", "tanhf", "erff", "cbrtf"})
    EXPECT_TRUE(is_allowed_import(s)) << s;
  for (const char* s : {"malloc", "dlsym", "syscall", "signgam", "lgammaf", "", "expf2", "system"})
    EXPECT_FALSE(is_allowed_import(s)) << s;
  EXPECT_GT(allowed_imports().size(), 80U);
}

} // namespace
} // namespace kw
