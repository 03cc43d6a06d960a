// SPDX-License-Identifier: Apache-2.0
//
// __shared__ variables are static ones whose symbols carry a tag (see qualifiers.hpp). The symbol
// tables of the program and of its libraries tell where they are; variables of a stripped file are
// not filled.
#include "tests/emulation/static_shared.hpp"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/emulation/sanitizer.hpp"

namespace emulation::detail {
namespace {

constexpr std::string_view tag = "B15emulated_shared";

using variable_list = std::vector<std::span<std::byte>>;

template <typename Type>
std::vector<Type> read_table(std::ifstream& file, std::size_t offset, std::size_t bytes) {
  std::vector<Type> table(bytes / sizeof(Type));
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(table.data()),
            static_cast<std::streamsize>(table.size() * sizeof(Type)));
  if (!file) table.clear();
  return table;
}

void collect(const std::string& path, ElfW(Addr) base, variable_list& variables) {
  std::ifstream file(path, std::ios::binary);
  const auto headers = read_table<ElfW(Ehdr)>(file, 0, sizeof(ElfW(Ehdr)));
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto sections =
      read_table<ElfW(Shdr)>(file, headers[0].e_shoff, headers[0].e_shnum * sizeof(ElfW(Shdr)));
  for (const auto& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto symbols = read_table<ElfW(Sym)>(file, section.sh_offset, section.sh_size);
    const auto& strings = sections.at(section.sh_link);
    auto names = read_table<char>(file, strings.sh_offset, strings.sh_size);
    names.push_back('\0');
    for (const auto& symbol : symbols) {
      const std::string_view name = names.data() + symbol.st_name;
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
      // Guards and lifetime-extended temporaries carry their variable's tag, too.
      if (name.find(tag) == std::string_view::npos || name.starts_with("_ZG")) continue;
      // The address is a sum of what the loader and the file say.
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      auto* const begin = reinterpret_cast<std::byte*>(base + symbol.st_value);
      variables.emplace_back(begin, permitted_bytes(begin, symbol.st_size));
    }
  }
}

variable_list find_variables() {
  variable_list variables;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* opaque) {
        const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        collect(std::string(name.empty() ? "/proc/self/exe" : name), info->dlpi_addr,
                *static_cast<variable_list*>(opaque));
        return 0;
      },
      &variables);
  return variables;
}

}  // namespace

void spoil_static_shared() {
  static const variable_list variables = find_variables();
  for (const auto variable : variables)
    std::memset(variable.data(), 0xA5, variable.size());
}

}  // namespace emulation::detail
