// SPDX-License-Identifier: Apache-2.0
// Several arrays in one .npz file: a zip archive of .npy files, not compressed.
#include "io/npz.hpp"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/npy_header.hpp"

namespace raydex::io {

namespace {

// Fields of an archive's records: little-endian numbers, and texts.
template <class... Fields>
std::string record(const Fields&... fields) {
  std::string bytes;
  const auto add = [&]<class Field>(const Field& field) {
    if constexpr (std::is_integral_v<Field>) {
      for (std::size_t i = 0; i < sizeof field; ++i)
        bytes.push_back(static_cast<char>(field >> 8 * i & 0xff));
    } else {
      bytes += field;
    }
  };
  (add(fields), ...);
  return bytes;
}

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u16 version = 45;            // 4.5, whose sizes have 64 bits
constexpr u16 first_day = 1 << 5 | 1;  // 1980-01-01: equal arrays make equal files
constexpr u32 elsewhere = 0xffffffff;  // a size that stands in the fields of 64 bits

// What a member's two headers have in common.
std::string description(const std::string& name, u32 checksum, u16 extra_size) {
  constexpr u16 stored = 0;
  return record(version, u16{0}, stored, u16{0}, first_day, checksum, elsewhere, elsewhere,
                static_cast<u16>(name.size()), extra_size);
}

u32 checksum_of(std::span<const std::byte> bytes, u32 so_far) {
  return static_cast<u32>(
      ::crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

void write_npz(output_file& file, std::span<const npz_member> members) {
  u64 place = 0;
  const auto write = [&](std::span<const std::byte> bytes) {
    file.write(bytes);
    place += bytes.size();
  };
  const auto write_text = [&](std::string_view text) { write(std::as_bytes(std::span(text))); };

  std::string directory;
  for (const npz_member& member : members) {
    const std::string name = member.name + ".npy";
    const std::string preamble =
        npy_preamble(member.dtype, std::array{u64{member.cells.size() / member.dtype.width}});
    const u64 size = preamble.size() + member.cells.size();
    // crc32 takes no bytes at null as a wish to begin anew.
    u32 checksum = checksum_of(std::as_bytes(std::span(preamble)), 0);
    if (!member.cells.empty()) checksum = checksum_of(member.cells, checksum);
    const auto sizes = [&](u16 bytes) { return record(u16{1}, bytes, size, size); };
    const std::string in_directory = sizes(24) + record(place);
    directory += record(u32{0x02014b50}, version,
                        description(name, checksum, static_cast<u16>(in_directory.size())), u16{0},
                        u16{0}, u16{0}, u32{0}, elsewhere, name, in_directory);
    write_text(record(u32{0x04034b50},
                      description(name, checksum, static_cast<u16>(sizes(16).size())), name,
                      sizes(16)));
    write_text(preamble);
    write(member.cells);
  }

  const u64 begin = place;
  write_text(directory);
  const u64 end = place;
  const u64 count = members.size();
  write_text(record(u32{0x06064b50}, u64{44}, version, version, u32{0}, u32{0}, count, count,
                    u64{directory.size()}, begin));
  write_text(record(u32{0x07064b50}, u32{0}, end, u32{1}));
  const auto few = static_cast<u16>(count);
  write_text(record(u32{0x06054b50}, u16{0}, u16{0}, few, few, elsewhere, elsewhere, u16{0}));
}

}  // namespace raydex::io
