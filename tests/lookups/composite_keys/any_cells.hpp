// SPDX-License-Identifier: Apache-2.0
// Tables whose columns have different types, and what is asked of a cell whatever its type is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "raydex/join.hpp"
#include "raydex/session.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {

// Cells of a column, and which are there.
template <class T>
struct nullable_cells {
  std::vector<T> values;
  std::vector<bool> there = {};

  bool valid(std::size_t i) const { return there.empty() || there[i]; }
  std::vector<std::uint8_t> bits() const {
    std::vector<std::uint8_t> all(values.size() / 8 + 1);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (valid(i)) all[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
    return all;
  }
};

// What a column does: for columns of different types in one table.
class any_cells {
 public:
  virtual ~any_cells() = default;
  virtual std::uint64_t size() const = 0;
  virtual bool valid(std::size_t i) const = 0;
  // Compares a cell with one of another column of the type: negative, 0 or positive.
  virtual int compare(std::size_t i, const any_cells& other, std::size_t j) const = 0;
  virtual key_part at(const session& where) = 0;
  // Whether a cell, of strings, begins with one of another column.
  virtual bool begins_with(std::size_t i, const any_cells& other, std::size_t j) const = 0;
};

// By bytes, whatever sign characters have.
struct cell_less : key_less {
  using key_less::operator();
  bool operator()(const std::string& a, const std::string& b) const { return a.compare(b) < 0; }
};

template <class T>
class typed_cells final : public any_cells {
 public:
  explicit typed_cells(nullable_cells<T> of) : of_(std::move(of)) {}
  std::uint64_t size() const override { return of_.values.size(); }
  bool valid(std::size_t i) const override { return of_.valid(i); }
  int compare(std::size_t i, const any_cells& other, std::size_t j) const override {
    const T& own = of_.values[i];
    const T& others = static_cast<const typed_cells&>(other).of_.values[j];
    return cell_less{}(own, others) ? -1 : cell_less{}(others, own) ? 1 : 0;
  }
  bool begins_with(std::size_t i, const any_cells& other, std::size_t j) const override {
    if constexpr (std::is_same_v<T, std::string>) {
      const T& prefix = static_cast<const typed_cells&>(other).of_.values[j];
      return of_.values[i].compare(0, prefix.size(), prefix) == 0;
    }
    return false;
  }
  key_part at(const session& where) override {
    if (!of_.there.empty()) bits_ = where.upload(of_.bits());
    if constexpr (std::is_same_v<T, std::string>) {
      std::string all;
      std::vector<std::uint32_t> offsets{0};
      for (const std::string& one : of_.values) {
        all += one;
        offsets.push_back(static_cast<std::uint32_t>(all.size()));
      }
      placed_ = where.upload(std::vector<char>(all.begin(), all.end()));
      offsets_ = where.upload(offsets);
      return string_column{placed_.data(), offsets_.data(), false, size(), bits_.data()};
    } else {
      placed_ = where.upload(of_.values);
      return column(placed_, bits_.data());
    }
  }

 private:
  nullable_cells<T> of_;
  buffer<std::conditional_t<std::is_same_v<T, std::string>, char, T>> placed_;
  buffer<std::uint32_t> offsets_;
  buffer<std::uint8_t> bits_;
};

using table = std::vector<std::unique_ptr<any_cells>>;

template <class... T>
table table_of(nullable_cells<T>... columns) {
  table all;
  (all.push_back(std::make_unique<typed_cells<T>>(std::move(columns))), ...);
  return all;
}

}  // namespace raydex::test
