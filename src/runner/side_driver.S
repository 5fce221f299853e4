/* SPDX-License-Identifier: Apache-2.0
 * Source of the side runs' driver, carried inside the binary so that it always fits it. */
    .section .rodata
    .globl kw_side_driver_begin
    .globl kw_side_driver_end
    .globl kw_side_wire_begin
    .globl kw_side_wire_end
    .hidden kw_side_driver_begin
    .hidden kw_side_driver_end
    .hidden kw_side_wire_begin
    .hidden kw_side_wire_end
kw_side_driver_begin:
    .incbin "runner/side/driver.cpp"
kw_side_driver_end:
kw_side_wire_begin:
    .incbin "runner/side/wire.hpp"
kw_side_wire_end:
    .section .note.GNU-stack, "", @progbits
