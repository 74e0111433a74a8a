# Read by CMake at the beginning of llama-cpp-python's project: compiles what predtui calls, in half the time.
# CMAKE_ARGS="-DCMAKE_PROJECT_llama_cpp_INCLUDE=<this file>" pip install llama-cpp-python
set(LLAMA_BUILD_COMMON OFF)  # what llama.cpp's own programs share
set(LLAVA_BUILD OFF)         # pictures
set(LLAMA_ALL_WARNINGS OFF)
set(GGML_ALL_WARNINGS OFF)
set(GGML_OPENMP OFF)         # whose threads spin on after each forward, on cores that others could use

function(predtui_flags)
  # libllama loads files and lays out graphs, whose arithmetic is ggml's: only that is worth the full optimisation.
  if(TARGET llama AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(llama PRIVATE -O1)
  endif()
  # With AMX mended, prompts over repacked Q8_0 and Q4_0 take 0.4 of the time of stored ones; with AMX left out, 1 and 0.6.
  if(TARGET ggml-cpu AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(ggml-cpu PRIVATE "SHELL:-include \"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/amx.h\"")
  endif()
  if(TARGET ggml-cpu)
    predtui_one_kernel()
    predtui_one_barrier()
  endif()
endfunction()

# Of ggml-cpu's source file, a copy with changes: pairs of a regular expression and what takes its place.
function(predtui_change file)
  get_target_property(folder ggml-cpu SOURCE_DIR)
  get_target_property(sources ggml-cpu SOURCES)
  if(NOT file IN_LIST sources)
    return()
  endif()
  file(READ ${folder}/${file} code)
  while(ARGN)
    list(POP_FRONT ARGN pattern replacement)
    string(REGEX REPLACE "${pattern}" "${replacement}" code "${code}")
  endwhile()
  get_filename_component(name ${file} NAME)
  get_filename_component(beside ${folder}/${file} DIRECTORY)
  file(WRITE ${CMAKE_BINARY_DIR}/predtui/${name} "${code}")
  list(TRANSFORM sources REPLACE "^${file}$" "${CMAKE_BINARY_DIR}/predtui/${name}")
  set_target_properties(ggml-cpu PROPERTIES SOURCES "${sources}")
  target_include_directories(ggml-cpu PRIVATE ${beside})
endfunction()

# Products with one column then go through the kernel of those with more, whose sums are in another order than those of
# the product of two vectors: a token has the same logits however many are evaluated beside it. Attention goes through a
# kernel of ours, of which the same is true, where it can.
function(predtui_one_kernel)
  predtui_change(ggml-cpu/llamafile/sgemm.cpp "if \\(n < [248]\\)" "if (n < 1)")
  predtui_change(ggml-cpu/ops.cpp
    "#include \"vec.h\"" "#include \"vec.h\"\n#include \"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/attention.h\""
    "(ggml_compute_forward_flash_attn_ext_f16\\(params, dst\\))"
    "if (!predtui::attention(dst, params->ith, params->nth)) \\1")
endfunction()

# Threads that wait for one another give way to those they wait for.
function(predtui_one_barrier)
  predtui_change(ggml-cpu/ggml-cpu.c
    "(void ggml_barrier\\(struct ggml_threadpool \\* tp\\) {)" "#include \"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/barrier.h\"\n\\1"
    "        ggml_thread_cpu_relax" "        predtui_wait")
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL predtui_flags)
