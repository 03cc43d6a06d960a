// SPDX-License-Identifier: Apache-2.0
// XXH64, the checksum of sections of a file: https://github.com/Cyan4973/xxHash, seed 0.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace raydex {

class xxh64 {
 public:
  void add(std::span<const std::byte> bytes) {
    size_ += bytes.size();
    if (kept_ != 0) {
      const std::size_t more = std::min(bytes.size(), stripe - kept_);
      std::memcpy(rest_.data() + kept_, bytes.data(), more);
      kept_ += more;
      bytes = bytes.subspan(more);
      if (kept_ < stripe) return;
      mix(rest_.data());
      kept_ = 0;
    }
    for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe))
      mix(bytes.data());
    if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
    kept_ = bytes.size();
  }

  std::uint64_t sum() const {
    std::uint64_t all = p5;
    if (size_ >= stripe) {
      all = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
            std::rotl(lanes_[3], 18);
      for (const std::uint64_t lane : lanes_)
        all = (all ^ round(0, lane)) * p1 + p4;
    }
    all += size_;
    const std::byte* at = rest_.data();
    std::size_t left = kept_;
    for (; left >= 8; at += 8, left -= 8)
      all = std::rotl(all ^ round(0, number<std::uint64_t>(at)), 27) * p1 + p4;
    for (; left >= 4; at += 4, left -= 4)
      all = std::rotl(all ^ number<std::uint32_t>(at) * p1, 23) * p2 + p3;
    for (; left != 0; ++at, --left)
      all = std::rotl(all ^ std::to_integer<std::uint64_t>(*at) * p5, 11) * p1;
    all = (all ^ all >> 33) * p2;
    all = (all ^ all >> 29) * p3;
    return all ^ all >> 32;
  }

  static std::uint64_t of(std::span<const std::byte> bytes) {
    xxh64 all;
    all.add(bytes);
    return all.sum();
  }

 private:
  static constexpr std::uint64_t p1 = 0x9e37'79b1'85eb'ca87;
  static constexpr std::uint64_t p2 = 0xc2b2'ae3d'27d4'eb4f;
  static constexpr std::uint64_t p3 = 0x1656'67b1'9e37'79f9;
  static constexpr std::uint64_t p4 = 0x85eb'ca77'c2b2'ae63;
  static constexpr std::uint64_t p5 = 0x27d4'eb2f'1656'67c5;
  static constexpr std::size_t stripe = 32;

  template <class Number>
  static Number number(const std::byte* at) {
    Number read;
    std::memcpy(&read, at, sizeof read);
    return read;
  }
  static std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
    return std::rotl(lane + word * p2, 31) * p1;
  }
  void mix(const std::byte* at) {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      lanes_[lane] = round(lanes_[lane], number<std::uint64_t>(at + 8 * lane));
  }

  std::array<std::uint64_t, 4> lanes_{p1 + p2, p2, 0, 0 - p1};
  std::array<std::byte, stripe> rest_;
  std::size_t kept_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace raydex
