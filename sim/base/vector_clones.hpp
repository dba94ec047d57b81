#pragma once
// Defines a macro that is written before a function whose loops over plain arrays must be fast. The
// function is compiled once per instruction set, and the loader picks the best version. All
// versions give the same bits, because the project is built without fused multiply-add
// (sim/same_bits.cmake).
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__)
#define STEPSIM_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STEPSIM_VECTOR_CLONES
#endif
