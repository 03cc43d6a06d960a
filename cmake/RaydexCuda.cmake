# SPDX-License-Identifier: Apache-2.0
# Finds CUDA 12.4 or later, or says why the cuda backend is left out. Sets RAYDEX_WITH_CUDA.
set(RAYDEX_WITH_CUDA OFF)
if(RAYDEX_CUDA STREQUAL "OFF")
  message(STATUS "raydex: cuda backend left out (RAYDEX_CUDA=OFF)")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER AND NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  # Named one by one, those that this nvcc knows: CMake 3.25's "all-major" holds some that CUDA 13 refuses. What comes
  # after the last one takes its PTX.
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known)
  foreach(architecture 75 80 86 89 90 100 120)
    if(known MATCHES "compute_${architecture}\n")
      list(APPEND architectures ${architecture}-real)
      set(last ${architecture})
    endif()
  endforeach()
  list(POP_BACK architectures)
  set(CMAKE_CUDA_ARCHITECTURES ${architectures} ${last} CACHE STRING "CUDA architectures")
endif()
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.4)
    set(RAYDEX_WITH_CUDA ON)
    set(reason "nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
  else()
    set(reason "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 12.4")
  endif()
else()
  set(reason "no CUDA compiler found: put nvcc on the PATH or set CUDACXX")
endif()

if(RAYDEX_WITH_CUDA)
  message(STATUS "raydex: cuda backend built (${reason})")
  find_package(CUDAToolkit REQUIRED)
  target_compile_options(raydex_options INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wconversion,-Wshadow>
    # CMake 3.25 does not know how to ask nvcc for C++20.
    $<$<COMPILE_LANGUAGE:CUDA>:--std=c++20;--expt-relaxed-constexpr>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${RAYDEX_WERROR}>>:--Werror=all-warnings>)
  if(RAYDEX_QUICK_KERNELS)
    message(STATUS "raydex: kernels compiled quickly, to run slowly (RAYDEX_QUICK_KERNELS=ON)")
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.9)
      target_compile_options(raydex_options INTERFACE
        $<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>)
    endif()
  elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    # Kernels that differ in a type are much alike: they take a sixth of the room.
    target_compile_options(raydex_options INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
  endif()
elseif(RAYDEX_CUDA STREQUAL "ON")
  message(FATAL_ERROR "raydex: RAYDEX_CUDA=ON, but ${reason}")
else()
  message(STATUS "raydex: cuda backend left out (${reason})")
endif()
