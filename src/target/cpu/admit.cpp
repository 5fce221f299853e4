// SPDX-License-Identifier: Apache-2.0
// The rules, one function each. They follow from what the loader would do with the object:
//   code that runs while loading   INIT, INIT_ARRAY, IFUNC (IRELATIVE)
//   other objects                  NEEDED, RPATH, undefined symbols outside the whitelist
//   state between two calls        any writable byte that RELRO does not take back, thread-local
//   data self-modification              W+X segments, TEXTREL, executable stack
#include "target/cpu/admit.hpp"

#include "compile/symbol_advice.hpp"
#include "target/cpu/admit_elf.hpp"
#include "target/cpu/admit_flags.hpp"
#include "target/cpu/admit_symbols.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

class Judge {
 public:
  Judge(const ElfImage& image, const AdmitRules& rules, Admission& out)
      : image_(image), rules_(rules), out_(out) {}

  void run() {
    segments();
    writable_state();
    dynamic_tags();
    relocations();
    exports();
    imports();
    for (const Elf64_Phdr& p : image_.segments)
      if (p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0)
        for (std::string& flag :
             suspicious_instructions(image_.bytes.subspan(static_cast<std::size_t>(p.p_offset),
                                                          static_cast<std::size_t>(p.p_filesz)),
                                     p.p_vaddr))
          out_.flags.push_back(std::move(flag));
  }

 private:
  void refuse(std::string rule, std::string message, std::string remedy, SymbolUse use = {},
              std::string symbol = {}) {
    out_.refusals.push_back({std::move(rule), std::move(symbol), std::move(message),
                             std::move(remedy), use.line > 0 ? use.text() : std::string{}});
  }
  [[nodiscard]] SymbolUse find(const std::vector<std::string>& words) const {
    return find_words(words, rules_.sources);
  }

  void segments() {
    bool stack = false;
    for (const Elf64_Phdr& p : image_.segments) {
      if ((p.p_type == PT_LOAD || p.p_type == PT_GNU_STACK) && (p.p_flags & PF_W) != 0 &&
          (p.p_flags & PF_X) != 0)
        refuse(p.p_type == PT_LOAD ? "writable-code" : "executable-stack",
               p.p_type == PT_LOAD ? "a segment is writable and executable"
                                   : "the object asks for an executable stack",
               "remove the section directive, nested function or trampoline that causes it");
      switch (p.p_type) {
      case PT_GNU_STACK:
        stack = true;
        break;
      case PT_TLS:
        if (p.p_memsz > 0)
          refuse("thread-local", "thread-local storage keeps state between calls",
                 "keep values in locals or in kw_workspace", find({"thread_local", "__thread"}));
        break;
      case PT_INTERP:
        refuse("malformed", "a kernel names a program interpreter", "build it with kernwright");
        break;
      case PT_NULL:
      case PT_LOAD:
      case PT_DYNAMIC:
      case PT_NOTE:
      case PT_PHDR:
      case PT_GNU_EH_FRAME:
      case PT_GNU_RELRO:
      case PT_GNU_PROPERTY:
        break;
      default:
        refuse("malformed", fmt::format("unknown segment type {:#x}", p.p_type),
               "build it with kernwright");
      }
    }
    if (!stack) // then Linux makes the stack executable
      refuse("executable-stack", "the object does not rule out an executable stack",
             "build it with kernwright");
  }

  /// Pages the loader makes read-only again after relocation. It rounds both ends down.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };

  void writable_state() {
    Range relro;
    int count = 0;
    for (const Elf64_Phdr& p : image_.segments)
      if (p.p_type == PT_GNU_RELRO) {
        ++count;
        if (p.p_vaddr < (std::uint64_t{1} << 32) && p.p_memsz < (std::uint64_t{1} << 32))
          relro = {p.p_vaddr / elf_page * elf_page, (p.p_vaddr + p.p_memsz) / elf_page * elf_page};
      }
    if (count > 1)
      refuse("malformed", "two RELRO segments", "build it with kernwright");
    for (const Elf64_Phdr& p : image_.segments) {
      if (p.p_type != PT_LOAD || (p.p_flags & PF_W) == 0 || p.p_memsz == 0)
        continue;
      const Range pages{p.p_vaddr / elf_page * elf_page,
                        (p.p_vaddr + p.p_memsz + elf_page - 1) / elf_page * elf_page};
      if (pages.begin >= relro.begin && pages.end <= relro.end)
        continue;
      name_state(p, relro);
    }
  }

