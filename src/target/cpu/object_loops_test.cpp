// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/object_loops.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

/// A plain matrix product as g++-12 builds it, with lines.
constexpr std::string_view scalar_product = R"(
object.so:     file format elf64-x86-64

Disassembly of section .text:

0000000000001110 <mm>:
mm():
/tmp/src/mm.cpp:4
    1110:	test   %rcx,%rcx
    1113:	jle    11a4 <mm+0x94>
    1131:	lea    0x0(,%rdx,4),%r9
    1150:	lea    -0x100000(%rsi),%rax
    115a:	vxorps %xmm0,%xmm0,%xmm0
/tmp/src/mm.cpp:8 (discriminator 3)
    1160:	vmovss (%rcx),%xmm1
    1164:	add    $0x800,%rax
    116a:	add    $0x4,%rcx
    116e:	vfmadd231ss -0x800(%rax),%xmm1,%xmm0
    1177:	cmp    %rsi,%rax
    117a:	jne    1160 <mm+0x50>
    117c:	vmovss %xmm0,(%r9,%r8,4)
    1191:	jne    1150 <mm+0x40>
    119d:	jne    1131 <mm+0x21>
    11a3:	ret
)";

TEST(ObjectLoops, TheInnermostOfThree) {
  const std::vector<ObjectLoop> loops = object_loops(scalar_product, "mm");
  ASSERT_EQ(loops.size(), 1u);
  const ObjectLoop& l = loops[0];
  EXPECT_EQ(l.function, "mm");
  EXPECT_EQ(l.file, "mm.cpp");
  EXPECT_EQ(l.line, 8);
  EXPECT_EQ(l.depth, 3);
  EXPECT_EQ(l.instructions, 6);
  EXPECT_EQ(l.scalar, 1);
  EXPECT_EQ(l.packed, 0);
  EXPECT_EQ(l.vector_bits, 0);
  EXPECT_EQ(l.fma, 1);
  EXPECT_EQ(l.accumulators, 1);
  EXPECT_EQ(l.loads, 2);
  EXPECT_EQ(l.stores, 0);
  EXPECT_TRUE(l.hot);
  EXPECT_NEAR(l.confidence, 0.9, 1e-9);
}

constexpr std::string_view two_loops = R"(
0000000000001000 <helper>:
    1000:	addss  (%rdi),%xmm0
    1004:	add    $0x4,%rdi
    1008:	jne    1000 <helper>
    100a:	ret

0000000000001100 <f>:
    1100:	vmovups (%rdi),%zmm1
    1106:	vfmadd231ps (%rsi),%zmm1,%zmm2
    110c:	vfmadd231ps 0x40(%rsi),%zmm1,%zmm3
    1112:	vdivps %zmm4,%zmm2,%zmm5
    1118:	vmovups %zmm5,(%rdx)
    111e:	vmovups %zmm5,0x8(%rsp)
    1124:	call   1000 <helper>
    1129:	vgatherdps (%rax,%zmm6,4),%zmm7{%k1}
    1130:	prefetcht0 0x80(%rdi)
    1134:	cmpl   $0x0,(%r8)
    1138:	jne    1100 <f>
    113a:	ret
)";

TEST(ObjectLoops, InstructionsByKind) {
  const std::vector<ObjectLoop> loops = object_loops(two_loops, "f");
  ASSERT_EQ(loops.size(), 2u);
  const ObjectLoop& l = loops[0];
  EXPECT_EQ(l.function, "f") << "the entry first";
  EXPECT_EQ(l.vector_bits, 512);
  EXPECT_EQ(l.packed, 3);
  EXPECT_EQ(l.fma, 2);
  EXPECT_EQ(l.divides, 1);
  EXPECT_EQ(l.calls, 1);
  EXPECT_EQ(l.gathers, 1);
  EXPECT_EQ(l.stores, 2);
  EXPECT_EQ(l.spills, 1);
  EXPECT_EQ(l.loads, 5) << "a comparison reads its last operand, a prefetch loads nothing";
  EXPECT_EQ(l.accumulators, 2);
  EXPECT_TRUE(l.hot);
  EXPECT_EQ(loops[1].accumulators, 1);
  EXPECT_FALSE(loops[1].hot);
}

TEST(ObjectLoops, CodeThatAnAssemblerReadsAgain) {
  const std::vector<ObjectLoop> loops = object_loops(R"(
0000000000001000 <f>:
    1000:	lock addl $0x1,(%rdi)
    1004:	data16 cs nopw 0x0(%rax,%rax,1)
    1008:	vmovss 0xe9a(%rip),%xmm0        # 2000 <_fini+0x10>
    1010:	vmovups %zmm0,(%rsi){%k1}
    1016:	je     1020 <f+0x20>
    1018:	call   2000 <g>
    101d:	jne    1000 <f>
    1020:	ret
)",
                                                     "f");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].code, "kw_turn:\n  lock addl $0x1,(%rdi)\n  nop\n  vmovss 0xe9a(%rip),%xmm0\n"
                           "  vmovups %zmm0,(%rsi){%k1}\n  je kw_elsewhere\n  call kw_elsewhere\n"
                           "  jne kw_turn\n");
  EXPECT_EQ(loops[0].atomics, 1);
  EXPECT_EQ(loops[0].branches, 2);
  EXPECT_EQ(loops[0].stores, 2) << "one of them under a mask";
  EXPECT_EQ(loops[0].loads, 1);
}

TEST(ObjectLoops, NothingIsNoCrash) {
  EXPECT_TRUE(object_loops("", "f").empty());
  EXPECT_TRUE(object_loops("0000 <f>:\n    10:\n :\t\n    zz:\tnop\n", "f").empty());
  EXPECT_TRUE(object_loops("0000000000001000 <f>:\n    1000:\tjmp    1000 <f>\n", "f").empty());
}

} // namespace
} // namespace kw
