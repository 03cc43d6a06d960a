// SPDX-License-Identifier: Apache-2.0
// How libraydex_papers is found; compiled for each library that its objects are linked to, or not.
#include <string>

#include "src/choice/paper_library.hpp"

#if defined(RAYDEX_PAPERS_WITHIN)

namespace raydex {

// They are in this library.
std::string load_papers() {
  add_papers(described_papers());
  return {};
}

}  // namespace raydex

#else

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace raydex {

namespace {

// The file of that name beside the one that this function is in.
std::filesystem::path beside_this_library(const char* name) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_papers), &info) == 0) return name;
  return std::filesystem::path(info.dli_fname).replace_filename(name);
}

}  // namespace

std::string load_papers() {
  const std::filesystem::path near = beside_this_library(RAYDEX_PAPERS_FILE);
  std::error_code none;
  const bool is_near = std::filesystem::exists(near, none);
  // It takes what it needs of libraydex from the one that is loaded.
  if (dlopen(is_near ? near.c_str() : RAYDEX_PAPERS_FILE, RTLD_NOW | RTLD_LOCAL) != nullptr)
    return {};
  if (!is_near) return "is not installed beside libraydex";
  const char* const why = dlerror();
  return std::string("cannot be loaded: ") + (why == nullptr ? near.c_str() : why);
}

}  // namespace raydex

#endif
