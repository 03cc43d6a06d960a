// SPDX-License-Identifier: Apache-2.0
// The external sort of an index file: entries that are gathered, runs of them that are sorted and
// spilled, and the merge of these into the file.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/index_file_builder.hpp"
#include "raydex/memory.hpp"
#include "src/interface/column_slice.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/index_file_format.hpp"
#include "src/interface/index_file_sink.hpp"
#include "src/interface/row_id_checks.hpp"
#include "src/machines/cpu/keys/merge_runs.hpp"
#include "src/machines/cpu/keys/radix_sort.hpp"
#include "src/machines/cpu/keys/spill_file.hpp"

namespace raydex::cpu {

// An array of a file, written from front to back.
class written_array {
 public:
  written_array(const char* name, std::uint64_t after, std::uint64_t bytes)
      : section_{name, array_begin(after), bytes, 0} {}
  std::uint64_t end() const { return section_.begin + section_.bytes; }
  void append(const disk_sink& to, std::span<const std::byte> bytes) {
    constexpr std::size_t cached = std::size_t{1} << 18;
    for (std::size_t at = 0; at < bytes.size(); at += cached) {
      const auto next = bytes.subspan(at, std::min(cached, bytes.size() - at));
      sum_.add(next);
      to.write(next, section_.begin + size_);
      size_ += next.size();
    }
  }
  file_section section() const {
    file_section all = section_;
    all.sum = sum_.sum();
    return all;
  }

 private:
  file_section section_;
  std::uint64_t size_ = 0;
  xxh64 sum_;
};

// The file of a sorted array, whose keys and row ids grow side by side.
template <class Key, class RowId>
class sorted_file {
 public:
  sorted_file(const std::string& path, std::uint64_t entries)
      : to_(path),
        keys_("keys", sizeof(file_header), entries * sizeof(Key)),
        rows_("row ids", keys_.end(), entries * sizeof(RowId)) {}

  void append(const Key* keys, const RowId* rows, std::uint64_t size) {
    for_each_part(2, [&](std::uint64_t part) {
      if (part == 0) {
        keys_.append(to_, std::as_bytes(std::span(keys, size)));
      } else {
        rows_.append(to_, std::as_bytes(std::span(rows, size)));
      }
    });
  }
  void finish(const index_info& info, std::string_view note) {
    written_array notes(note_section, rows_.end(), note.size());
    notes.append(to_, std::as_bytes(std::span(note)));
    file_directory directory;
    describe(directory, info);
    directory.sections = {keys_.section(), rows_.section(), notes.section()};
    directory_writer all;
    directory.visit(all);
    const std::uint64_t begin = array_begin(notes.end());
    to_.write(all.bytes(), begin);
    const file_header header = header_of(begin, all.bytes());
    to_.finish(std::as_bytes(std::span(&header, 1)));
  }

 private:
  disk_sink to_;
  written_array keys_;
  written_array rows_;
};

// What has all entries, whatever their types.
class entry_sorter {
 public:
  entry_sorter() = default;
  entry_sorter(const entry_sorter&) = delete;
  entry_sorter& operator=(const entry_sorter&) = delete;
  virtual ~entry_sorter() = default;
  // What explicit row ids are; throws for those that are not legal.
  virtual row_id_facts inspect(const column& row_ids) const = 0;
  // Row ids that were inspected, or none.
  virtual void append(const column& keys, const std::optional<column>& row_ids,
                      const row_id_facts& facts) = 0;
  virtual std::uint64_t entries() const = 0;
  // Writes the file; the description is that of the index.
  virtual void write(const std::string& path, const index_info& info, std::string_view note) = 0;
};

// Rows are counted from the first one of their run on if they are not explicit, so that 32 bits
// number them.
template <class Key, class Row>
class sorted_runs final : public entry_sorter {
 public:
  sorted_runs(const context& on, std::uint64_t memory, spill_file& spill)
      : on_(on),
        memory_(memory),
        // Twice the entries, to sort them, and what a radix sort counts.
        capacity_(memory / 64 * 63 / (2 * (sizeof(Key) + sizeof(Row)))),
        spill_(&spill) {}

  std::uint64_t entries() const override { return spilled_ + filled_; }

  row_id_facts inspect(const column& row_ids) const override {
    const core::encoded_column<Row> ids{cells_of(row_ids)};
    row_id_facts all;
    if (row_ids.size != 0) all.descents = ids[0] < last_row_ ? 1 : 0;
    std::vector<row_id_facts> facts((row_ids.size + block - 1) / block);
    for_each_part(facts.size(), [&](std::uint64_t b) {
      for (std::uint64_t i = b * block; i < std::min(row_ids.size, (b + 1) * block); ++i)
        facts[b].add(ids, i);
    });
    for (const row_id_facts& one : facts)
      all.add(one);
    all.check(not_found<Row>);
    return all;
  }

