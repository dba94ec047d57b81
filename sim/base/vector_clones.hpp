#pragma once
// For loops over plain arrays that must be fast: compiled once per instruction set, the best one is
// chosen when the program is loaded. Files that use it are built with -ffp-contract=off (see their
// CMakeLists.txt), so that multiply and add are never fused and all versions give the same bits.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__)
#define STEPSIM_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STEPSIM_VECTOR_CLONES
#endif
