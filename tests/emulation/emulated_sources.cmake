# SPDX-License-Identifier: Apache-2.0
#
# raydex_emulated_sources(<target> <source>...)
#
# Adds CUDA sources to a target as plain C++ and links the emulation. LANGUAGE is a property of a
# source in the calling directory, so a target of another directory still compiles the same file as
# CUDA. Within one directory a file can be only one of the two.
include_guard(GLOBAL)

function(raydex_emulated_sources target)
  foreach(source IN LISTS ARGN)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    target_sources(${target} PRIVATE "${path}")
    # By its name the compiler would not take the file for C++.
    set_source_files_properties("${path}" PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
  endforeach()
  target_link_libraries(${target} PRIVATE raydex_emulation)
endfunction()
