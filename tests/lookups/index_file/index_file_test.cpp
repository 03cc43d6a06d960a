// SPDX-License-Identifier: Apache-2.0
// Indexes that go through the bytes of a file, whole, damaged and made by somebody to do harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/lookups/index_file/damaged_files.hpp"
#include "tests/lookups/index_file/kept_indexes.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

template <class Key>
std::vector<Key> keys_of(std::size_t size, std::uint64_t distinct) {
  auto random = generator(size);
  std::vector<Key> keys(size);
  for (Key& key : keys)
    key = static_cast<Key>(below(random, distinct));
  return keys;
}

void expect_alike(const session& at, const index& one, const index& other) {
  const index_info& a = one.info();
  const index_info& b = other.info();
  EXPECT_EQ(a.structure, b.structure);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(to_string(a.key), to_string(b.key));
  EXPECT_EQ(a.row_ids, b.row_ids);
  EXPECT_EQ(a.n, b.n);
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.max_row_id, b.max_row_id);
  ASSERT_EQ(answers(at, one), answers(at, other));
}

class index_file : public backend_test {
 protected:
  std::unique_ptr<index> loaded(const bytes& from, bool verify) const {
    return from_bytes(tested_backend(), at(), from, {.verify = verify}).held;
  }

  template <class Key>
  std::unique_ptr<index> built(const subject& of, std::size_t size, std::uint64_t distinct,
                               const std::optional<column>& rows = std::nullopt) const {
    std::vector<Key> keys = keys_of<Key>(size, distinct);
    const auto layout = of.options.find("layout");
    if (layout != of.options.end() && layout->second == "keys") std::ranges::sort(keys);
    return build(of.structure, tested_backend(), at(), column(at().upload(keys)), rows, of.options);
  }

  template <class Key>
  void check_kept(const subject& of) const {
    const std::vector<std::size_t> few{0, 90};
    const std::vector<std::size_t> all{0, 1, 7, 300, 5000};
    for (const std::size_t size : tested_by_emulation() ? few : all) {
      for (const std::uint64_t distinct : {std::uint64_t{1}, 3 * size + 1}) {
        SCOPED_TRACE(std::to_string(size) + " of " + std::to_string(distinct));
        const auto own = built<Key>(of, size, distinct);
        for (int waves = 0; waves < 2; ++waves) {
          const bytes file = to_bytes(at(), *own);
          for (const bool verify : {true, false}) {
            const auto other = loaded(file, verify);
            expect_alike(at(), *own, *other);
            if (!insert_and_erase<Key>(at(), *other)) continue;
            const auto again = loaded(to_bytes(at(), *other), !verify);
            expect_alike(at(), *other, *again);
          }
          if (!insert_and_erase<Key>(at(), *own)) break;
        }
      }
    }
  }
};

TEST_F(index_file, keeps_all_structures) {
  bool wide = false;
  for (const subject& of : subjects(tested_backend())) {
    std::string name = of.structure;
    for (const auto& [option, value] : of.options)
      name += " " + option + "=" + value;
    if (tested_by_emulation() && !is_drawn(name)) continue;
    SCOPED_TRACE(name);
    if (of.options.empty()) {
      check_kept<std::uint32_t>(of);
      check_kept<std::uint64_t>(of);
    } else {
      wide = !wide;
      wide ? check_kept<std::uint64_t>(of) : check_kept<std::uint32_t>(of);
    }
    if (HasFatalFailure()) return;
  }
}

// What is saved here answers alike on a CPU, before and after edits, and back here.
TEST_F(index_file, one_file_is_for_all_backends) {
  const session host(backend::cpu);
  const bool is_cpu = tested_backend() == backend::cpu;
  for (const subject& of : subjects(tested_backend())) {
    if (!of.options.empty() && !is_cpu && of.options.size() > 1) continue;
    SCOPED_TRACE(of.structure);
    const auto own = built<std::uint64_t>(of, 3000, 2900);
    for (const bool verify : {true, false}) {
      const auto there =
          from_bytes(backend::cpu, host, to_bytes(at(), *own), {.verify = verify}).held;
      ASSERT_EQ(answers(at(), *own), answers(host, *there));
      insert_and_erase<std::uint64_t>(host, *there);
      const auto back = loaded(to_bytes(host, *there), verify);
      ASSERT_EQ(answers(host, *there), answers(at(), *back));
    }
  }
}

TEST_F(index_file, keeps_row_ids_of_64_bits_and_a_note) {
  for (const char* const structure : {"pivot_tree", "hash_open"}) {
    const auto rows = at().upload(std::vector<std::uint64_t>{std::uint64_t{1} << 40, 7, 9});
    const auto keys = at().upload(std::vector<std::uint32_t>{21, 7, 21});
    const auto own = build(structure, tested_backend(), at(), column(keys), column(rows));
    const auto other =
        from_bytes(tested_backend(), at(), to_bytes(at(), *own, std::string_view("a\0b", 3)));
    EXPECT_EQ(other.note, std::string("a\0b", 3));
    EXPECT_EQ(other.held->info().row_ids, row_id_type::uint64);
    expect_alike(at(), *own, *other.held);
  }
}

