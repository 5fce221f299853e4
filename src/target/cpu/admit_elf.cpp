// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/admit_elf.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::uint64_t max_memory = std::uint64_t{64} << 20; ///< of all segments together
constexpr std::size_t max_symbols = 4096;
constexpr std::size_t max_relocations = 1 << 16;

tl::unexpected<Error> malformed(std::string what) {
  return fail(ErrorKind::invalid_input, "malformed shared object: " + std::move(what),
              "build it with kernwright");
}

/// `count` records at a file offset; nothing when they do not lie inside the file.
template <class T>
std::optional<std::vector<T>> records(std::span<const std::byte> bytes, std::uint64_t offset,
                                      std::uint64_t count) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T))
    return std::nullopt;
  std::vector<T> out(static_cast<std::size_t>(count));
  if (count > 0)
    std::memcpy(out.data(), bytes.data() + offset, out.size() * sizeof(T));
  return out;
}

class Parser {
 public:
  explicit Parser(std::span<const std::byte> bytes) { image_.bytes = bytes; }

  Result<ElfImage> run() {
    KW_CHECK(header());
    KW_CHECK(segments());
    KW_CHECK(dynamic());
    KW_CHECK(relocations());
    KW_CHECK(symbols());
    static_symbols();
    return std::move(image_);
  }

