// SPDX-License-Identifier: Apache-2.0
// Several arrays in one .npz file: a zip archive of .npy files, written by libzip.
#include "files/npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <vector>

#include "files/npy_header.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

[[noreturn]] void fail(const output_file& file, const char* reason) {
  throw invalid_argument(fmt::format("{}: cannot be written: {}", file.path(), reason));
}

// The sink through which libzip writes an archive to an output file.
class archive_file {
 public:
  explicit archive_file(output_file& file) : file_(file) {}
  archive_file(const archive_file&) = delete;
  archive_file& operator=(const archive_file&) = delete;

  // The callback through which libzip uses the file.
  static zip_int64_t serve(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command) {
    return static_cast<archive_file*>(self)->serve(data, size, command);
  }

  // Throws the error behind a failed call of libzip, if it came from the file.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  zip_int64_t serve(void* data, zip_uint64_t size, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
      case ZIP_SOURCE_STAT:  // nothing is there yet
        zip_stat_init(static_cast<zip_stat_t*>(data));
        return sizeof(zip_stat_t);
      case ZIP_SOURCE_WRITE:
        return write({static_cast<const std::byte*>(data), size});
      case ZIP_SOURCE_TELL_WRITE:
        return static_cast<zip_int64_t>(place_);
      case ZIP_SOURCE_SEEK_WRITE:
        return seek(data, size);
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, size);
      default:
        return 0;
    }
  }

  zip_int64_t write(std::span<const std::byte> bytes) {
    return guarded([&] {
      file_.write(bytes);
      place_ += bytes.size();
      end_ = std::max(end_, place_);
      return static_cast<zip_int64_t>(bytes.size());
    });
  }

  zip_int64_t seek(void* where, zip_uint64_t size) {
    const zip_int64_t place = zip_source_seek_compute_offset(place_, end_, where, size, &error_);
    if (place < 0) return -1;
    return guarded([&] {
      file_.seek(static_cast<std::uint64_t>(place));
      place_ = static_cast<std::uint64_t>(place);
      return zip_int64_t{0};
    });
  }

  // No exception may pass through libzip, which is C.
  template <class Work>
  zip_int64_t guarded(Work&& work) noexcept {
    try {
      return work();
    } catch (...) {
      failure_ = std::current_exception();
      zip_error_set(&error_, ZIP_ER_WRITE, 0);
      return -1;
    }
  }

  output_file& file_;
  std::uint64_t place_ = 0;
  std::uint64_t end_ = 0;
  std::exception_ptr failure_;
  zip_error_t error_{};
};

using archive_handle = std::unique_ptr<zip_t, decltype(&zip_discard)>;

// An archive that is written to `through` when it is closed.
archive_handle create(const output_file& file, archive_file& through) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_function_create(&archive_file::serve, &through, &error);
  archive_handle archive(
      source == nullptr ? nullptr : zip_open_from_source(source, ZIP_TRUNCATE, &error),
      &zip_discard);
  if (archive) return archive;
  zip_source_free(source);
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
  archive_file through(file);
  archive_handle archive = create(file, through);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!add(archive.get(), members[i], preambles[i])) fail(file, zip_strerror(archive.get()));
  }
  if (zip_close(archive.get()) != 0) {
    through.rethrow();
    fail(file, zip_strerror(archive.get()));
  }
  static_cast<void>(archive.release());
}

}  // namespace raydex::io
