/* SPDX-License-Identifier: Apache-2.0
 * void kw_trampoline(CallFrame*): see trampoline.hpp for the offsets. x86-64 System V.
 * After the call nothing but memory is trusted: the callee may have lost every register. */
#if !defined(__x86_64__)
#error "kernwright-runner calls kernels on x86-64 only"
#endif
    .intel_syntax noprefix
    .section .rodata
    .align 4
mxcsr_default: .long 0x1f80
    .local saved_frame
    .comm saved_frame, 8, 8
    .local saved_rsp
    .comm saved_rsp, 8, 8
    .globl kw_trampoline_has_avx
    .hidden kw_trampoline_has_avx
    .section .data
kw_trampoline_has_avx: .byte 0

    .text
    .globl kw_trampoline
    .hidden kw_trampoline
    .type kw_trampoline, @function
kw_trampoline:
    .cfi_startproc
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8
    stmxcsr [rsp]
    fnstcw [rsp + 4]
    mov [rip + saved_frame], rdi
    mov [rip + saved_rsp], rsp
    mov r11, rdi

    /* the kernel's stack, with the arguments that go in memory */
    mov rsp, [r11 + 136]
    mov rcx, [r11 + 120]
    lea rax, [rcx * 8]
    sub rsp, rax
    and rsp, -16
    mov rsi, [r11 + 128]
    mov rdi, rsp
    cld
    rep movsq
    mov [r11 + 208], rsp

    movsd xmm0, [r11 + 56]
    movsd xmm1, [r11 + 64]
    movsd xmm2, [r11 + 72]
    movsd xmm3, [r11 + 80]
    movsd xmm4, [r11 + 88]
    movsd xmm5, [r11 + 96]
    movsd xmm6, [r11 + 104]
    movsd xmm7, [r11 + 112]
    fninit
    ldmxcsr [rip + mxcsr_default]

    movabs rbx, 0x6b7700015a5a0001
    movabs rbp, 0x6b7700025a5a0002
    movabs r12, 0x6b7700035a5a0003
    movabs r13, 0x6b7700045a5a0004
    movabs r14, 0x6b7700055a5a0005
    movabs r15, 0x6b7700065a5a0006

    mov r10, [r11]
    mov rdi, [r11 + 8]
    mov rsi, [r11 + 16]
    mov rdx, [r11 + 24]
    mov rcx, [r11 + 32]
    mov r8, [r11 + 40]
    mov r9, [r11 + 48]
    xor eax, eax
    xor r11d, r11d
    call r10

    mov r11, [rip + saved_frame]
    mov [r11 + 144], rax
    mov [r11 + 152], rbx
    mov [r11 + 160], rbp
    mov [r11 + 168], r12
    mov [r11 + 176], r13
    mov [r11 + 184], r14
    mov [r11 + 192], r15
    mov [r11 + 200], rsp
    mov rsp, [rip + saved_rsp]
    pushfq
    pop qword ptr [r11 + 216]
    cld
    stmxcsr [r11 + 224]
    fnstcw [r11 + 228]
    fninit
    cmp byte ptr [rip + kw_trampoline_has_avx], 0
    je 1f
    vzeroupper
1:
    ldmxcsr [rsp]
    fldcw [rsp + 4]
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
    .cfi_endproc
    .size kw_trampoline, . - kw_trampoline

/* void kw_reset_entry(int signal, siginfo_t* info, void* context): see reset.cpp. Nothing but the
 * kernel's signal frame and read-only memory is trusted. The frame is abandoned. */
    .globl kw_reset_entry
    .hidden kw_reset_entry
    .type kw_reset_entry, @function
kw_reset_entry:
    mov eax, [rsi + 24] /* the thread's number */
    lea r12, [rip + kw_fixed]
    cmp rax, [r12]
    jb 2f
    ud2
2:
    mov rbx, rax
    mov rdx, [r12 + 16]
    mov r13d, [rdx] /* the call's nonce */
    lea r14, [rip + kw_waits]
    lea r15, [rip + kw_forgotten]
    mov ebp, 1
    test ebx, ebx
    jz 4f
    mov [r14 + rbx * 4], r13d
3:  /* a worker: until the first thread has forgotten the old jobs */
    cmp [r15], r13d
    je 6f
    mov eax, 24 /* sched_yield */
    syscall
    jmp 3b
4:  /* the first thread: until every worker waits */
    cmp rbp, [r12]
    jae 6f
    cmp [r14 + rbp * 4], r13d
    je 5f
    mov eax, 24
    syscall
    jmp 4b
5:
    inc rbp
    jmp 4b
6:
    mov rsp, [r12 + 24 + rbx * 8]
    cmp qword ptr [r12 + 8], 0
    je 7f
    mov rdx, [r12 + 24 + 8192 + rbx * 8]
    wrfsbase rdx
    xor edx, edx /* nobody uses gs: no place to leave something */
    wrgsbase rdx
7:
    push 2 /* no flag set: alignment checks above all */
    popfq
    fninit
    ldmxcsr [rip + mxcsr_default]
    xor ebp, ebp
    mov rdi, rbx
    call kw_after_reset
    ud2
    .size kw_reset_entry, . - kw_reset_entry
    .section .note.GNU-stack, "", @progbits
