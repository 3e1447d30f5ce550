// Marks loops that are compiled once per instruction set; the version is chosen when the program is
// loaded.
#pragma once

// The loader chooses the version before a sanitizer is initialised, and instrumented code crashes
// there. Builds with a sanitizer therefore compile the default version only.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PARBENCH_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PARBENCH_SIMD
#endif
