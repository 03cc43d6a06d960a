# SPDX-License-Identifier: Apache-2.0
# Installs the build BUILD_DIR into an empty prefix below WORK_DIR, then builds and runs the consumer
# project against it, with the compiler CXX and the flags CXX_FLAGS of that build, and uninstalls it.
file(REMOVE_RECURSE ${WORK_DIR})
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
if(EXISTS ${WORK_DIR}/prefix/bin/raydex)
  run(${WORK_DIR}/prefix/bin/raydex structures)  # finds its library
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK_DIR}/build -G Ninja
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS} -DCMAKE_C_FLAGS=${CXX_FLAGS})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
foreach(own own_memory own_stream)  # the latter if there is CUDA
  if(EXISTS ${WORK_DIR}/build/${own})
    run(${WORK_DIR}/build/${own})
  endif()
endforeach()
execute_process(COMMAND ${WORK_DIR}/build/consumer OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
message("${output}")
if(NOT output STREQUAL "2 rows\n2 rows\n0 rows\n")
  message(FATAL_ERROR "the consumer printed something else than expected")
endif()
execute_process(COMMAND ${WORK_DIR}/build/consumer_in_c OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "20: 2 rows\n35: 0 rows\n60: 0 rows\n2 pairs\n")
  message(FATAL_ERROR "the consumer in C printed '${output}'")
endif()
run(${WORK_DIR}/build/consumer_of_papers)

# Without libraydex_papers. A static libraydex holds it.
file(GLOB_RECURSE papers ${WORK_DIR}/prefix/libraydex_papers.*)
if(papers)
  file(REMOVE ${papers})
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK_DIR}/alone -G Ninja
      -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS} -DCMAKE_C_FLAGS=${CXX_FLAGS})
  if(EXISTS ${WORK_DIR}/prefix/bin/raydex)
    run(${WORK_DIR}/prefix/bin/raydex structures)
    execute_process(COMMAND ${WORK_DIR}/prefix/bin/raydex structures eytzinger RESULT_VARIABLE status ERROR_VARIABLE error)
    if(NOT status EQUAL 1 OR NOT error MATCHES "eytzinger is in libraydex_papers, which is not installed beside libraydex")
      message(FATAL_ERROR "raydex structures eytzinger ended with ${status}: ${error}")
    endif()
  endif()
endif()

# As docs/building.md says.
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
execute_process(COMMAND xargs rm INPUT_FILE ${BUILD_DIR}/install_manifest.txt COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE left ${WORK_DIR}/prefix/*)
if(left)
  message(FATAL_ERROR "these are left after an uninstallation: ${left}")
endif()