  void append(const column& keys, const std::optional<column>& row_ids,
              const row_id_facts& facts) override {
    if (keys.size == 0) return;
    if (gathered_.keys.size() == 0) gathered_ = {on_, capacity_};
    rows_descend_ = rows_descend_ || facts.descents != 0;
    for (std::uint64_t at = 0, size = 0; at < keys.size; at += size) {
      const bool is_numbered = row_ids || n_ - base_ < not_found<std::uint32_t> - at_once;
      if (filled_ == capacity_ || !is_numbered) spill_run();
      size = std::min({keys.size - at, capacity_ - filled_, at_once});
      if (row_ids) {
        const auto rows = slice(*row_ids, at, size);
        const core::encoded_column<Row> ids{cells_of(rows)};
        gather(slice(keys, at, size), [&](std::uint64_t i) { return ids[i]; });
        last_row_ = ids[size - 1];
      } else {
        const std::uint64_t first = n_ - base_;
        gather(slice(keys, at, size), [&](std::uint64_t i) { return static_cast<Row>(first + i); });
        n_ += size;
      }
    }
  }

  void write(const std::string& path, const index_info& info, std::string_view note) override {
    if (info.row_ids == row_id_type::uint64) return write_as<std::uint64_t>(path, info, note);
    if constexpr (sizeof(Row) == 4) write_as<std::uint32_t>(path, info, note);
  }

 private:
  static constexpr std::uint64_t at_once = std::uint64_t{1} << 22;
  static constexpr std::uint64_t block = std::uint64_t{1} << 16;
  // Entries of a run that are in memory while runs are merged: as many as are read at once without
  // much loss, and the fewest.
  static constexpr std::uint64_t most_read = std::uint64_t{1} << 20;
  static constexpr std::uint64_t least_read = std::uint64_t{1} << 8;

  struct run {
    std::uint64_t keys;  // where they are
    std::uint64_t rows;
    std::uint64_t size;
    std::uint64_t base;
  };
  // A run as it is merged.
  struct reader {
    run left;  // what was not read
    buffer<Key> keys;
    buffer<Row> rows;
    std::uint64_t begin = 0;  // what of these is still to be merged
    std::uint64_t size = 0;
  };

  // Copies the entries that are not missing.
  template <class RowOf>
  void gather(const column& keys, const RowOf& row_of) {
    const core::encoded_column<Key> codes{cells_of(keys)};
    const std::uint64_t blocks = (keys.size + block - 1) / block;
    const auto end_of = [&](std::uint64_t b) { return std::min(keys.size, (b + 1) * block); };
    std::vector<std::uint64_t> begins(blocks + 1, filled_);
    for_each_part(blocks, [&](std::uint64_t b) {
      std::uint64_t there = 0;
      for (std::uint64_t i = b * block; i < end_of(b); ++i)
        there += codes.valid(i) ? 1U : 0U;
      begins[b + 1] = there;
    });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    for_each_part(blocks, [&](std::uint64_t b) {
      std::uint64_t next = begins[b];
      if (next == begins[b + 1]) return;
      for (std::uint64_t i = b * block; i < end_of(b); ++i) {
        if (!codes.valid(i)) continue;
        gathered_.keys.data()[next] = codes[i];
        gathered_.values.data()[next] = row_of(i);
        ++next;
      }
    });
    filled_ = begins.back();
  }

  void sort() {
    const Row* const rows = rows_descend_ ? gathered_.values.data() : nullptr;
    if (ascend(gathered_.keys.data(), rows, filled_)) return;
    if (scratch_.keys.size() < filled_) scratch_ = {on_, filled_};
    if (rows_descend_) sort_by_row(on_, gathered_, scratch_, filled_);
    radix_sort(on_, gathered_, scratch_, {}, filled_);
  }

  void spill_run() {
    if (filled_ != 0) {
      if (runs_.size() + 1 > memory_ / 64 * 63 / (least_read * merged_bytes<std::uint64_t>())) {
        throw invalid_argument(fmt::format(
            "memory: {} bytes are too few for more than {} rows; {} serve four times as "
            "many",
            memory_, spilled_, 2 * memory_));
      }
      sort();
      const auto keys = spill_->append(std::as_bytes(std::span(gathered_.keys.data(), filled_)));
      const auto rows = spill_->append(std::as_bytes(std::span(gathered_.values.data(), filled_)));
      runs_.push_back({keys, rows, filled_, base_});
      spilled_ += std::exchange(filled_, 0);
    }
    base_ = n_;
  }

  // Bytes that an entry takes while runs are merged.
  template <class RowId>
  static constexpr std::uint64_t merged_bytes() {
    return sizeof(Key) + sizeof(Row) + sizeof(Key) + sizeof(RowId);
  }

