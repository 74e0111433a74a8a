# Read by CMake at the beginning of llama-cpp-python's project: compiles what predtui calls, in half the time.
# CMAKE_ARGS="-DCMAKE_PROJECT_llama_cpp_INCLUDE=<this file>" pip install llama-cpp-python
set(LLAMA_BUILD_COMMON OFF)  # what llama.cpp's own programs share
set(LLAVA_BUILD OFF)         # pictures
set(LLAMA_ALL_WARNINGS OFF)
set(GGML_ALL_WARNINGS OFF)

function(predtui_flags)
  # libllama loads files and lays out graphs, whose arithmetic is ggml's: only that is worth the full optimisation.
  if(TARGET llama AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(llama PRIVATE -O1)
  endif()
  # With AMX mended, prompts over repacked Q8_0 and Q4_0 take 0.4 of the time of stored ones; with AMX left out, 1 and 0.6.
  if(TARGET ggml-cpu AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(ggml-cpu PRIVATE "SHELL:-include \"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/amx.h\"")
  endif()
  predtui_one_kernel()
endfunction()

# Products with one column then go through the kernel of those with more, whose sums are in another order than those of
# the product of two vectors: a token has the same logits however many are evaluated beside it.
function(predtui_one_kernel)
  if(NOT TARGET ggml-cpu)
    return()
  endif()
  get_target_property(folder ggml-cpu SOURCE_DIR)
  get_target_property(sources ggml-cpu SOURCES)
  set(sgemm ggml-cpu/llamafile/sgemm.cpp)
  if(NOT sgemm IN_LIST sources)
    return()
  endif()
  file(READ ${folder}/${sgemm} code)
  string(REGEX REPLACE "if \\(n < [248]\\)" "if (n < 1)" code "${code}")
  file(WRITE ${CMAKE_BINARY_DIR}/predtui/sgemm.cpp "${code}")
  list(TRANSFORM sources REPLACE "^${sgemm}$" "${CMAKE_BINARY_DIR}/predtui/sgemm.cpp")
  set_target_properties(ggml-cpu PROPERTIES SOURCES "${sources}")
  target_include_directories(ggml-cpu PRIVATE ${folder}/ggml-cpu/llamafile)
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL predtui_flags)
