/* SPDX-License-Identifier: Apache-2.0
 * The Python side of the protocol, carried inside the binary so that it always fits it. */
    .section .rodata
    .globl kw_python_peer_begin
    .globl kw_python_peer_end
    .hidden kw_python_peer_begin
    .hidden kw_python_peer_end
kw_python_peer_begin:
    .incbin "runner/python/kernwright_peer.py"
kw_python_peer_end:
    .section .note.GNU-stack, "", @progbits
