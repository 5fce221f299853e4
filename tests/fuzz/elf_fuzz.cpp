// SPDX-License-Identifier: Apache-2.0
// Admission of arbitrary bytes: no crash, no read outside the input, and nothing that is admitted
// breaks the rules that a second, dumber reading of the program headers can check.
#include "target/cpu/admit.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const kw::Result<kw::Admission> a =
      kw::admit(bytes, {.entry = "k", .sources = {{"k.cpp", "int k;"}}});
  if (!a || !a->admitted())
    return 0;
  Elf64_Ehdr head;
  std::memcpy(&head, data, sizeof head);
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr p;
    std::memcpy(&p, data + head.e_phoff + i * sizeof p, sizeof p);
    const unsigned both = PF_W | PF_X;
    if (p.p_type == PT_LOAD && ((p.p_flags & both) == both || p.p_offset + p.p_filesz > size))
      std::abort();
    if (p.p_type == PT_INTERP || (p.p_type == PT_TLS && p.p_memsz > 0))
      std::abort();
  }
  return 0;
}