 private:
  Status header() {
    const auto head = records<Elf64_Ehdr>(image_.bytes, 0, 1);
    if (!head || std::memcmp((*head)[0].e_ident, ELFMAG, SELFMAG) != 0)
      return fail(ErrorKind::unsupported, "the bytes are no ELF file",
                  "build the kernel with kernwright");
    header_ = (*head)[0];
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_machine != EM_X86_64)
      return fail(ErrorKind::unsupported, "the object is not for x86-64",
                  "build the kernel on this machine");
    if (header_.e_type != ET_DYN)
      return malformed("it is no shared object (ET_DYN)");
    return {};
  }

  Status segments() {
    if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 || header_.e_phnum > 64)
      return malformed("program header table");
    auto table = records<Elf64_Phdr>(image_.bytes, header_.e_phoff, header_.e_phnum);
    if (!table)
      return malformed("the program headers lie outside the file");
    std::uint64_t end = 0, memory = 0; // end: of the last loaded page so far
    for (const Elf64_Phdr& p : *table) {
      if (p.p_offset > image_.bytes.size() || p.p_filesz > image_.bytes.size() - p.p_offset)
        return malformed("a segment lies outside the file");
      if (p.p_type != PT_LOAD)
        continue;
      if (p.p_filesz > p.p_memsz || p.p_memsz > max_memory || p.p_vaddr > max_memory)
        return malformed("a segment is larger than 64 MiB or than its memory");
      if (p.p_offset % elf_page != p.p_vaddr % elf_page)
        return malformed("a segment is not page-congruent");
      // Two segments in one page would make the protections of one apply to the other.
      if (p.p_vaddr / elf_page * elf_page < end)
        return malformed("segments overlap or are out of order");
      end = (p.p_vaddr + p.p_memsz + elf_page - 1) / elf_page * elf_page;
      memory += p.p_memsz;
    }
    if (memory > max_memory)
      return malformed("the segments need more than 64 MiB");
    image_.segments = std::move(*table);
    return {};
  }

  /// File offset of `size` bytes at an address, all of them file-backed.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address,
                                                       std::uint64_t size) const {
    for (const Elf64_Phdr& p : image_.segments)
      if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr <= p.p_filesz &&
          size <= p.p_filesz - (address - p.p_vaddr))
        return p.p_offset + (address - p.p_vaddr);
    return std::nullopt;
  }

  template <class T>
  std::optional<std::vector<T>> at_address(std::uint64_t address, std::uint64_t count) const {
    if (count > image_.bytes.size() / sizeof(T))
      return std::nullopt;
    const auto offset = offset_of(address, count * sizeof(T));
    return offset ? records<T>(image_.bytes, *offset, count) : std::nullopt;
  }

  Status dynamic() {
    const Elf64_Phdr* found = nullptr;
    for (const Elf64_Phdr& p : image_.segments)
      if (p.p_type == PT_DYNAMIC) {
        if (found != nullptr)
          return malformed("two dynamic segments");
        found = &p;
      }
    if (found == nullptr)
      return malformed("no dynamic segment");
    // By address, as the loader does; p_offset could tell another story.
    const auto entries = at_address<Elf64_Dyn>(found->p_vaddr, found->p_memsz / sizeof(Elf64_Dyn));
    if (!entries)
      return malformed("the dynamic segment is not part of the file");
    for (const Elf64_Dyn& d : *entries) {
      if (d.d_tag == DT_NULL)
        return {};
      if (image_.tag(d.d_tag))
        return malformed(fmt::format("dynamic tag {:#x} occurs twice", d.d_tag));
      image_.dynamic.push_back(d);
    }
    return malformed("the dynamic segment has no end");
  }

  Status relocation_table(std::uint64_t address, std::uint64_t bytes) {
    if (bytes % sizeof(Elf64_Rela) != 0 || bytes / sizeof(Elf64_Rela) > max_relocations)
      return malformed("relocation table size");
    const auto table = at_address<Elf64_Rela>(address, bytes / sizeof(Elf64_Rela));
    if (!table)
      return malformed("the relocations lie outside the file");
    image_.relocations.insert(image_.relocations.end(), table->begin(), table->end());
    return {};
  }

  Status relocations() {
    const auto rela = image_.tag(DT_RELA), rela_size = image_.tag(DT_RELASZ);
    if (rela.has_value() != rela_size.has_value() ||
        (rela && image_.tag(DT_RELAENT) != sizeof(Elf64_Rela)))
      return malformed("relocation table description");
    if (rela)
      KW_CHECK(relocation_table(*rela, *rela_size));
    const auto plt = image_.tag(DT_JMPREL), plt_size = image_.tag(DT_PLTRELSZ);
    if (plt.has_value() != plt_size.has_value() || (plt && image_.tag(DT_PLTREL) != DT_RELA))
      return malformed("procedure linkage table description");
    if (plt)
      KW_CHECK(relocation_table(*plt, *plt_size));
    return {};
  }

  /// One past the highest symbol reachable through the GNU hash table, as the loader walks it.
  std::optional<std::uint64_t> hashed_symbols() const {
    const auto address = image_.tag(DT_GNU_HASH);
    if (!address)
      return std::nullopt;
    const auto head = at_address<std::uint32_t>(*address, 4);
    if (!head)
      return std::nullopt;
    const std::uint64_t buckets = (*head)[0], first = (*head)[1], bloom = (*head)[2];
    if (buckets == 0 || buckets > max_symbols || bloom == 0 || bloom > max_symbols ||
        (bloom & (bloom - 1)) != 0 || first > max_symbols || (*head)[3] > 63)
      return std::nullopt;
    const std::uint64_t bucket_address = *address + 16 + bloom * 8;
    const auto bucket = at_address<std::uint32_t>(bucket_address, buckets);
    if (!bucket)
      return std::nullopt;
    const std::uint64_t chain_address = bucket_address + buckets * 4;
    std::uint64_t end = first;
    for (std::uint64_t index : *bucket) {
      if (index == 0)
        continue;
      if (index < first)
        return std::nullopt;
      for (;; ++index) {
        if (index >= max_symbols)
          return std::nullopt;
        end = std::max(end, index + 1);
        const auto link = at_address<std::uint32_t>(chain_address + (index - first) * 4, 1);
        if (!link)
          return std::nullopt;
        if (((*link)[0] & 1) != 0) // the chain ends here
          break;
      }
    }
    return end;
  }

  Status symbols() {
    const auto table = image_.tag(DT_SYMTAB), strings = image_.tag(DT_STRTAB),
               string_size = image_.tag(DT_STRSZ);
    if (!table || !strings || !string_size || image_.tag(DT_SYMENT) != sizeof(Elf64_Sym))
      return malformed("no symbol table");
    const auto hashed = hashed_symbols();
    if (!hashed)
      return malformed("the GNU hash table is missing or damaged");
    std::uint64_t count = std::max<std::uint64_t>(*hashed, 1);
    for (const Elf64_Rela& r : image_.relocations)
      count = std::max<std::uint64_t>(count, std::uint64_t{ELF64_R_SYM(r.r_info)} + 1);
    if (count > max_symbols)
      return malformed(fmt::format("more than {} dynamic symbols", max_symbols));
    const auto raw = at_address<Elf64_Sym>(*table, count);
    const auto text = at_address<char>(*strings, *string_size);
    if (!raw || !text)
      return malformed("the symbols lie outside the file");
    for (std::size_t i = 1; i < raw->size(); ++i) {
      const auto name = string_at(*text, (*raw)[i].st_name);
      if (!name)
        return malformed("a symbol name lies outside the string table");
      image_.symbols.push_back({std::string(*name), (*raw)[i]});
    }
    return {};
  }

  static std::optional<std::string_view> string_at(const std::vector<char>& text,
                                                   std::uint64_t offset) {
    if (offset >= text.size())
      return std::nullopt;
    const char* begin = text.data() + offset;
    const std::size_t room = text.size() - static_cast<std::size_t>(offset);
    const void* end = std::memchr(begin, 0, room);
    if (end == nullptr)
      return std::nullopt;
    return std::string_view(begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin));
  }

  /// Best effort: anything odd means no names, never a verdict.
  void static_symbols() {
    if (header_.e_shentsize != sizeof(Elf64_Shdr))
      return;
    const auto sections = records<Elf64_Shdr>(image_.bytes, header_.e_shoff, header_.e_shnum);
    if (!sections)
      return;
    for (const Elf64_Shdr& s : *sections) {
      if (s.sh_type != SHT_SYMTAB || s.sh_link >= sections->size())
        continue;
      const Elf64_Shdr& strings = (*sections)[s.sh_link];
      const auto raw = records<Elf64_Sym>(
          image_.bytes, s.sh_offset, std::min<std::uint64_t>(s.sh_size / sizeof(Elf64_Sym), 65536));
      const auto text = records<char>(image_.bytes, strings.sh_offset, strings.sh_size);
      if (!raw || !text)
        return;
      for (const Elf64_Sym& symbol : *raw)
        if (const auto name = string_at(*text, symbol.st_name); name && !name->empty())
          image_.static_symbols.push_back({std::string(*name), symbol});
      return;
    }
  }

  Elf64_Ehdr header_{};
  ElfImage image_;
};

} // namespace

std::optional<std::uint64_t> ElfImage::tag(std::int64_t wanted) const {
  for (const Elf64_Dyn& d : dynamic)
    if (d.d_tag == wanted)
      return d.d_un.d_val;
  return std::nullopt;
}

Result<ElfImage> parse_elf(std::span<const std::byte> bytes) {
  return Parser(bytes).run();
}

} // namespace kw
