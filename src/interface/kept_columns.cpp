// SPDX-License-Identifier: Apache-2.0
// Composite keys as bytes for files, and what is checked before a key is made of some.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "raydex/composite_keys.hpp"
#include "raydex/error.hpp"
#include "src/interface/cells_of_codes.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/composite_numbers.hpp"
#include "src/interface/host_copies.hpp"
#include "src/interface/packed_columns.hpp"

namespace raydex {

namespace {

// Columns are numbers of 64 bits, and each dictionary follows its column.
constexpr std::uint64_t no_format = ~std::uint64_t{0};  // of strings

class bytes_of_columns {
 public:
  explicit bytes_of_columns(const host_copies& by) : by_(by) {}

  void put(const packed_columns& of) {
    numbers({of.parts.size(), of.head != nullptr ? 1U : 0U});
    if (of.head) put(*of.head);
    for (std::size_t p = 0; p < of.parts.size(); ++p) {
      const composite_part& part = of.parts[p];
      numbers({part.format ? static_cast<std::uint64_t>(part.format->type) : no_format,
               part.format ? part.format->width : 0U, part.descending ? 1U : 0U,
               static_cast<std::uint64_t>(part.missing), part.numbered ? 1U : 0U, part.first,
               part.last, part.step, part.bits});
      if (of.words[p]) put(*of.words[p], !part.format);
    }
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put(const key_dictionary& words, bool are_strings) {
    numbers({words.size()});
    if (!are_strings) return append(by_.fetch(words.codes(by_.device())));
    const owned_strings all = by_.fetch(words.keys(by_.device()));
    append(all.offsets);
    append(all.bytes);
  }

  template <std::size_t N>
  void numbers(const std::uint64_t (&all)[N]) {
    append(std::span(all));
  }
  template <class All>
  void append(const All& all) {
    const auto some = std::as_bytes(std::span(all.data(), all.size()));
    bytes_.insert(bytes_.end(), some.begin(), some.end());
  }

  const host_copies& by_;
  std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse_bytes() {
  throw invalid_argument("bytes: they are none of a composite key");
}

class columns_of_bytes {
 public:
  columns_of_bytes(const host_copies& by, std::span<const std::byte> bytes)
      : by_(by), left_(bytes) {}

  // All columns of the key go to `parts`.
  std::unique_ptr<packed_columns> take(std::vector<composite_part>& parts, unsigned depth = 0) {
    const auto [count, has_head] = numbers<2>();
    if (count == 0 || count > most_key_parts || has_head > 1 || depth == most_key_parts)
      refuse_bytes();
    auto made = std::make_unique<packed_columns>();
    if (has_head != 0) made->head = take(parts, depth + 1);
    for (std::uint64_t p = 0; p < count; ++p) {
      made->parts.push_back(take_part());
      made->words.emplace_back();
      if (made->parts.back().numbered) made->words.back() = take_words(made->parts.back());
      if (p != 0 || !made->head) parts.push_back(made->parts.back());
    }
    if (made->head && !is_of(*made->head, made->parts.front())) refuse_bytes();
    if (bits_of(made->parts) > 64 || parts.size() > most_key_parts) refuse_bytes();
    return made;
  }
  bool is_empty() const { return left_.empty(); }

 private:
  static bool is_of(const packed_columns& head, const composite_part& part) {
    return part.numbered && part.format == packed_format(head.parts) && !part.descending &&
           part.missing == missing_cells::unmatched;
  }

  composite_part take_part() {
    const auto [type, width, descending, missing, numbered, first, last, step, bits] = numbers<9>();
    composite_part made;
    made.descending = descending != 0;
    made.missing = static_cast<missing_cells>(missing);
    made.numbered = numbered != 0;
    made.first = first;
    made.last = last;
    made.step = step;
    made.bits = static_cast<unsigned>(bits);
    if (descending > 1 || numbered > 1 || missing > std::uint64_t{2} || step == 0 || bits > 64)
      refuse_bytes();
    if (type != no_format) {
      if (type > static_cast<std::uint64_t>(key_type::bytes) || width > 8) refuse_bytes();
      made.format.emplace(static_cast<key_type>(type));
      made.format->width = static_cast<std::uint8_t>(width);
      if (!made.format->is_legal()) refuse_bytes();
    } else if (numbered == 0) {
      refuse_bytes();
    }
    if (!has_span(made)) refuse_bytes();
    return made;
  }

  key_dictionary take_words(const composite_part& part) {
    const auto [count] = numbers<1>();
    // Numbers are odd.
    if (count > left_.size() / sizeof(std::uint64_t) || part.step != 2 || part.first != 1 ||
        part.last != (count == 0 ? 0 : 2 * count - 1))
      refuse_bytes();
    key_dictionary made = part.format ? of_codes(*part.format, count) : of_strings(count);
    if (made.size() != count) refuse_bytes();
    return made;
  }
  key_dictionary of_codes(key_format format, std::uint64_t count) {
    const auto codes = array<std::uint64_t>(count);
    buffer<char> cells(by_.host(), count * format.width);
    for (std::uint64_t i = 0; i < count; ++i)
      put_cell(codes[i], format, cells.data() + i * format.width);
    by_.place(cells);
    return {by_.where(), by_.device(), column(format, cells.data(), count)};
  }
  key_dictionary of_strings(std::uint64_t count) {
    auto offsets = array<std::uint64_t>(count + 1);
    for (std::uint64_t i = 0; i <= count; ++i)
      if (offsets[i] < (i == 0 ? 0 : offsets[i - 1])) refuse_bytes();
    if (offsets[0] != 0) refuse_bytes();
    auto letters = array<char>(offsets[count]);
    by_.place(offsets);
    by_.place(letters);
    return {by_.where(), by_.device(),
            string_column{letters.data(), offsets.data(), true, count, {}}};
  }

  template <std::size_t N>
  std::array<std::uint64_t, N> numbers() {
    std::array<std::uint64_t, N> made;
    copy_to(made.data(), N);
    return made;
  }
  template <class T>
  buffer<T> array(std::uint64_t size) {
    if (size > left_.size() / sizeof(T)) refuse_bytes();
    buffer<T> made(by_.host(), size);
    copy_to(made.data(), size);
    return made;
  }
  template <class T>
  void copy_to(T* to, std::uint64_t size) {
    if (size > left_.size() / sizeof(T)) refuse_bytes();
    if (size != 0) std::memcpy(to, left_.data(), size * sizeof(T));
    left_ = left_.subspan(size * sizeof(T));
  }

  const host_copies& by_;
  std::span<const std::byte> left_;
};

}  // namespace

std::vector<std::byte> composite_keys::to_bytes(const context& on) const try {
  check_space(on, where_);
  const host_copies by(where_, on);
  bytes_of_columns made(by);
  made.put(*packed_);
  return made.take();
} catch (...) {
  rethrow_as_error();
}

composite_keys::composite_keys(backend where) : where_(where) {}

composite_keys composite_keys::from_bytes(backend where, const context& on,
                                          std::span<const std::byte> bytes) try {
  check_available(where);
  check_space(on, where);
  const host_copies by(where, on);
  columns_of_bytes from(by, bytes);
  composite_keys made(where);
  made.packed_ = from.take(made.parts_);
  if (!from.is_empty()) refuse_bytes();
  return made;
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
