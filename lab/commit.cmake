# SPDX-License-Identifier: Apache-2.0
# Writes the header HEADER that says which commit of the tree SOURCE was built; touches it only if
# that changed. Run at build time.
set(commit "unknown")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short HEAD WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    execute_process(COMMAND ${GIT_EXECUTABLE} status --porcelain --untracked-files=no
      WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE changes ERROR_QUIET)
    set(commit "${hash}")
    if(changes)
      string(APPEND commit "+")
    endif()
  endif()
endif()
set(text "// SPDX-License-Identifier: Apache-2.0
/// @file
/// The commit that was built, with a + where files differ from it.
#pragma once

namespace raydex::bench {
inline constexpr const char* commit = \"${commit}\";
}  // namespace raydex::bench
")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
