// SPDX-License-Identifier: Apache-2.0
// Indexes to be kept in files, what they answer, and files of them to be changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/interface/xxh64.hpp"
#include "tests/conformance/tested_options.hpp"

namespace raydex::test {

using bytes = std::vector<std::byte>;

struct subject {
  std::string structure;
  option_map options;
};

// All that can be kept, with all of their options.
inline std::vector<subject> subjects(backend where) {
  std::vector<subject> all;
  for (const capability& can : capabilities()) {
    if (can.where != where) continue;
    const auto options = tested_options().find(can.structure);
    const std::vector<option_map> sets =
        options == tested_options().end() ? std::vector<option_map>{{}} : options->second;
    for (const option_map& one : sets)
      if (!one.contains("primitives")) all.push_back({can.structure, one});
  }
  return all;
}

// What an index answers to points, and to ranges if it takes them.
inline std::vector<std::uint64_t> answers(const session& at, const index& of,
                                          std::uint64_t most = 3000) {
  std::vector<std::uint64_t> all;
  const auto ask = [&]<class Key>(Key) {
    std::vector<Key> lower;
    std::vector<Key> upper;
    for (Key key = 0; key < most; key += 7) {
      lower.push_back(key);
      upper.push_back(static_cast<Key>(key + key % 50));
    }
    const auto low = at.upload(lower);
    const auto high = at.upload(upper);
    const auto answer = [&](const probes& batch) {
      const matches found = of.rows(at, batch);
      for (const std::uint64_t offset : at.download(found.offsets))
        all.push_back(offset);
      const auto rows = at.download(found.rows);
      std::vector<std::uint64_t> sums(lower.size());
      buffer<std::uint64_t> to(at, lower.size());
      of.sum(at, batch, to);
      for (const std::uint64_t sum : at.download(to))
        all.push_back(sum);
      for (const std::byte one : rows)
        all.push_back(std::to_integer<std::uint64_t>(one));
    };
    answer(points(column(low)));
    if (!of.info().structure.starts_with("hash_")) answer(ranges(column(low), column(high)));
  };
  if (of.info().key.width == 4) {
    ask(std::uint32_t{});
  } else {
    ask(std::uint64_t{});
  }
  return all;
}

// Whether the structure takes a batch.
template <class Key>
bool insert_and_erase(const session& at, index& in) {
  const auto insert = at.upload(std::vector<Key>{5, 1500, 5, 2999, 700});
  const auto rows = at.upload(std::vector<std::uint32_t>{100'000, 100'001, 3, 4, 5});
  const auto erase = at.upload(std::vector<Key>{10, 11, 12, 13, 2000});
  try {
    in.edit(static_cast<context>(at).stream, {.insert = column(insert),
                                              .insert_rows = column(rows),
                                              .erase = column(erase),
                                              .erase_rows = std::nullopt});
  } catch (const unsupported&) {  // keys too far apart, or rows that are no ranks
    return false;
  }
  return true;
}

// A file in parts that may be changed; checksums are made right again.
class file_parts {
 public:
  explicit file_parts(bytes all) : all_(std::move(all)) {
    std::uint64_t at = number(24);
    const auto skip_text = [&] { at += 8 + number(at); };
    for (int i = 0; i < 3; ++i)
      skip_text();
    at += 4 * 8;
    const std::uint64_t numbers = number(at);
    at += 8;
    for (std::uint64_t i = 0; i < numbers; ++i) {
      skip_text();
      numbers_.push_back(at);
      at += 8;
    }
    const std::uint64_t sections = number(at);
    at += 8;
    for (std::uint64_t i = 0; i < sections; ++i) {
      const auto* const name = reinterpret_cast<const char*>(all_.data()) + at + 8;
      names_.emplace_back(name, number(at));
      skip_text();
      sections_.push_back(at);
      at += 24;
    }
  }
  std::uint64_t number(std::uint64_t at) const {
    std::uint64_t value = 0;
    std::memcpy(&value, all_.data() + at, sizeof value);
    return value;
  }
  void put(std::uint64_t at, std::uint64_t value) {
    if (at <= all_.size() - sizeof value) std::memcpy(all_.data() + at, &value, sizeof value);
  }
  // Where numbers of the directory are, and where its sections are said to be.
  const std::vector<std::uint64_t>& numbers() const { return numbers_; }
  const std::vector<std::uint64_t>& sections() const { return sections_; }
  // The names of those.
  const std::vector<std::string>& names() const { return names_; }

  // Whether a byte is between sections.
  bool is_padding(std::uint64_t at) const {
    if (at < 64 || at >= number(24)) return false;
    return std::ranges::none_of(sections_, [&](std::uint64_t one) {
      return at >= number(one) && at - number(one) < number(one + 8);
    });
  }
  // The same parts, of a file that was changed.
  void become(bytes changed) { all_ = std::move(changed); }

  // The file with right checksums of what lies within it.
  const bytes& summed() {
    for (const std::uint64_t one : sections_)
      put_sum(one + 16, number(one), number(one + 8));
    put_sum(40, number(24), number(32));
    put_sum(56, 0, 56);
    return all_;
  }

 private:
  void put_sum(std::uint64_t at, std::uint64_t begin, std::uint64_t size) {
    if (begin <= all_.size() && size <= all_.size() - begin)
      put(at, xxh64::of(std::span(all_).subspan(begin, size)));
  }
  bytes all_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint64_t> sections_;
  std::vector<std::string> names_;
};

}  // namespace raydex::test
