// SPDX-License-Identifier: Apache-2.0
// Several arrays in one .npz file: a zip archive of .npy files, written by libzip.
#include "io/npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <array>
#include <memory>
#include <vector>

#include "io/npy_header.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

[[noreturn]] void fail(const output_file& file, const char* reason) {
  throw invalid_argument(fmt::format("{}: cannot be written: {}", file.path(), reason));
}

using archive_handle = std::unique_ptr<zip_t, decltype(&zip_discard)>;

archive_handle create(const output_file& file) {
  int code = 0;
  archive_handle archive(zip_open(file.temporary().c_str(), ZIP_TRUNCATE, &code), &zip_discard);
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  fail(file, reason.c_str());
}

// Adds a member; the archive reads the preamble and the cells when it is closed.
bool add(zip_t* archive, const npz_member& member, const std::string& preamble) {
  const std::array pieces{
      zip_buffer_fragment_t{reinterpret_cast<zip_uint8_t*>(const_cast<char*>(preamble.data())),
                            preamble.size()},
      zip_buffer_fragment_t{
          reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(member.cells.data())),
          member.cells.size()}};
  const zip_uint64_t count = member.cells.empty() ? 1 : 2;
  zip_source_t* source = zip_source_buffer_fragment(archive, pieces.data(), count, 0);
  if (source == nullptr) return false;
  const zip_int64_t added = zip_file_add(archive, (member.name + ".npy").c_str(), source, 0);
  if (added < 0) {
    zip_source_free(source);
    return false;
  }
  // 1980-01-01: equal arrays make equal files.
  constexpr zip_uint16_t first_day = 1 << 5 | 1;
  const auto entry = static_cast<zip_uint64_t>(added);
  return zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) == 0 &&
         zip_file_set_dostime(archive, entry, 0, first_day, 0) == 0;
}

}  // namespace

void write_npz(output_file& file, std::span<const npz_member> members) {
  std::vector<std::string> preambles;
  for (const npz_member& member : members) {
    const std::array shape{std::uint64_t{member.cells.size() / member.dtype.width}};
    preambles.push_back(npy_preamble(member.dtype, shape));
  }
  archive_handle archive = create(file);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!add(archive.get(), members[i], preambles[i])) fail(file, zip_strerror(archive.get()));
  }
  if (zip_close(archive.get()) != 0) fail(file, zip_strerror(archive.get()));
  static_cast<void>(archive.release());
}

}  // namespace raydex::io
