// Included in front of ggml's files by llama.cmake. GCC's own _tile_loadconfig, before 11.5, 12.4, 13.3 and 14, tells the
// optimiser of 8 of the 64 bytes it reads; the others are then not written, and the first product over AMX tiles ends the
// process by SIGSEGV.
#ifdef __AMX_TILE__
#include <immintrin.h>
#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg %0" : : "m"(*(const char(*)[64])(config)))
#endif
