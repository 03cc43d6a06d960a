# SPDX-License-Identifier: Apache-2.0
# Writes the file OUTPUT, which defines NAME as the text of the file INPUT. Run at build time.
# Numbers of characters, since a literal of a whole text may be too long for a compiler.
file(READ "${INPUT}" text HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," characters "${text}")
string(REGEX REPLACE "(0x0a,)" "\\1\n" characters "${characters}")
file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
#include \"src/machines/optix/engine/pipeline.hpp\"

namespace raydex::optix {
namespace {
constexpr char text[] = {
${characters}};
}  // namespace
const std::string_view ${NAME}(text, sizeof text);
}  // namespace raydex::optix
")