  void name_state(const Elf64_Phdr& p, const Range& relro) {
    static constexpr const char* remedy = "a kernel keeps nothing between calls: make the table "
                                          "const, or use locals and kw_workspace";
    int named = 0;
    for (const ElfSymbol& s : image_.static_symbols) {
      const std::uint64_t a = s.raw.st_value;
      const bool inside =
          a >= p.p_vaddr && a - p.p_vaddr < p.p_memsz && (a < relro.begin || a >= relro.end);
      if (s.type() != STT_OBJECT || s.undefined() || !inside || ++named > 8)
        continue;
      refuse("writable-state",
             fmt::format("variable {} ({} bytes) is writable and outlives the call",
                         readable(s.name), s.raw.st_size),
             remedy, variable_use(s.name), s.name);
    }
    if (named == 0)
      refuse("writable-state",
             fmt::format("{} bytes of writable static storage outlive the call", p.p_memsz), remedy,
             find({"static"}));
  }

  /// `_ZZ7softmaxE5cache` and `_ZL5cache` and `cache.0` are all written `cache`.
  [[nodiscard]] SymbolUse variable_use(const std::string& symbol) const {
    std::string name = readable(symbol);
    name = name.substr(0, name.find(" (_Z"));
    if (const std::size_t colon = name.rfind("::"); colon != std::string::npos)
      name = name.substr(colon + 2);
    name = name.substr(0, name.find('.'));
    return find({name});
  }

  [[nodiscard]] bool has_static_symbol(std::string_view name) const {
    return std::any_of(image_.static_symbols.begin(), image_.static_symbols.end(),
                       [&](const ElfSymbol& s) { return s.name == name; });
  }

  void dynamic_tags() {
    bool now = false, load_time_code = false;
    for (const Elf64_Dyn& d : image_.dynamic) {
      switch (d.d_tag) {
      case DT_GNU_HASH:
      case DT_STRTAB:
      case DT_SYMTAB:
      case DT_STRSZ:
      case DT_SYMENT:
      case DT_RELA:
      case DT_RELASZ:
      case DT_RELAENT:
      case DT_RELACOUNT:
      case DT_PLTGOT:
      case DT_PLTRELSZ:
      case DT_PLTREL:
      case DT_JMPREL:
        break;
      case DT_BIND_NOW:
        now = true;
        break;
      case DT_FLAGS:
        now = now || (d.d_un.d_val & DF_BIND_NOW) != 0;
        if ((d.d_un.d_val & DF_TEXTREL) != 0)
          text_relocations();
        if ((d.d_un.d_val & DF_STATIC_TLS) != 0)
          refuse("thread-local", "static thread-local storage", "keep values in locals");
        break;
      case DT_FLAGS_1:
        now = now || (d.d_un.d_val & DF_1_NOW) != 0;
        break;
      case DT_TEXTREL:
        text_relocations();
        break;
      case DT_NEEDED:
      case DT_RPATH:
      case DT_RUNPATH:
      case DT_AUXILIARY:
      case DT_FILTER:
      case DT_AUDIT:
      case DT_DEPAUDIT:
        refuse("other-objects", "the object asks the loader for other libraries",
               "a kernel links nothing: see the list of allowed functions in kernwright.h");
        break;
      case DT_INIT:
      case DT_FINI:
      case DT_INIT_ARRAY:
      case DT_INIT_ARRAYSZ:
      case DT_FINI_ARRAY:
      case DT_FINI_ARRAYSZ:
      case DT_PREINIT_ARRAY:
      case DT_PREINIT_ARRAYSZ:
        load_time_code = true;
        break;
      default:
        refuse("malformed", fmt::format("dynamic tag {:#x} is not allowed", d.d_tag),
               "build it with kernwright");
      }
    }
    if (load_time_code) {
      if (has_static_symbol("__cpu_indicator_init"))
        refuse("load-time-code", "CPU detection runs code when the object is loaded",
               "drop __builtin_cpu_supports: the flags already name this CPU's features",
               find({"__builtin_cpu_supports", "__builtin_cpu_init", "__builtin_cpu_is"}));
      else
        refuse("load-time-code", "code would run when the object is loaded or unloaded",
               "remove constructors, destructors and global objects that are initialised at run "
               "time; make tables constexpr",
               find({"constructor", "destructor", "static"}));
    }
    if (!now)
      refuse("malformed", "the object is not bound at load time", "build it with kernwright");
  }

  void text_relocations() {
    refuse("writable-code", "relocations change the code (TEXTREL)",
           "remove the assembly that uses absolute addresses", find({"asm", "__asm__"}));
  }

  void relocations() {
    bool indirect = false, tls = false, text = false, odd = false;
    for (const Elf64_Rela& r : image_.relocations) {
      switch (ELF64_R_TYPE(r.r_info)) {
      case R_X86_64_NONE:
      case R_X86_64_64:
      case R_X86_64_GLOB_DAT:
      case R_X86_64_JUMP_SLOT:
      case R_X86_64_RELATIVE:
        break;
      case R_X86_64_IRELATIVE:
        indirect = true;
        break;
      case R_X86_64_DTPMOD64:
      case R_X86_64_DTPOFF64:
      case R_X86_64_TPOFF64:
      case R_X86_64_TLSDESC:
        tls = true;
        break;
      default:
        odd = true;
      }
      text = text || !in_segment(r.r_offset, 8, PF_W);
    }
    if (indirect)
      indirect_function();
    if (tls)
      refuse("thread-local", "thread-local storage keeps state between calls",
             "keep values in locals or in kw_workspace", find({"thread_local", "__thread"}));
    if (text)
      text_relocations();
    if (odd)
      refuse("malformed", "an unusual kind of relocation", "build it with kernwright");
  }

