// How a thread of a forward on a CPU waits for the others: spinning, as ggml has it, but giving its core away from time
// to time. The one that it waits for may be ready to run on the very same core, where a busy program has taken another:
// each of a forward's hundreds of barriers then takes a time slice, and the forward seconds. llama.cmake has ggml-cpu.c
// include it.
#if !defined(_WIN32)
#include <sched.h>

__attribute__((visibility("default"))) const int predtui_gives_way = 1;  // by which predtui knows such a library

static inline void predtui_wait(void) {
    static _Thread_local unsigned spins;
    if (++spins % 2048 != 0) {
        ggml_thread_cpu_relax();
    } else {
        sched_yield();
    }
}
#else
static inline void predtui_wait(void) { ggml_thread_cpu_relax(); }
#endif
