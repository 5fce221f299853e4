// SPDX-License-Identifier: Apache-2.0
// A read-only view of a 64-bit x86 shared object as the dynamic loader sees it: program headers and
// the dynamic section decide; section headers are used for names in messages only. Every offset is
// hostile until checked.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

inline constexpr std::uint64_t elf_page = 4096;

struct ElfSymbol {
  std::string name;
  Elf64_Sym raw{};
  [[nodiscard]] bool undefined() const { return raw.st_shndx == SHN_UNDEF; }
  [[nodiscard]] unsigned type() const { return ELF64_ST_TYPE(raw.st_info); }
  [[nodiscard]] unsigned binding() const { return ELF64_ST_BIND(raw.st_info); }
};

struct ElfImage {
  std::span<const std::byte> bytes;
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Dyn> dynamic;        ///< without the closing DT_NULL
  std::vector<ElfSymbol> symbols;        ///< dynamic symbols, without the null symbol
  std::vector<Elf64_Rela> relocations;   ///< DT_RELA and DT_JMPREL
  std::vector<ElfSymbol> static_symbols; ///< .symtab if present and sane: untrusted, for messages

  /// Value of a dynamic tag, if present.
  [[nodiscard]] std::optional<std::uint64_t> tag(std::int64_t wanted) const;
};

/// Errors: invalid_input with what is malformed; unsupported when the bytes are no ELF for x86-64.
Result<ElfImage> parse_elf(std::span<const std::byte> bytes);

} // namespace kw
