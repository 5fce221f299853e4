// SPDX-License-Identifier: Apache-2.0
#include "runner/fault_text.hpp"

#include <array>
#include <csignal>
#include <gtest/gtest.h>

namespace kw {
namespace {

struct FaultText : testing::Test {
  FaultText() {
    const std::array<std::size_t, 2> sizes{4096, 100};
    buffers = plan_layout(sizes, Placement::end_aligned, 1 << 20).value();
    note.signal = SIGSEGV;
    note.noted_signal = SIGSEGV;
    note.input_base = 0x10'0000'0000;
    note.output_base = 0x20'0000'0000;
    note.stack_base = 0x30'0000'0000;
    note.stack_bytes = 8 << 20;
    note.workspace_base = 0x40'0000'0000;
    note.workspace_bytes = 1 << 20;
  }
  std::string at(std::uint64_t address, bool write) {
    note.address = address;
    note.write = write;
    return describe_fault(note, buffers, buffers);
  }
  std::vector<BufferSpan> buffers;
  FaultNote note;
};

TEST_F(FaultText, WriteIntoInput) {
  EXPECT_EQ(at(note.input_base + buffers[0].offset + 128, true),
            "SIGSEGV, writing into the read-only inputs (input 0, byte 128)");
}
TEST_F(FaultText, PastTheEndOfAnOutput) {
  EXPECT_EQ(at(note.output_base + buffers[0].pages_end + 12, true),
            "SIGSEGV, writing 12 bytes past the end of output 0");
}
TEST_F(FaultText, BeforeAnInput) {
  EXPECT_EQ(at(note.input_base + buffers[1].pages_begin - 8, false),
            "SIGSEGV, reading " + std::to_string(buffers[1].offset - buffers[1].pages_begin + 8) +
                " bytes before input 1");
}
TEST_F(FaultText, NullStackWorkspaceAndWild) {
  EXPECT_EQ(at(8, false), "SIGSEGV, reading through a null pointer");
  EXPECT_EQ(at(note.stack_base - 16, true), "SIGSEGV, stack overflow: the stack has 8 MiB");
  EXPECT_EQ(at(note.workspace_base + note.workspace_bytes, true),
            "SIGSEGV, writing past the end of the workspace");
  EXPECT_EQ(at(0xdead'0000, true), "SIGSEGV, writing at address 0xdead0000, outside every buffer");
}
TEST_F(FaultText, NoNoteNoStory) {
  note.noted_signal = 0;
  EXPECT_EQ(at(8, false), "SIGSEGV");
}

} // namespace
} // namespace kw
