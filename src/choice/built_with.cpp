// SPDX-License-Identifier: Apache-2.0
// What depends on how a library is built: which backends it has, and how it finds
// libraydex_papers. Compiled for each library that the other objects are linked to.
#include <string>

#include "src/choice/paper_library.hpp"
#include "src/interface/builders.hpp"

namespace raydex {

const backend_table* find_backend(backend where) noexcept {
  switch (where) {
    case backend::cpu:
      return &cpu::table;
#if defined(RAYDEX_WITH_CUDA)
    case backend::cuda:
      return &cuda::table;
#endif
#if defined(RAYDEX_WITH_OPTIX)
    case backend::optix:
      return &optix::table;
#endif
    default:
      return nullptr;
  }
}

}  // namespace raydex

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
