// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/load_chains.hpp"

#include <gtest/gtest.h>
#include <string>

namespace kw {
namespace {

/// `loop` as a function of its own.
std::string listing(const std::string& loop) {
  std::string text = "0000000000001000 <f>:\n";
  int address = 0x1000;
  for (std::size_t at = 0; at < loop.size();) {
    const std::size_t end = loop.find('\n', at);
    char number[16];
    std::snprintf(number, sizeof number, "    %x:\t", address++);
    text += number + loop.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

int chased(const std::string& loop) {
  const std::string text = listing(loop);
  return chased_loads(read_machine_code(text).at(0).code);
}

int indirect(const std::string& loop) {
  const std::string text = listing(loop);
  return indirect_loads(read_machine_code(text).at(0).code);
}

TEST(LoadChains, AnIndexThatIsLoaded) {
  EXPECT_EQ(indirect("movslq (%rsi,%rax,4),%rcx\nvmovss (%rdi,%rcx,4),%xmm0\n"
                     "vmovss %xmm0,(%rdx,%rax,4)\nadd $0x1,%rax\ncmp %rax,%r8\njne 1000 <f>\n"),
            1);
  EXPECT_EQ(indirect("mov (%rdi),%rax\nmov (%rax,%rdx,4),%ecx\nadd $0x1,%rdx\njne 1000 <f>\n"), 0)
      << "a base that is loaded: a pointer, the same every turn";
  EXPECT_EQ(indirect("vmovups (%rsi,%rax,1),%zmm0\nadd $0x40,%rax\njne 1000 <f>\n"), 0);
}

TEST(LoadChains, AnAddressMadeOfTheLoadBefore) {
  EXPECT_EQ(chased("movslq (%rdi,%rax,4),%rax\ndec %rcx\njne 1000 <f>\n"), 1);
  EXPECT_EQ(chased("mov (%rdi,%rax,4),%eax\nadd %edx,%eax\nand %esi,%eax\n"
                   "add $0x11,%edx\ncltq\njne 1000 <f>\n"),
            1)
      << "through arithmetic and other names of the register";
  EXPECT_EQ(chased("mov (%rdi,%r8,4),%r9d\nlea 0x1(%r9),%r10\nmov %r10,%r8\njne 1000 <f>\n"), 1)
      << "through moves";
  EXPECT_EQ(chased("mov (%rax),%rax\nmov (%rbx),%rbx\njne 1000 <f>\n"), 2) << "two chains";
}

TEST(LoadChains, AddressesThatCountUp) {
  EXPECT_EQ(chased("vmovss (%rcx),%xmm1\nadd $0x4,%rcx\nvfmadd231ss -0x800(%rax),%xmm1,%xmm0\n"
                   "add $0x800,%rax\ncmp %rsi,%rax\njne 1000 <f>\n"),
            0);
  EXPECT_EQ(
      chased("mov (%rdi,%rcx,4),%eax\nvmovss (%rsi,%rax,4),%xmm0\nvmovss %xmm0,(%rdx,%rcx,4)\n"
             "inc %rcx\njne 1000 <f>\n"),
      0)
      << "an index that is loaded, but not from where the last one pointed";
  EXPECT_EQ(chased("mov (%rdi,%rax,4),%eax\nmov %ecx,%eax\ninc %rcx\njne 1000 <f>\n"), 0)
      << "overwritten before it is used";
  EXPECT_EQ(chased("mov (%rdi,%rax,4),%eax\nxor %eax,%eax\njne 1000 <f>\n"), 0);
  EXPECT_EQ(chased("\n"), 0);
}

} // namespace
} // namespace kw
