# Read by CMake at the beginning of llama-cpp-python's project: compiles what predtui calls, in half the time.
# CMAKE_ARGS="-DCMAKE_PROJECT_llama_cpp_INCLUDE=<this file>" pip install llama-cpp-python
set(LLAMA_BUILD_COMMON OFF)  # what llama.cpp's own programs share
set(LLAVA_BUILD OFF)         # pictures
set(LLAMA_ALL_WARNINGS OFF)
set(GGML_ALL_WARNINGS OFF)

# libllama loads files and lays out graphs, whose arithmetic is ggml's: only that is worth the full optimisation.
function(predtui_lighten)
  if(TARGET llama AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(llama PRIVATE -O1)
  endif()
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL predtui_lighten)