TEST_F(index_file, keeps_each_type_of_keys) {
  const auto check = [&]<class Key>(const std::vector<Key>& keys) {
    const auto cells = at().upload(keys);
    const auto own = build("pivot_tree", tested_backend(), at(), column(cells));
    const auto other = loaded(to_bytes(at(), *own), true);
    EXPECT_EQ(to_string(own->info().key), to_string(other->info().key));
    buffer<std::uint64_t> counts(at(), keys.size());
    other->count(at(), points(column(cells)), counts);
    EXPECT_EQ(at().download(counts), std::vector<std::uint64_t>(keys.size(), 1));
  };
  check(std::vector<std::int32_t>{-1, 0, 5});
  check(std::vector<std::int64_t>{-1, 0, 5});
  check(std::vector<float>{-1.5F, 0, 5});
  check(std::vector<double>{-1.5, 0, 5});
  check(std::vector<std::array<char, 1>>{{'b'}, {'a'}});
  check(std::vector<std::array<char, 3>>{{'b', 'c'}, {'a'}});
  check(std::vector<std::array<char, 8>>{{'b', 'c'}, {'a'}});
}

TEST_F(index_file, refuses_changed_bits) {
  for (const subject& of : subjects(tested_backend())) {
    if (!of.options.empty()) continue;
    SCOPED_TRACE(of.structure);
    const auto own = built<std::uint32_t>(of, 600, 300);
    expect_changed_bits_refused(
        to_bytes(at(), *own), tested_by_emulation() ? 50 : 1500,
        [&](const bytes& file) { return answers(at(), *loaded(file, true), 300); });
  }
}

TEST_F(index_file, refuses_what_is_cut_off_or_appended_to) {
  const auto own = built<std::uint32_t>({"pivot_tree", {}}, 600, 300);
  expect_cut_files_refused(to_bytes(at(), *own),
                           [&](const bytes& file, bool verify) { loaded(file, verify); });
}

TEST_F(index_file, says_what_a_file_is_not) {
  const auto own = built<std::uint32_t>({"pivot_tree", {}}, 600, 300);
  const bytes file = to_bytes(at(), *own);
  const auto refused = [&](std::size_t place, std::vector<std::string> words) {
    bytes changed = file;
    changed[place] ^= std::byte{0x40};
    expect_error<invalid_argument>([&] { loaded(changed, true); }, words);
  };
  refused(0, {"header: it is no index file"});
  refused(8, {"header", "order of bytes"});
  refused(12, {"header", "version 65", "reads 1"});
  refused(30, {"header: its checksum"});
  refused(256, {"section 'entries': its checksum"});
  refused(file.size() - 1, {"directory: its checksum"});
}

// Files with right checksums and wrong contents: no read or write is out of bounds, which the
// sanitizers see.
TEST_F(index_file, survives_files_that_were_made_to_do_harm) {
  auto random = generator(47);
  constexpr std::uint64_t odd[] = {
      0, 1, 2, 7, 0x7fff'ffff, 0xffff'ffff, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  for (const subject& of : subjects(tested_backend())) {
    SCOPED_TRACE(of.structure);
    const auto own = built<std::uint32_t>(of, 700, below(random, 2) == 0 ? 300 : 2000);
    const bytes file = to_bytes(at(), *own);
    const file_parts whole(file);  // says where things are, whatever was changed
    for (int i = 0; i < (tested_by_emulation() ? 10 : 150); ++i) {
      file_parts parts(file);
      const auto value = [&] { return below(random, 2) == 0 ? odd[below(random, 8)] : random(); };
      for (std::uint64_t changes = 1 + below(random, 3); changes > 0; --changes) {
        const auto& sections = parts.sections();
        const std::uint64_t what = below(random, 8);
        if (what == 0) {  // a number
          if (parts.numbers().empty()) continue;
          parts.put(parts.numbers()[below(random, parts.numbers().size())], value());
        } else if (what == 1) {  // how many entries there are, or where a section is
          const std::uint64_t section = sections[below(random, sections.size())];
          parts.put(section + 8 * below(random, 2), value());
        } else {
          const std::uint64_t section = sections[below(random, sections.size())];
          const std::uint64_t size = whole.number(section + 8);
          if (size < 8) continue;
          const auto word = [&] { return whole.number(section) + below(random, size / 4 - 1) * 4; };
          const std::uint64_t place = word();
          if (what < 5) {
            parts.put(place, value());
          } else {  // another one of the section, as of rows in another order
            const std::uint64_t other = word();
            const std::uint64_t number = parts.number(place);
            parts.put(place, parts.number(other));
            parts.put(other, number);
          }
        }
      }
      try {
        const auto other = loaded(parts.summed(), true);
        answers(at(), *other);
        insert_and_erase<std::uint32_t>(at(), *other);
        answers(at(), *other);
      } catch (const error&) {  // refused
      }
    }
  }
}

TEST_F(index_file, refuses_what_keeps_no_keys) {
  for (const capability& can : capabilities()) {
    if (can.where != tested_backend() || can.structure != "rx") continue;
    const auto own = built<std::uint32_t>({"rx", {{"primitives", "rows"}}}, 10, 10);
    expect_error<unsupported>([&] { to_bytes(at(), *own); },
                              {"primitives=rows", "keep the column"});
  }
}

}  // namespace
}  // namespace raydex::test
