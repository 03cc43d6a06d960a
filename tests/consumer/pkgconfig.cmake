# SPDX-License-Identifier: Apache-2.0
# Installs the build BUILD_DIR below WORK_DIR, moves it, then compiles programs with what pkg-config says
# and runs them, with the compiler CXX and the flags CXX_FLAGS of that build. VERSION is what it says it is.
file(REMOVE_RECURSE ${WORK_DIR})
find_program(PKG_CONFIG pkg-config REQUIRED)
separate_arguments(CXX_FLAGS UNIX_COMMAND "${CXX_FLAGS}")

# run(COMMAND... [OUTPUT variable]): stops at a failure.
function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT" "")
  execute_process(COMMAND ${arg_UNPARSED_ARGUMENTS} OUTPUT_VARIABLE output
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
endfunction()
function(expect name output expected)
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "${name} printed '${output}', not '${expected}'")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/moved)
file(GLOB_RECURSE file ${WORK_DIR}/moved/raydex.pc)
cmake_path(GET file PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})

run(${PKG_CONFIG} --modversion raydex OUTPUT version)
expect("pkg-config --modversion" "${version}" ${VERSION})
run(${PKG_CONFIG} --variable=libdir raydex OUTPUT libdir)
run(${PKG_CONFIG} --static --cflags --libs raydex OUTPUT flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
foreach(name main version)
  file(GLOB_RECURSE source ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
  run(${CXX} -std=c++20 ${CXX_FLAGS} ${source} -o ${WORK_DIR}/${name} ${flags} -Wl,-rpath,${libdir})
  run(${WORK_DIR}/${name} OUTPUT ${name})
endforeach()
if(EXISTS ${folder}/raydex-papers.pc)  # else it is in a static libraydex
  find_program(CC NAMES cc gcc clang REQUIRED)
  run(${PKG_CONFIG} --cflags --libs raydex OUTPUT flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${CC} -std=c11 ${CXX_FLAGS} ${CMAKE_CURRENT_LIST_DIR}/project/main.c -o ${WORK_DIR}/in_c ${flags} -Wl,-rpath,${libdir})
  run(${WORK_DIR}/in_c OUTPUT in_c)
  expect("the program in C" "${in_c}" "20: 2 rows\n35: 0 rows\n60: 0 rows\n2 pairs")
  run(${PKG_CONFIG} --cflags --libs raydex-papers OUTPUT flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
endif()
run(${CXX} -std=c++20 ${CXX_FLAGS} ${CMAKE_CURRENT_LIST_DIR}/project/papers.cpp -o ${WORK_DIR}/papers ${flags}
    -Wl,-rpath,${libdir})
run(${WORK_DIR}/papers)
expect(main "${main}" "2 rows\n2 rows\n0 rows")
expect(version "${version}" "${VERSION} ${VERSION}")
