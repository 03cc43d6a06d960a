# SPDX-License-Identifier: Apache-2.0
# What every target of raydex is compiled with: link raydex_options privately.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

set(raydex_warnings -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC sees uninitialized members in its own std::regex once the code of a sanitizer is between.
  list(APPEND raydex_warnings -Wno-maybe-uninitialized)
endif()
if(RAYDEX_WERROR)
  list(APPEND raydex_warnings -Werror)
endif()
add_library(raydex_options INTERFACE)
target_compile_features(raydex_options INTERFACE cxx_std_20)
# A header is included by its path from here; a public one by its path from include/.
target_include_directories(raydex_options INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(raydex_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${raydex_warnings}>)

# Hardening of all that is built here. FORTIFY does nothing without optimisation, and sanitizers find
# what it finds. Files for nvcc are left out: their kernels would see its memcpy.
set(raydex_fortified $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(raydex_fortified 0)
endif()
add_compile_options(
  $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fstack-protector-strong>
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,${raydex_fortified}>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
add_link_options(LINKER:-z,relro LINKER:-z,now)

# Where ccache is found, builds of all clones and worktrees share what they have compiled.
find_program(RAYDEX_CCACHE ccache)
if(RAYDEX_CCACHE AND PROJECT_IS_TOP_LEVEL)
  foreach(language CXX CUDA)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
          CCACHE_SLOPPINESS=pch_defines,time_macros ${RAYDEX_CCACHE})
    endif()
  endforeach()
endif()