  void indirect_function() {
    refuse("load-time-code",
           "an indirect function (IFUNC) runs its resolver when the object is loaded",
           "drop target_clones and ifunc: the flags already name this CPU's features",
           find({"target_clones", "ifunc", "__ifunc__"}));
  }

  [[nodiscard]] bool in_segment(std::uint64_t address, std::uint64_t size,
                                std::uint32_t flags) const {
    return std::any_of(image_.segments.begin(), image_.segments.end(), [&](const Elf64_Phdr& p) {
      return p.p_type == PT_LOAD && (p.p_flags & flags) == flags && address >= p.p_vaddr &&
             p.p_memsz >= size && address - p.p_vaddr <= p.p_memsz - size;
    });
  }

  void exports() {
    bool found = false;
    for (const ElfSymbol& s : image_.symbols) {
      if (s.undefined() || s.binding() == STB_LOCAL)
        continue;
      if (s.type() == STT_GNU_IFUNC)
        indirect_function();
      else if (s.name != rules_.entry)
        refuse("exports", fmt::format("the object exports {} besides its entry", readable(s.name)),
               "build it with kernwright, which exports the entry alone", {}, s.name);
      else if (found || s.binding() != STB_GLOBAL ||
               (s.type() != STT_FUNC && s.type() != STT_NOTYPE) ||
               !in_segment(s.raw.st_value, 1, PF_X))
        refuse("exports", fmt::format("the entry {} is no ordinary function", rules_.entry),
               "define it as extern \"C\" int " + rules_.entry + "(...)", find({rules_.entry}),
               s.name);
      else
        found = true;
    }
    if (!found && out_.refusals.empty())
      missing_entry();
  }

  void missing_entry() {
    for (const ElfSymbol& s : image_.static_symbols)
      if (s.type() == STT_FUNC && s.name.starts_with("_Z") &&
          s.name.find(rules_.entry) != std::string::npos) {
        refuse("exports", fmt::format("the entry {} is a C++ function ({})", rules_.entry, s.name),
               "declare it extern \"C\", outside any namespace", find({rules_.entry}), s.name);
        return;
      }
    refuse("exports", fmt::format("the entry {} is not defined", rules_.entry),
           fmt::format("define extern \"C\" int {}(...) without `static`", rules_.entry),
           find({rules_.entry}), rules_.entry);
  }

  void imports() {
    for (const ElfSymbol& s : image_.symbols)
      if (s.undefined() && !s.name.empty())
        out_.imports.push_back(s.name);
    std::sort(out_.imports.begin(), out_.imports.end());
    out_.imports.erase(std::unique(out_.imports.begin(), out_.imports.end()), out_.imports.end());
    for (const std::string& name : out_.imports) {
      if (is_allowed_import(name))
        continue;
      const SymbolAdvice advice = advise(name);
      refuse("import", fmt::format("{}: {}", readable(name), advice.what), advice.instead,
             find_use(name, rules_.sources), name);
    }
  }

  const ElfImage& image_;
  const AdmitRules& rules_;
  Admission& out_;
};

} // namespace

Status Admission::status() const {
  if (admitted())
    return {};
  Error error;
  error.kind = ErrorKind::refused;
  error.where = refusals.front().where;
  error.message = refusals.front().message;
  error.remedy = refusals.front().remedy;
  for (std::size_t i = 1; i < refusals.size(); ++i)
    error.message += fmt::format("; {}{}{}", refusals[i].where,
                                 refusals[i].where.empty() ? "" : ": ", refusals[i].message);
  return fail(std::move(error));
}

Result<Admission> admit(std::span<const std::byte> object, const AdmitRules& rules) {
  Admission out;
  if (object.size() > rules.max_bytes) {
    out.refusals.push_back(
        {"size", "",
         fmt::format("the object has {} bytes; the limit is {}", object.size(), rules.max_bytes),
         "shrink its tables or unrolled code", ""});
    return out;
  }
  Result<ElfImage> image = parse_elf(object);
  if (!image && image.error().kind == ErrorKind::unsupported)
    return fail(std::move(image.error()));
  if (!image) {
    out.refusals.push_back({"malformed", "", image.error().message, image.error().remedy, ""});
    return out;
  }
  Judge(*image, rules, out).run();
  return out;
}

} // namespace kw
