# SPDX-License-Identifier: Apache-2.0
# Writes the file OUTPUT, which defines NAME as the text of the file INPUT. Run at build time.
file(READ "${INPUT}" text)
# A literal must not be too long for a compiler: it is cut at ends of lines.
string(LENGTH "${text}" length)
set(literals "")
set(begin 0)
set(most 8000)
while(begin LESS length)
  string(SUBSTRING "${text}" ${begin} ${most} piece)
  string(APPEND literals "R\"text(${piece})text\"\n")
  math(EXPR begin "${begin} + ${most}")
endwhile()
file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
#include \"optix/programs.hpp\"

namespace raydex::optix {
const std::string_view ${NAME} =
${literals};
}  // namespace raydex::optix
")