  template <class RowId>
  void write_as(const std::string& path, const index_info& info, std::string_view note) {
    sorted_file<Key, RowId> to(path, entries());
    if (runs_.empty()) {
      sort();
      scratch_ = {};
      write_gathered(to);
    } else {
      spill_run();
      gathered_ = {};
      scratch_ = {};
      merge(to);
    }
    to.finish(info, note);
  }

  template <class RowId>
  void write_gathered(sorted_file<Key, RowId>& to) {
    buffer<RowId> rows(on_, std::min(filled_, at_once));
    for (std::uint64_t at = 0; at < filled_; at += rows.size()) {
      const std::uint64_t size = std::min(filled_ - at, rows.size());
      for (std::uint64_t i = 0; i < size; ++i)
        rows[i] = static_cast<RowId>(base_ + gathered_.values[at + i]);
      to.append(gathered_.keys.data() + at, rows.data(), size);
    }
  }

  template <class RowId>
  void merge(sorted_file<Key, RowId>& to) {
    using piece = run_piece<Key, Row, RowId>;
    const std::uint64_t room =
        std::min(most_read, memory_ / 64 * 63 / (runs_.size() * merged_bytes<RowId>()));
    std::vector<reader> readers;
    for (const run& one : runs_) {
      const std::uint64_t size = std::min(room, one.size);
      readers.push_back({one, {on_, size}, {on_, size}});
    }
    buffer<Key> keys(on_, room * readers.size());
    buffer<RowId> rows(on_, room * readers.size());
    std::vector<piece> pieces(readers.size());
    std::vector<std::uint64_t> sizes(readers.size());
    for (std::uint64_t merged = 0; merged != spilled_;) {
      watch::tell("merging", merged / room + 1, spilled_ / room + 1);
      for_each_part(readers.size(), [&](std::uint64_t i) { fill(readers[i]); });
      // What is beyond the last entry in memory of a run comes later than that.
      std::optional<core::entry<Key, RowId>> last;
      for (std::size_t i = 0; i < readers.size(); ++i) {
        const reader& one = readers[i];
        pieces[i] = {one.keys.data() + one.begin, one.rows.data() + one.begin, one.size,
                     one.left.base};
        if (one.left.size == 0) continue;
        const auto own = pieces[i][one.size - 1];
        if (!last || own < *last) last = own;
      }
      std::uint64_t total = 0;
      for (std::size_t i = 0; i < readers.size(); ++i) {
        sizes[i] = last ? pieces[i].below(next_of(*last)) : pieces[i].size;
        total += sizes[i];
      }
      merge_pieces(pieces, sizes, keys.data(), rows.data());
      to.append(keys.data(), rows.data(), total);
      merged += total;
      for (std::size_t i = 0; i < readers.size(); ++i) {
        readers[i].begin += sizes[i];
        readers[i].size -= sizes[i];
      }
    }
    watch::tell("", 0, 0);
  }

  // No entry is between; no row id is the last one.
  template <class RowId>
  static core::entry<Key, RowId> next_of(const core::entry<Key, RowId>& one) {
    return {one.key, static_cast<RowId>(one.row + 1)};
  }

  // Reads on where at least half of the room is free, and has the system read what comes then.
  void fill(reader& one) const {
    const std::uint64_t room = one.keys.size();
    if (one.left.size == 0 || 2 * one.size > room) return;
    std::memmove(one.keys.data(), one.keys.data() + one.begin, one.size * sizeof(Key));
    std::memmove(one.rows.data(), one.rows.data() + one.begin, one.size * sizeof(Row));
    one.begin = 0;
    const std::uint64_t more = std::min(one.left.size, room - one.size);
    spill_->read(std::as_writable_bytes(std::span(one.keys.data() + one.size, more)),
                 one.left.keys);
    spill_->read(std::as_writable_bytes(std::span(one.rows.data() + one.size, more)),
                 one.left.rows);
    one.size += more;
    one.left.keys += more * sizeof(Key);
    one.left.rows += more * sizeof(Row);
    one.left.size -= more;
    const std::uint64_t next = std::min(one.left.size, room);
    if (next == 0) return;
    spill_->expect(one.left.keys, next * sizeof(Key));
    spill_->expect(one.left.rows, next * sizeof(Row));
  }

  context on_;
  std::uint64_t memory_;
  std::uint64_t capacity_;
  spill_file* spill_;
  pairs<Key, Row> gathered_;
  pairs<Key, Row> scratch_;
  std::uint64_t filled_ = 0;
  std::vector<run> runs_;
  std::uint64_t spilled_ = 0;  // entries
  std::uint64_t n_ = 0;        // rows that were numbered
  std::uint64_t base_ = 0;     // those before the run that is gathered
  bool rows_descend_ = false;
  Row last_row_ = 0;
};

}  // namespace raydex::cpu
